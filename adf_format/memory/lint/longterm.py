"""`MEMORY.md`, the active context and channel files (MEM-020 to MEM-043)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from adf_format.memory.lint.document import Document
from adf_format.memory.lint.examples import CONTEXT, note, workspace
from adf_format.memory.paths import ACTIVE, CHANNELS, MEMORY
from adf_format.validation.rule import Severity, rule

MEMORY_CHARS, MEMORY_LINES, CHANNEL_CHARS = 10_000, 180, 6_000
CHAT_LINES = 5
COMPLETED_DAYS = 7
STALE_DAYS = 3
_HEADINGS = ("In Progress", "Blocked / Waiting", "Recently Completed")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_COMPLETED = re.compile(r"\((\d{4}-\d{2}-\d{2})\)")
_DIALOGUE = re.compile(r"\s*(?:[-*+][ \t]+)?\**(?:User|Human|Assistant|Candidate|AI)\**:\**(?:\s|$)")
_CHAT = re.compile(r"\s*(?:[-*+][ \t]+)?(?:<[^<>\s]{1,40}>:?\s|\[?\d{1,2}:\d{2}(?::\d{2})?\]?\s+\S)")
_TOPIC = "# Long-Term Memory\n\n## Key Decisions\n\n"

HEADINGS = rule(
    "ADF910",
    "context-headings",
    Severity.WARNING,
    what="The active context has the sections In Progress, Blocked / Waiting and Recently Completed.",
    why="Sessions look for these; what stands elsewhere is taken for something else.",
    source=("MEM-020",),
    fires=workspace((ACTIVE, CONTEXT.replace("## Blocked / Waiting", "## Blocked"))),
    silent=workspace((ACTIVE, CONTEXT + "\n## Ideas\n\n- a pond\n")),
    fix="add the missing heading",
)
OLD = rule(
    "ADF911",
    "completed-old",
    Severity.WARNING,
    what=f"What was completed leaves the active context after {COMPLETED_DAYS} days.",
    why="Every session reads it again and again.",
    source=("MEM-022",),
    fires=workspace((ACTIVE, CONTEXT + "\n- **Beds**: dug (2026-03-20)\n")),
    silent=workspace((ACTIVE, CONTEXT + "\n- **Beds**: dug (2026-04-09)\n")),
    fix="move what is worth keeping into a daily note or MEMORY.md, and delete the item",
)
STALE = rule(
    "ADF909",
    "context-stale",
    Severity.WARNING,
    what=f"The active context is not {STALE_DAYS} days older than the notes.",
    why="Work went on, and the next session is told of what was.",
    source=("MEM-024",),
    fires=workspace(
        (ACTIVE, CONTEXT + "\n<!-- changed 2026-04-05 -->\n"),
        note("## Tasks\n\n- weed\n", "2026-04-09"),
        note("## Tasks\n\n- sow\n"),
    ),
    silent=workspace((ACTIVE, CONTEXT + "\n<!-- changed 2026-04-05 -->\n"), note("", "2026-04-09")),
    fix="bring it up to date",
)
SIZE = rule(
    "ADF912",
    "memory-size",
    Severity.WARNING,
    what=f"MEMORY.md has at most {MEMORY_CHARS:,} characters and {MEMORY_LINES} lines.",
    why="Hosts cut what they load; the end is lost without a word.",
    source=("MEM-034",),
    fires=workspace((MEMORY, _TOPIC + "- a decision that was taken for reasons\n" * 300)),
    silent=workspace((MEMORY, _TOPIC + "\n".join(f"- decision {one}" for one in range(100)))),
    fix="condense it: what is not used moves to a topic file or goes",
)
BY_DATE = rule(
    "ADF913",
    "memory-by-date",
    Severity.WARNING,
    what="MEMORY.md is grouped by subject, not by date.",
    why="Nobody looks for a lesson under the day it was learned on.",
    source=("MEM-031",),
    fires=workspace((MEMORY, "# Long-Term Memory\n\n## 2026-03-01\n\n- dug the beds\n")),
    silent=workspace((MEMORY, _TOPIC + "- Beds face south (2026-03-01)\n")),
    fix="sort the entries under the subjects they are about",
)
RAW = rule(
    "ADF914",
    "memory-raw",
    Severity.WARNING,
    what="MEMORY.md holds no pasted dialogue.",
    why="It is to be what was learned, not what was said.",
    source=("MEM-032",),
    fires=workspace((MEMORY, _TOPIC + "User: shall we dig?\nAssistant: let us.\n")),
    silent=workspace((MEMORY, _TOPIC + '- Grace says "dig before May"\n')),
    fix="keep the conclusion, delete the dialogue",
)
DUPLICATE = rule(
    "ADF915",
    "memory-duplicate",
    Severity.WARNING,
    what="MEMORY.md holds each entry once.",
    why="Doubled entries cost tokens, and one of them will be forgotten at the next change.",
    source=("MEM-032",),
    fires=workspace((MEMORY, _TOPIC + "- Beds face south\n-   beds  face south\n")),
    silent=workspace((MEMORY, _TOPIC + "- **Beds**: face south\n- **Beds**: are raised\n")),
    fix="delete one of them",
)
CLASH = rule(
    "ADF923",
    "channel-clash",
    Severity.ERROR,
    what="No two channels have file names that differ in case alone.",
    why="On most machines they are one file, and one overwrites the other.",
    source=("MEM-042",),
    fires=workspace((f"{CHANNELS}/Garden.md", "# Garden\n"), (f"{CHANNELS}/garden.md", "# garden\n")),
    silent=workspace((f"{CHANNELS}/bed1.md", "# bed1\n"), (f"{CHANNELS}/bed2.md", "# bed2\n")),
)
TRANSCRIPT = rule(
    "ADF924",
    "channel-transcript",
    Severity.WARNING,
    what=f"A channel file is a summary of at most {CHANNEL_CHARS:,} characters, no chat log.",
    why="It is loaded whenever the channel speaks.",
    source=("MEM-041",),
    fires=workspace((f"{CHANNELS}/garden.md", "# garden\n\n" + "12:01 grace: hello\n" * 8)),
    silent=workspace((f"{CHANNELS}/garden.md", "# garden\n\n## Unresolved\n\n" + "- which bed\n" * 8)),
    fix="keep what is unresolved and what was decided",
)
RULES = (STALE, HEADINGS, OLD, SIZE, BY_DATE, RAW, DUPLICATE, CLASH, TRANSCRIPT)


def check_context(document: Document, today: date, filled: Sequence[date]) -> None:
    """Look at the active context; `filled` are the days whose notes say something."""
    if not document.text.strip():
        return
    titles = {heading.title.casefold() for heading in document.outline.headings if heading.level == 2}
    for wanted in _HEADINGS:
        if wanted.casefold() not in titles:
            document.report(HEADINGS, f"the section {wanted} is missing")
    completed = document.outline.find(_HEADINGS[2])
    for number, text in document.bullets(document.section(completed)) if completed else ():
        day = _day(text)
        if day is not None and (today - day).days > COMPLETED_DAYS:
            document.report(OLD, f"completed {(today - day).days} days ago", number)
    _check_stale(document, today, filled)


def _check_stale(document: Document, today: date, filled: Sequence[date]) -> None:
    if document.changed is None:
        return
    changed = document.changed.date()
    newer = [day for day in filled if changed < day <= today + timedelta(days=1)]
    if newer and (today - changed).days > STALE_DAYS:
        text = f"changed {(today - changed).days} days ago, by its time of change; newer notes: {len(newer)}"
        document.report(STALE, text)


def _day(text: str) -> date | None:
    found = _COMPLETED.findall(text)
    try:
        return date.fromisoformat(found[-1]) if found else None
    except ValueError:
        return None


def check_memory(document: Document) -> None:
    """Look at `MEMORY.md`."""
    if len(document.text) > MEMORY_CHARS or document.count > MEMORY_LINES:
        document.report(SIZE, f"{len(document.text):,} characters in {document.count:,} lines")
    for heading in document.outline.headings:
        if heading.level in (2, 3) and _DATE.fullmatch(heading.title):
            document.report(BY_DATE, f"{heading.title} is a date", heading.line + 1)
    for number, text in document.lines:
        if _DIALOGUE.match(text):
            document.report(RAW, "it looks like pasted dialogue", number)
    seen: dict[str, int] = {}
    for number, text in document.bullets():
        first = seen.setdefault(" ".join(text.split()).casefold(), number)
        if first != number:
            document.report(DUPLICATE, f"the same as line {first}", number)


def check_channel(document: Document) -> None:
    """Look at the file of a channel."""
    chat = [number for number, text in document.lines if _CHAT.match(text)]
    if len(chat) > CHAT_LINES:
        document.report(TRANSCRIPT, f"{len(chat)} lines look like chat", chat[0])
    elif len(document.text) > CHANNEL_CHARS:
        document.report(TRANSCRIPT, f"{len(document.text):,} characters")


def check_names(documents: Iterable[Document]) -> None:
    """Look for channels whose files would be one elsewhere."""
    seen: dict[str, Document] = {}
    for document in documents:
        first = seen.setdefault(document.path.casefold(), document)
        if first is not document:
            document.report(CLASH, f"{first.path} differs in case alone")

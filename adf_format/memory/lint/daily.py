"""Daily notes (MEM-010 to MEM-016)."""

from __future__ import annotations

import re
from datetime import date, timedelta

from adf_format.memory.lint.document import Document
from adf_format.memory.lint.examples import note, workspace
from adf_format.validation.rule import Severity, rule

SECTIONS = ("tasks", "decisions", "learned", "blockers")
_LIKE_A_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})(.*)\.md")

NAME = rule(
    "ADF903",
    "daily-name",
    Severity.ERROR,
    what="The name of a daily note is a date of the calendar.",
    why="No session loads a note of a day that does not exist.",
    source=("MEM-010",),
    fires=workspace(("memory/2026-02-30.md", "# 2026-02-30\n")),
    silent=workspace(("memory/2024-02-29.md", "# 2024-02-29\n")),
    fix="give it the name of the day it was written on",
)
TITLE = rule(
    "ADF904",
    "daily-title",
    Severity.WARNING,
    what="A daily note begins with its date.",
    why="Title and name disagree: one of them is of another day.",
    source=("MEM-011",),
    fires=workspace(("memory/2026-04-09.md", "# 2026-04-08\n\n## Tasks\n\n- weed\n")),
    silent=workspace(note("## Tasks\n\n- weed\n", "2026-04-09")),
)
FUTURE = rule(
    "ADF905",
    "daily-future",
    Severity.ERROR,
    what="No daily note is of a day to come (a day's grace for zones).",
    why="The date was guessed: the note will be missed today, and surprise somebody then.",
    source=("MEM-016",),
    fires=workspace(note("- weed\n", "2026-05-10")),
    silent=workspace(note("- weed\n", "2026-04-11")),
)
SECTION = rule(
    "ADF906",
    "daily-section",
    Severity.INFO,
    what="The sections of a daily note are Tasks, Decisions, Learned and Blockers.",
    why="A distillation looks for these.",
    source=("MEM-012",),
    fires=workspace(note("## Mood\n\n- sunny\n")),
    silent=workspace(note("## Tasks\n\n- weed\n\n## Learned\n\n- nettles\n")),
)
VARIANT = rule(
    "ADF908",
    "daily-variant",
    Severity.INFO,
    what="There is one note a day, named by its date alone.",
    why="Not every host loads notes with more in their name.",
    source=("MEM D10",),
    fires=workspace(("memory/2026-04-09-garden.md", "# 2026-04-09\n\n- weed\n")),
    silent=workspace(note("- weed\n", "2026-04-09")),
)
RULES = (NAME, TITLE, FUTURE, SECTION, VARIANT)


def check(document: Document, today: date) -> None:
    """Look at one file directly below `memory/`."""
    named = _LIKE_A_DAY.fullmatch(document.path.rpartition("/")[2])
    if named is None:
        return
    try:
        day = date.fromisoformat(named[1])
    except ValueError:
        document.report(NAME, f"{named[1]} is no day of the calendar")
        return
    if day > today + timedelta(days=1):
        document.report(FUTURE, f"it is {(day - today).days} days ahead")
    if named[2]:
        document.report(VARIANT, "its name holds more than the date")
    _check_title(document, day)
    for heading in document.outline.headings:
        if heading.level == 2 and heading.title.casefold() not in SECTIONS:
            document.report(SECTION, f"another section: {heading.title[:60]!a}", heading.line + 1)


def _check_title(document: Document, day: date) -> None:
    first = next(iter(document.outline.headings), None)
    if first is None:
        if document.text.strip():
            document.report(TITLE, "it has no title", 1)
    elif first.level != 1 or first.title != day.isoformat():
        document.report(TITLE, f"its first heading is {first.title[:60]!a}", first.line + 1)

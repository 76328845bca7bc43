"""Lines of the transcript that the mind cites (MEM-155, MEM-160 to MEM-163, MEM-167)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from adf_format import rows
from adf_format.config.auditing import audit_policy
from adf_format.memory.frontmatter import Frontmatter
from adf_format.memory.lint.document import Document
from adf_format.memory.lint.examples import lesson, page
from adf_format.validation.context import Context
from adf_format.validation.rule import Severity, rule

MOST = 10_000  # different lines that are looked up
_INLINE = re.compile(r"\[S(\d{1,18})\]")
_SOURCE = re.compile(r"adf-audit://seq/(\d{1,18})")
_AUDIT_OFF = (
    "UPDATE adf_config SET config_json = json_set(config_json, '$.audit.loop', json('false'),"
    " '$.context.audit.loop', json('false'))"
)

NEVER = rule(
    "ADF944",
    "citation-unresolved",
    Severity.ERROR,
    what="A cited line of the transcript was once written.",
    why="The number was made up or mistyped: what it is to prove is unproven.",
    source=("MEM-163",),
    since=28,
    fires=page(lesson(body="Water early [S999].")),
    silent=page(lesson(body="Water early [S3].")),
)
LOST = rule(
    "ADF955",
    "citation-lost",
    Severity.WARNING,
    what="A cited line of the transcript is live or within a snapshot.",
    why="The source is gone, and what it proved has to be believed.",
    source=("MEM-163",),
    since=28,
    fires=f"{page(lesson(body='Water early [S12].'))}; DELETE FROM adf_loop WHERE seq = 12",
    silent=page(lesson(body="Water early [S12].")),
)
OWN = rule(
    "ADF945",
    "cite-own-context",
    Severity.WARNING,
    what="What is cited was said by somebody: no row that the runtime put in.",
    why="The agent cites its own prompt as a source.",
    source=("MEM-155",),
    since=28,
    fires=page(lesson(body="Water early [S14].")),
    silent=page(lesson(body="Water early [S10].")),
)
OFF = rule(
    "ADF953",
    "citations-without-audit",
    Severity.WARNING,
    what="Where the mind cites the transcript, transcripts are archived.",
    why="The next compaction deletes what is cited.",
    source=("MEM-167",),
    since=28,
    fires=f"{page(lesson(body='Water early [S10].'))}; {_AUDIT_OFF}",
    silent=f"{page(lesson())}; {_AUDIT_OFF}",
    fix="switch audit.loop on",
)
RULES = (NEVER, OWN, OFF, LOST)


def check(context: Context, documents: list[Document]) -> None:
    """Look up everything that is cited."""
    cited = [(document, line, seq) for document in documents for line, seq in _cited(document)]
    if not cited:
        return
    if not audit_policy(context.config)["loop"]:
        document, line, _ = cited[0]
        document.report(OFF, "it cites the transcript, which is not archived", line)
    known: dict[int, str] = {}
    for document, line, seq in cited:
        if seq not in known and len(known) >= MOST:
            context.not_checked("some citations of the mind", f"more than {MOST:,} lines are cited")
            return
        if seq not in known:
            known[seq] = _state(context, seq)
        state = known[seq]
        if state in _TOLD:
            broken, said = _TOLD[state]
            document.report(broken, f"S{seq} {said}", line)


_TOLD = {
    "never": (NEVER, "was never written"),
    "lost": (LOST, "is neither live nor in a snapshot"),
    "context": (OWN, "is a row that the runtime put in"),
}


def _state(context: Context, seq: int) -> str:
    connection = context.container.connection
    key = rows.rowid_of(connection, "adf_loop")
    query = f"SELECT substr(content_json, 1, 200), {key} FROM adf_loop WHERE seq = ?"
    found = connection.execute(query, (seq,)).fetchone()
    if found is not None:
        return "context" if isinstance(found[0], str) and '"[Context: ' in found[0] else "live"
    query = (
        "SELECT 1 FROM adf_audit WHERE (source = 'loop' OR source GLOB 'loop:*')"
        " AND (start_seq IS NULL OR ? BETWEEN start_seq AND end_seq) LIMIT 1"
    )
    if context.has("adf_audit", "source", "start_seq", "end_seq") and connection.execute(query, (seq,)).fetchone():
        return "archived"
    return "never" if seq > _mark(context) or seq < 1 else "lost"


def _mark(context: Context) -> int:
    from adf_format.validation.rules.transcript.sequence import high_water_mark

    return high_water_mark(context) or 0


def _cited(document: Document) -> Iterator[tuple[int, int]]:
    for number, text in document.lines:
        yield from ((number, int(found[1])) for found in _INLINE.finditer(text))
    front = document.facts.get("frontmatter")
    listed = front.values.get("sources") if isinstance(front, Frontmatter) else None
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, str) and (found := _SOURCE.fullmatch(one)):
            yield front.lines.get("sources", 1) if front else 1, int(found[1])

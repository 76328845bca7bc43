"""`mind/log.md`: the history of the mind, newest first (MEM-140, MEM-141)."""

from __future__ import annotations

import re
from datetime import date

from adf_format.memory.lint.document import Document
from adf_format.memory.lint.examples import put
from adf_format.validation.rule import Severity, rule

_ENTRY = re.compile(r"\[(\d{4}-\d{2}-\d{2})\] (ingest|update|lint) \| (\S.*)")

ENTRY = rule(
    "ADF948",
    "log-entry",
    Severity.ERROR,
    what="An entry of the log is `## [YYYY-MM-DD] ingest, update or lint | title`.",
    why="Tools find what changed and when by this form.",
    source=("MEM-140",),
    since=28,
    fires=put("mind/log.md", "# Mind Log\n\n## [2026-01-01] change | beds\n\nmoved\n", "no_delete"),
    silent=put("mind/log.md", "# Mind Log\n\n## [2026-01-01] lint | upkeep\n\nnothing to do\n", "no_delete"),
)
ORDER = rule(
    "ADF949",
    "log-order",
    Severity.WARNING,
    what="The newest entry of the log stands first.",
    why="A session reads the top; an entry at the end is not seen.",
    source=("MEM-141",),
    since=28,
    fires=put("mind/log.md", "# Mind Log\n\n## [2026-01-01] lint | a\n\n## [2026-01-02] lint | b\n", "no_delete"),
    silent=put("mind/log.md", "# Mind Log\n\n## [2026-01-02] lint | a\n\n## [2026-01-02] lint | b\n", "no_delete"),
    fix="move the newer entry above the older ones",
)
RULES = (ENTRY, ORDER)


def check(log: Document) -> None:
    """Look at every entry."""
    last: date | None = None
    for heading in log.outline.headings:
        if heading.level != 2:
            continue
        found = _ENTRY.fullmatch(heading.title)
        day = _day(found[1]) if found else None
        if day is None:
            log.report(ENTRY, f"{heading.title[:80]!a} is no entry", heading.line + 1)
            continue
        if last is not None and day > last:
            log.report(ORDER, f"{day.isoformat()} stands below {last.isoformat()}", heading.line + 1)
        last = day


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None

"""Hand-made rules and reports: formats are tested without an engine."""

from __future__ import annotations

import io

from adf_format.terminal import Screen
from adf_format.validation.findings import Finding
from adf_format.validation.formats import Run, format_class
from adf_format.validation.report import FileReport, Stats
from adf_format.validation.rule import Example, Rule, Severity

HOSTILE = "a\x1b[2J\u202eb\n::error::c%0A]]><\ud83d\ufffe&"


def made_rule(rule_id: str, name: str, severity: Severity, fix: str | None = None) -> Rule:
    return Rule(rule_id, name, severity, "What.", "Why.", ("AUD-011",), Example("x"), Example(), fix=fix)


RULES = {
    one.id: one
    for one in (
        made_rule("ADF312", "json-shape", Severity.WARNING),
        made_rule("ADF501", "snapshot-not-brotli", Severity.ERROR, "restore the row"),
        made_rule("ADF801", "hostile-text", Severity.INFO),
    )
}

ERROR = Finding(
    "ADF501",
    Severity.ERROR,
    "the blob is not brotli",
    "adf_audit",
    3,
    "data",
    fix="restore the row",
    count=7,
    examples=[{"rowid": row} for row in (3, 4, 7, 9, 12)],
)
WARNING = Finding("ADF312", Severity.WARNING, "too long", "adf_loop", 2, "content_json", "/0/text")
NASTY = Finding("ADF801", Severity.INFO, HOSTILE, HOSTILE, 1, HOSTILE, "/" + HOSTILE, HOSTILE)

CLEAN = FileReport("clean.adf", 32)
BROKEN = FileReport(
    "broken.adf",
    32,
    [ERROR, WARNING],
    Stats(not_checked=[{"what": "coverage", "why": "only with --deep"}]),
    left_out={"ADF312": 12},
)
UNREADABLE = FileReport("empty.adf", error="empty.adf: the file is empty")
HOSTILE_FILE = FileReport(HOSTILE, 32, [NASTY], Stats(not_checked=[{"what": HOSTILE, "why": HOSTILE}]))
ALL = (CLEAN, BROKEN, UNREADABLE, HOSTILE_FILE)


def rendered(
    name: str, *reports: FileReport, fail_on: Severity | None = Severity.ERROR, width: int | None = None, **run: bool
) -> str:
    out = io.StringIO()
    writer = format_class(name)(out.write, Screen(width=width), Run(RULES, frozenset(RULES), fail_on, **run))
    writer.begin()
    for report in reports:
        writer.add(report)
    writer.end()
    return out.getvalue()

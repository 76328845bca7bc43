"""What the validator says, each finding with the way to its row."""

from __future__ import annotations

from typing import Any

from adf_format.validation.findings import Finding
from adf_format.validation.rule import Severity
from adf_format.view.context import View
from adf_format.view.html import Safe, el, html
from adf_format.view.links import here
from adf_format.view.pieces import icon, notice
from adf_format.view.words import counted

SHOWN = 60


def verdict(view: View) -> Safe:
    """Return the result in one line."""
    report = view.report
    if report.error is not None:
        return html("could not be validated: ", report.error)
    levels = [(level, report.count(level)) for level in reversed(Severity)]
    words = ", ".join(counted(count, str(level)) for level, count in levels if count)
    return html("valid" if report.valid else "not valid", f", with {words}" if words else ", nothing to report")


def section(view: View) -> Safe:
    """Return the findings, the worst first."""
    findings = view.report.findings
    if view.report.error is not None:
        return notice(icon("alert"), "The file could not be validated: ", view.report.error, class_="problem")
    if not findings:
        return notice("The validator has nothing to report.", class_="good")
    more = sum(one.count for one in findings[SHOWN:])
    rest = notice(f"{counted(more, 'more finding')} not shown; `adf-format validate` lists them.") if more else None
    return html(el("ul", [_finding(view, one) for one in findings[:SHOWN]], class_="findings"), rest)


def _finding(view: View, one: Finding) -> Safe:
    level = str(one.severity)
    rule = el("code", one.rule, class_="rule")
    many = el("span", f"{one.count:,} places", class_="tag") if one.count > 1 else None
    place = el("span", _place(view, one), class_="place")
    return el("li", el("span", level, class_=f"level {level}"), rule, el("span", one.message), place, many)


def _place(view: View, one: Finding) -> Safe:
    address = _address(view, one.table, one.rowid)
    words: Any = one.place()
    return el("a", words, href=address) if address else html(words)


def _address(view: View, table: str | None, rowid: int | None) -> Any:
    if rowid is None:
        return None
    if table == "adf_loop":
        return view.targets.seq(rowid)
    if table == "adf_audit" and not view.targets.index and _is_fold(view, rowid):
        return here(f"fold-{rowid}")
    places = {"adf_config": "config", "adf_timers": f"timer-{rowid}", "adf_tasks": "tasks", "adf_logs": "log"}
    places |= {"adf_inbox": "messages", "adf_outbox": "messages", "adf_files": "files"}
    return here(places[table], view.targets.index) if table in places else None


def _is_fold(view: View, rowid: int) -> bool:
    checked = view.known.survey.checked.get(rowid)
    loop = checked.row.loop if checked is not None else None
    found = view.index.loops.get(loop) if loop is not None else None
    return found is not None and checked is not None and any(bool(checked.seqs & page) for page in found.pages)

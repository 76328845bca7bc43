"""Validate one file: open it, run every pass and every table scan, collect findings.

A damaged page, a limit or a fault in one check never hides what the others find: it is reported, and what was not
checked is named.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache, partial
from pathlib import Path

import apsw

from adf_format import rows, structure
from adf_format.container import Container, Limits, open_readonly, translate
from adf_format.container.version import stored_version
from adf_format.errors import AdfError
from adf_format.schemas import LATEST, OLDEST, storage_version
from adf_format.validation import scan
from adf_format.validation.conclusions import conclude
from adf_format.validation.context import Context, Depth, Pass, Visit
from adf_format.validation.faults import guarded
from adf_format.validation.findings import Collector
from adf_format.validation.report import FileReport, Stats
from adf_format.validation.rule import MODULES, Severity, all_rules

__all__ = ["FIRST", "Options", "stored_version", "validate_file"]

FIRST = 1  # a file that claims to be older than the first version escapes no rule


@dataclass(frozen=True)
class Options:
    """What to check and how severe each rule counts.

    :ivar wanted: ids of the rules asked for, None for all
    :ivar deadline: seconds for one file, None for no limit
    :ivar today: the day it is, for what goes out of date; None for that of the clock, in UTC
    """

    depth: Depth = Depth.DEFAULT
    wanted: frozenset[str] | None = None
    severities: Mapping[str, Severity] = field(default_factory=dict)
    deadline: float | None = 300.0
    today: date | None = None


def validate_file(path: str | Path, options: Options = Options()) -> FileReport:
    """Validate one file. Never raises for anything the file holds: see `FileReport.error`.

    A file that another process wrote to meanwhile is read once more, from a private copy.
    """
    report, changed = _attempt(path, options, private=False)
    if changed:
        report, _ = _attempt(path, options, private=True)
    return report


def _attempt(path: str | Path, options: Options, *, private: bool) -> tuple[FileReport, bool]:
    """Validate once; also say whether another process wrote to the file while it was read in place."""
    report = FileReport(str(path), stats=Stats(depth=options.depth.name.lower()))
    changed = False
    try:
        with open_readonly(path, Limits(deadline_s=options.deadline), private=private) as container:
            try:
                _validate(container, options, report)
            finally:
                changed = container.source.mode == "immutable" and container.changed()
    except AdfError as error:
        report.error = str(error)
    except (apsw.Error, UnicodeDecodeError) as error:
        report.error = str(translate(error, Path(path)))
    return report, changed


def _validate(container: Container, options: Options, report: FileReport) -> None:
    report.stats.source = container.source.mode
    report.stats.wal_frames = container.source.wal_frames
    stored = stored_version(container.connection)
    report.schema_version = stored
    nearest = min(max(LATEST if stored is None else stored, OLDEST), LATEST)
    collector = Collector(options.wanted, options.severities, nearest if stored is None else max(stored, FIRST))
    found = structure.read(container.connection)
    rows.know_rowids(container.connection, found.rowids)
    context = Context(
        container=container,
        structure=found,
        stored=stored,
        version=storage_version(nearest),
        collector=collector,
        stats=report.stats,
        depth=options.depth,
    )
    if options.today is not None:
        context.today = options.today
    try:
        run(context)
    finally:
        report.findings = collector.findings()
        report.left_out = collector.left_out
    _raise_faults(context)


def _raise_faults(context: Context) -> None:
    """Raise what keeps the report from being the whole truth: an internal error, or a deadline that has passed."""
    if context.faults:
        more = len(context.faults) - 1
        text = context.faults[0] + (f", and {more} more" if more else "")
        hint = "please report it with the file, if you can share it"
        raise AdfError(text, file=context.container.source.path, hint=hint)
    context.container.check_deadline()


def run(context: Context) -> None:
    """Run every pass and every table scan that applies."""
    try:
        _run(context, choose(context))
        for what, finish, _ in context.waiting:
            guarded(context, what, finish)
    finally:
        for *_, give_up in context.waiting:
            give_up()


def _run(context: Context, chosen: Choice) -> None:
    for what, why in chosen.not_checked:
        context.not_checked(what, why)
    for one in chosen.passes:
        kept = one.structural and context.structure.kept
        guarded(context, one.name, partial(conclude, context, one) if kept else partial(one.run, context))
    for table, visits in chosen.visits.items():
        guarded(context, f"rows of {table}", partial(scan.run, context, table, visits))


@dataclass
class Choice:
    """The checks that apply to a file, and what therefore stays unchecked as `(what, why)`."""

    passes: list[Pass] = field(default_factory=list)
    visits: dict[str, list[Visit]] = field(default_factory=dict)
    not_checked: list[tuple[str, str]] = field(default_factory=list)


def choose(context: Context) -> Choice:
    """Choose the checks by rules, depth, and the tables and columns that are there."""
    key = (Choice, context.collector.version, context.collector.wanted, context.depth)
    known = context.structure.conclusions if context.structure.kept else {}
    if key not in known:
        chosen = known[key] = Choice()
        chosen.passes = [one for one in passes() if _applies(context, one, one.tables, chosen)]
        for table in context.structure.tables:
            checks = [one for one in visitors(table) if _applies(context, one, (table,), chosen)]
            if checks := [one for one in checks if _columns(context, one, chosen)]:
                chosen.visits[table] = checks
        chosen.not_checked += _rows_missing(context)
    choice: Choice = known[key]
    return choice


def _rows_missing(context: Context) -> list[tuple[str, str]]:
    """Name the tables that the format has and the file lacks."""
    missing = [table for table in context.version.tables if table not in context.structure.tables]
    wants = context.collector.wants
    return [
        (f"rows of {table}", f"the table {table} is missing")
        for table in missing
        if any(wants(rule) for one in visitors(table) for rule in one.rules)
    ]


@cache
def passes() -> tuple[Pass, ...]:
    """Return every pass, in the order of the rule families."""
    return tuple(one for module in _modules() for one in getattr(module, "PASSES", ()))


def visitors(table: str) -> tuple[Visit, ...]:
    """Return every check that rides on the scan of a table."""
    return _visits().get(table, ())


@cache
def _visits() -> dict[str, tuple[Visit, ...]]:
    found: dict[str, tuple[Visit, ...]] = {}
    for one in (one for module in _modules() for one in getattr(module, "VISITS", ())):
        found[one.table] = (*found.get(one.table, ()), one)
    return found


def _modules() -> list[object]:
    all_rules()
    return [importlib.import_module(name) for name in MODULES]


def _applies(context: Context, check: Pass | Visit, tables: tuple[str, ...], chosen: Choice) -> bool:
    if not any(context.collector.wants(rule) for rule in check.rules):
        return False
    if check.depth > context.depth:
        depth = "--deep" if check.depth == Depth.DEEP else "the default depth"
        chosen.not_checked.append((check.name, f"only with {depth}"))
        return False
    missing = [table for table in tables if table not in context.structure.tables]
    if missing:
        chosen.not_checked.append((check.name, f"the table {missing[0]} is missing"))
    return not missing


def _columns(context: Context, check: Visit, chosen: Choice) -> bool:
    if context.has(check.table, *check.columns):
        return True
    chosen.not_checked.append((check.name, f"{check.table} lacks a column it needs"))
    return False

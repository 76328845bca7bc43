"""`adf-format inspect`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import click

from adf_format.cli.options import Output, common
from adf_format.errors import EXIT_OK
from adf_format.inspection import inspect_file
from adf_format.inspection.transcript import first_gaps
from adf_format.schemas import LATEST
from adf_format.terminal import table, visible
from adf_format.validation.batch import Job, Resources, validate_many
from adf_format.validation.context import Depth
from adf_format.validation.engine import Options
from adf_format.validation.formats.base import counted
from adf_format.validation.report import FileReport
from adf_format.validation.rule import Severity

SCHEMA = "urn:adf-format:output:inspect:1"
SECONDS = 60.0
LABEL = 11

HELP = """Show what is in a file, on one screen: versions, identity, loops, rows, token use, audit coverage, timers,
memory, and what a quick validation finds. The file is only read.

\b
  adf-format inspect agent.adf
  adf-format inspect agent.adf --format json

Audit coverage is told by the ranges that snapshots claim, without decoding them; token use by the live rows.

Exit codes: 0 done, whatever was found; 2 wrong usage; 3 the file could not be read.
"""


@click.command(help=HELP)
@click.argument("path", metavar="FILE", type=click.Path(readable=False))
@common("human", "json")
def inspect(path: str, out: Output) -> int:
    """Collect the facts and show them."""
    facts = inspect_file(path, seconds=SECONDS)
    facts["findings"] = _findings(path)
    if out.format == "json":
        out.json({"$schema": SCHEMA, **facts})
        return EXIT_OK
    if out.screen.width is not None:
        _on_screen(facts, out)
        return EXIT_OK
    out.line(_headline(facts, out))
    for label, text in _sections(facts):
        out.line(out.screen.wrapped(f"{label:<{LABEL}}{text}" if label else f"{'':<{LABEL}}{text}", hang=LABEL))
    return EXIT_OK


def _on_screen(facts: Mapping[str, Any], out: Output) -> None:
    """Show the facts with rich, which is slow to import and only wanted where somebody looks."""
    from rich.console import Console

    from adf_format.cli import inspect_screen

    console = Console(
        file=out.stream, force_terminal=True, width=out.screen.width, markup=False, emoji=False, highlight=False,
        no_color=not out.screen.color, color_system="standard" if out.screen.color else None,
    )  # fmt: skip
    shown = ("loops", "findings")
    inspect_screen.show(console, facts, [line for name, line in _named(facts) if name not in shown])


def _findings(path: str) -> dict[str, Any]:
    job = Job(path, Options(Depth.QUICK, deadline=SECONDS))
    report: FileReport = next(iter(validate_many([job], Resources(1, SECONDS))))
    if report.error is not None:
        return {"depth": "quick", "error": report.error}
    return {"depth": "quick", **{f"{level!s}s": report.count(level) for level in reversed(Severity)}}


def _headline(facts: Mapping[str, Any], out: Output) -> str:
    who = (facts["identity"] or {}).get("name") or "an agent without a name"
    handle = (facts["identity"] or {}).get("handle")
    version = facts["schema_version"]
    known = "" if version is None or version <= LATEST else f", newer than {LATEST}, the newest known here"
    number = "unknown" if version is None else version
    name = out.screen.paint(visible(who), "bold")
    return out.screen.wrapped(
        f"{visible(facts['path'])}: {name}{f' (@{visible(handle)})' if handle else ''}, storage version {number}"
        f"{known}, ADF {visible(facts['adf_version'] or '?')}",
        hang=2,
    )


def _sections(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a label and a text per line; the label is empty on continuation lines."""
    return (line for _, line in _named(facts))


def _named(facts: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the lines of all sections, each with the name of its section."""
    yield "read", ("read", _source(facts["source"]))
    for name, lines in _LINES.items():
        value = facts[name]
        if value is None:
            continue
        for index, line in enumerate(lines(value)):
            yield name, ("" if index else name, line)
    for entry in facts["unreadable"]:
        yield "unreadable", ("UNREADABLE", visible(f"{entry['what']}: {entry['why']}"))


def _source(source: Mapping[str, Any]) -> str:
    how = "in place"
    if source["mode"] == "private-copy":
        ignored = f", {source['wal_frames_ignored']} ignored" if source["wal_frames_ignored"] else ""
        how = f"from a private copy with {counted(source['wal_frames'], 'frame')} of the log{ignored}"
    size = f"{source['size']:,} bytes, {source['page_count']:,} pages of {source['page_size']:,}"
    return f"{size}, journal mode {source['journal_mode']}; read {how}"


def _identity(facts: Mapping[str, Any]) -> Iterator[str]:
    yield visible(facts["did"] or "no DID")
    if facts["owner_did"]:
        yield f"owner {visible(facts['owner_did'])}"
    times = {"created": "created_at", "updated": "updated_at", "closed": "clean_close"}
    shown = [f"{word} {visible(facts[key])}" for word, key in times.items() if facts[key]]
    status = [f"status {visible(facts['status'])}"] if facts["status"] else []
    if shown or status:
        yield ", ".join(shown + status)


def _agent(facts: Mapping[str, Any]) -> Iterator[str]:
    model = "/".join(visible(part) for part in (facts["provider"], facts["model"]) if part) or "none set"
    autonomous = ", autonomous" if facts["autonomous"] else ""
    state = visible(facts["state"] or "unknown")
    yield f"model {model}; state {state}{autonomous}; {counted(facts['tools_enabled'], 'tool')} enabled"


def _loops(facts: list[dict[str, Any]]) -> Iterator[str]:
    rows = []
    for loop in facts[:8]:
        seqs = f"seq {loop['seqs'][0]:,} to {loop['seqs'][1]:,}" if loop["seqs"] else ""
        state = ("" if loop["enabled"] else "disabled") if loop["declared"] else "not declared"
        rows.append((visible(str(loop["name"])), counted(loop["rows"], "row"), seqs, state))
    yield from (line.rstrip() for line in table(rows))
    if len(facts) > len(rows):
        yield f"and {len(facts) - len(rows)} more"


def _tokens(facts: list[dict[str, Any]]) -> Iterator[str]:
    if not facts:
        yield "no usage recorded in live rows"
    for one in facts[:4]:
        extras = [
            f"{one[key]:,} {key.replace('_', ' ')}" for key in ("cache_read", "cache_write", "reasoning") if one[key]
        ]
        numbers = ", ".join([f"{one['input']:,} in", f"{one['output']:,} out", *extras])
        cost = f", ${one['cost_usd']:.2f}" if one["cost_usd"] else ""
        yield f"{visible(one['model'] or 'unnamed model')}: {counted(one['calls'], 'call')}, {numbers}{cost}"


def _audit(facts: Mapping[str, Any]) -> Iterator[str]:
    sources = [
        f"{visible(str(one['source']))} {one['snapshots']} ({one['entries']:,} archived)"
        for one in facts["sources"][:8]
    ]
    yield f"{counted(facts['snapshots'], 'snapshot')}{': ' if sources else ''}{', '.join(sources)}"
    coverage = facts["coverage"]
    if coverage is None:
        yield "this storage version keeps no ranges, so coverage shows only when snapshots are decoded"
    elif coverage["highest"]:
        gaps = (
            f" ({first_gaps(coverage['gaps'])}{' …' if len(coverage['gaps']) == 5 else ''})" if coverage["gaps"] else ""
        )
        told = {"live": "live", "by_ranges": "archived by ranges", "neither": "in neither"}
        parts = ", ".join(f"{coverage[key]:,} {words}" for key, words in told.items())
        yield f"seq 1 to {coverage['highest']:,}: {parts}{gaps}"


def _timers(facts: Mapping[str, Any]) -> Iterator[str]:
    yield f"{facts['count']:,}{'' if facts['next'] else ', none active'}"
    for one in facts["next"][:3]:
        marks = "".join(f", {word}" for word in ("locked",) if one.get(word))
        loop = f", loop {visible(str(one['loop']))}" if one.get("loop") else ""
        yield f"due {_time(one['next_wake_at'])}: timer {one['id']}, {visible(one['schedule'])}{loop}{marks}"


def _time(milliseconds: int) -> str:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return f"at {milliseconds} ms"


def _messages(facts: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    yield "; ".join(f"{box} {_by_status(counts)}" for box, counts in facts.items())


def _by_status(counts: Mapping[str, int]) -> str:
    if not counts:
        return "empty"
    return ", ".join(f"{count:,} {visible(status) or 'without status'}" for status, count in counts.items())


def _memory(facts: Mapping[str, Any]) -> Iterator[str]:
    sizes = [
        f"{path} {'missing' if facts[name] is None else f'{facts[name]:,} bytes'}"
        for path, name in (("mind.md", "mind"), ("soul.md", "soul"))
    ]
    yield f"{', '.join(sizes)}; {counted(facts['pages'], 'page')} in mind/ with {facts['pages_bytes']:,} bytes"


def _tables(facts: Mapping[str, int | None]) -> Iterator[str]:
    yield ", ".join(f"{visible(name)} {'unreadable' if rows is None else f'{rows:,}'}" for name, rows in facts.items())


def _verdict(facts: Mapping[str, Any]) -> Iterator[str]:
    if "error" in facts:
        yield f"could not be validated: {visible(facts['error'])}"
        return
    counts = [counted(facts[f"{level!s}s"], str(level)) for level in reversed(Severity) if facts[f"{level!s}s"]]
    yield f"{', '.join(counts) or 'none'} at a quick look (`adf-format validate` tells which, and looks deeper)"


_LINES: dict[str, Callable[[Any], Iterator[str]]] = {
    "identity": _identity,
    "agent": _agent,
    "loops": _loops,
    "tokens": _tokens,
    "audit": _audit,
    "timers": _timers,
    "messages": _messages,
    "tasks": lambda facts: iter([_by_status(facts) if facts else "none"]),
    "memory": _memory,
    "files": lambda facts: iter([f"{facts['count']:,} with {facts['bytes']:,} bytes"]),
    "tables": _tables,
    "findings": _verdict,
}

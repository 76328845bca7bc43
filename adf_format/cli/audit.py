"""`adf-format audit`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from adf_format.cli import audit_text
from adf_format.cli.export import export
from adf_format.cli.history import (
    document,
    gap_json,
    moment,
    place_json,
    reading,
    row_json,
    seq_of,
    seqs_json,
    stream,
    summary_json,
)
from adf_format.cli.options import Output, common
from adf_format.cli.transcript_text import TranscriptText
from adf_format.container import Container
from adf_format.errors import EXIT_FINDINGS, EXIT_OK
from adf_format.history import Coverage, Item, Place, Reading, Resolution, SnapshotRow, coverage, snapshots
from adf_format.history import resolve as find
from adf_format.terminal import table, visible

LS = "urn:adf-format:output:audit-ls:1"
SHOW = "urn:adf-format:output:audit-show:1"
VERIFY = "urn:adf-format:output:audit-verify:1"
RESOLVE = "urn:adf-format:output:audit-resolve:1"
BATCH = 500  # lines that are aligned together

HELP = """The archived past of an agent: compressed snapshots of every era, in the table adf_audit.

\b
  adf-format audit ls agent.adf                    all snapshots
  adf-format audit show agent.adf 1                one of them, decoded
  adf-format audit verify agent.adf                is every snapshot sound, and is any row missing?
  adf-format audit resolve agent.adf S3            where is [S3] now, and what does it say?
  adf-format audit export agent.adf                every archived entry as a line of JSON

Exit codes: 0 done; 1 something is damaged, missing, or not found; 2 wrong usage; 3 the file could not be read.
"""


@click.group(help=HELP, no_args_is_help=True)
def audit() -> None:
    """Group of the audit commands."""


@audit.command()
@click.argument("path", metavar="FILE", type=click.Path())
@common("human", "json")
def ls(path: str, out: Output) -> int:
    """List the snapshots in the order in which they were made. Exit codes: 0 done; 3 the file could not be read."""
    with reading(path, out) as container:
        rows = snapshots(container)
        if out.format == "json":
            stream(out, {"$schema": LS, "path": path}, "snapshots", map(row_json, rows))
            return EXIT_OK
        lines: list[tuple[str, ...]] = [audit_text.HEADING]
        for row in rows:
            lines.append(audit_text.row(row))
            if len(lines) > BATCH:
                _aligned(out, lines)
                lines = []
        _aligned(out, lines if lines != [audit_text.HEADING] else [("no snapshots",)])
    return EXIT_OK


def _aligned(out: Output, lines: list[tuple[str, ...]]) -> None:
    for line in table(lines) if lines else ():
        out.line(line.rstrip())


@audit.command()
@click.argument("path", metavar="FILE", type=click.Path())
@click.argument("audit_id", metavar="ID", type=int)
@click.option("--full", is_flag=True, help="Shorten nothing.")
@common("human", "json")
def show(path: str, audit_id: int, full: bool, out: Output) -> int:
    """Decode one snapshot, named by its id.

    Of a damaged one, what comes before the damage is shown.

    Exit codes: 0 done; 1 no such snapshot, or it is damaged; 3 the file could not be read.
    """
    with reading(path, out) as container:
        row = next((row for row in snapshots(container) if row.id == audit_id), None)
        if row is None:
            out.note(f"there is no snapshot {audit_id} (`adf-format audit ls` lists them)")
            return EXIT_FINDINGS
        entries = Reading(container, row)
        if out.format == "json":
            stream(out, {"$schema": SHOW, "path": path, "snapshot": row_json(row)}, "entries", _values(entries))
        else:
            _show(out, row, entries, full)
        for problem in entries.problems:
            out.note(f"snapshot {audit_id} is damaged: {problem.message}")
        return EXIT_FINDINGS if entries.problems else EXIT_OK


def _values(entries: Reading) -> Iterator[Any]:
    return (value for _, value in entries)


def _show(out: Output, row: SnapshotRow, entries: Reading, full: bool) -> None:
    out.line(out.screen.wrapped(audit_text.headline(row), hang=2))
    text = TranscriptText(out.screen, full)
    for index, value in entries:
        out.line()
        for line in audit_text.entry(row, index, value, text):
            out.line(line)


@audit.command()
@click.argument("path", metavar="FILE", type=click.Path())
@common("human", "json")
def verify(path: str, out: Output) -> int:
    """Read every snapshot to its end, and account for every row that the transcripts ever had.

    Every seq from 1 to the highest ever given is live, archived, or gone. Reasons for what is gone are taken from the
    configuration, from markers in the transcript, and from what happened to snapshots.

    Exit codes: 0 all is sound and nothing is missing without a known reason; 1 something is damaged or missing;
    3 the file could not be read.
    """
    with reading(path, out) as container:
        known = coverage(container)
        if out.format == "json":
            document(out, {"$schema": VERIFY, "path": path, **verify_json(known)})
        else:
            for line in audit_text.verdict(path, known, out.screen):
                out.line(line)
    return EXIT_OK if known.complete else EXIT_FINDINGS


def verify_json(known: Coverage) -> dict[str, Any]:
    """Return what is known about all snapshots and seqs."""
    return {
        "complete": known.complete,
        "highest": known.highest,
        "counter": known.counter,
        "snapshots": [
            {
                "id": one.row.id,
                "source": one.row.source,
                "sound": one.sound,
                "entries": one.entries,
                "seqs": seqs_json(one.seqs) if one.row.loop is not None else None,
                "problems": [
                    {"code": problem.code, "message": problem.message, "serious": problem.serious}
                    for problem in one.problems
                ],
            }
            for one in known.survey.checked.values()
        ],
        "deleted_snapshots": seqs_json(known.deleted),
        "split_snapshots": seqs_json(known.split),
        "loops": [
            {
                "name": one.name,
                "live": seqs_json(one.live),
                "archived": seqs_json(one.archived),
                "repeated": seqs_json(one.repeated),
                "live_and_archived": seqs_json(one.both),
                "differing": seqs_json(one.differing),
            }
            for one in known.loops.values()
        ],
        "contested": seqs_json(known.contested),
        "gone": [gap_json(gap) for gap in known.gone],
        "summaries": [summary_json(one) for one in known.summaries],
    }


@audit.command()
@click.argument("path", metavar="FILE", type=click.Path())
@click.argument("seq", metavar="SEQ")
@click.option("--loop", metavar="NAME", help="Only rows of this loop; all loops share one counter.")
@click.option("--full", is_flag=True, help="Shorten nothing.")
@common("human", "json")
def resolve(path: str, seq: str, loop: str | None, full: bool, out: Output) -> int:
    """Find a row that is cited as [S137]: where it is, what it says, when it was written.

    The live table is searched first, then every snapshot that may hold the row, those without a range included.
    Snapshots that cannot be read are named.

    Exit codes: 0 found; 1 not found; 2 SEQ is no number; 3 the file could not be read.
    """
    number = seq_of(seq)
    with reading(path, out) as container:
        found = find(container, loop, number)
        if out.format == "json":
            document(out, {"$schema": RESOLVE, "path": path, **resolution_json(found)})
        else:
            _resolved(out, container, found, full)
    return EXIT_OK if found.found else EXIT_FINDINGS


def resolution_json(found: Resolution) -> dict[str, Any]:
    """Return where a row was found."""
    return {
        "seq": found.seq,
        "loop": found.loop,
        "found": found.found,
        "agree": found.agree,
        "places": [place_json(place) for place in found.places],
        "damaged": [{"audit_id": row.id, "source": row.source, "why": why.message} for row, why in found.damaged],
        "outside_range": found.outside,
        "decoded": found.decoded,
    }


def _resolved(out: Output, container: Container, found: Resolution, full: bool) -> None:
    text = TranscriptText(out.screen, full)
    for place in found.places:
        out.line(f"S{found.seq} of loop {visible(place.loop)} {_where(place, found)}")
        for line in text.lines(Item(place)):
            out.line(line)
        out.line()
    if len(found.places) > 1:
        out.line("all copies say the same" if found.agree else "THE COPIES DIFFER")
    if not found.places:
        whose = f" of loop {visible(found.loop)}" if found.loop else ""
        out.line(f"S{found.seq}{whose} is nowhere: not live, and in none of {found.decoded:,} snapshots searched")
        out.line(f"(`adf-format trace {visible(str(container.source.path))} S{found.seq}` says more)")
    for row, why in found.damaged:
        out.line(f"not searched to the end: snapshot {row.id} ({visible(row.source)}): {why.message}")


def _where(place: Place, found: Resolution) -> str:
    if place.audit_id is None:
        return "is live"
    wrong = ", though its range says otherwise" if place.audit_id in found.outside else ""
    return f"is archived in snapshot {place.audit_id}, made {moment(place.archived_at)}{wrong}"


audit.add_command(export)

"""`adf-format trace`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from adf_format.cli.audit import resolution_json
from adf_format.cli.history import document, gap_json, interval, moment, reading, seq_of, summary_json
from adf_format.cli.options import Output, common
from adf_format.cli.transcript_text import TranscriptText
from adf_format.errors import EXIT_FINDINGS, EXIT_OK
from adf_format.history import Item, Trace
from adf_format.history import trace as find
from adf_format.history.citations import Citation
from adf_format.history.trace import Step
from adf_format.terminal import visible

SCHEMA = "urn:adf-format:output:trace:1"

HELP = """What became of one row: is it live or in which snapshots, which compaction summary stands for it, and which
pages of the memory cite it.

\b
  adf-format trace agent.adf S3
  adf-format trace agent.adf 3 --format json

That a summary stands for a row is concluded from order and times, so it is said to be likely.

Exit codes: 0 found; 1 not found; 2 SEQ is no number; 3 the file could not be read.
"""


@click.command(help=HELP)
@click.argument("path", metavar="FILE", type=click.Path())
@click.argument("seq", metavar="SEQ")
@click.option("--loop", metavar="NAME", help="Only rows of this loop; all loops share one counter.")
@click.option("--full", is_flag=True, help="Shorten nothing.")
@common("human", "json")
def trace(path: str, seq: str, loop: str | None, full: bool, out: Output) -> int:
    """Follow a row through the file."""
    number = seq_of(seq)
    with reading(path, out) as container:
        found = find(container, number, loop)
    if out.format == "json":
        document(out, {"$schema": SCHEMA, "path": path, **trace_json(found)})
    else:
        for line in _lines(found, TranscriptText(out.screen, full)):
            out.line(line)
    return EXIT_OK if found.resolution.found else EXIT_FINDINGS


def trace_json(found: Trace) -> dict[str, Any]:
    """Return what became of a row."""
    return {
        **resolution_json(found.resolution),
        "state": found.state,
        "gap": gap_json(found.gap) if found.gap else None,
        "steps": [_step_json(step) for step in found.steps],
        "cited_by_pages": [{"path": one.path, "line": one.line, "text": one.text} for one in found.pages],
        "cited_by_summaries": [{"seq": one.seq, "text": one.text} for one in found.summaries],
    }


def _step_json(step: Step) -> dict[str, Any]:
    return {
        "seq": step.seq,
        "state": step.state,
        "audit_ids": list(step.audit_ids),
        "likely_summary": summary_json(step.summary) if step.summary else None,
        "by_audit_id": step.match.audit_id if step.match else None,
        "apart_ms": step.match.apart_ms if step.match else None,
    }


def _lines(found: Trace, text: TranscriptText) -> Iterator[str]:
    resolution = found.resolution
    for place in resolution.places[:1]:
        yield f"loop {visible(place.loop)}"
        yield from text.lines(Item(place))
        yield ""
    if len(resolution.places) > 1:
        yield (
            "all copies say the same"
            if resolution.agree
            else "THE COPIES DIFFER (`adf-format audit resolve` shows them)"
        )
    for step in found.steps or [Step(resolution.seq, found.state, ())]:
        yield _step(step, found)
    for row, why in resolution.damaged:
        yield f"not searched to the end: snapshot {row.id} ({visible(row.source)}): {why.message}"
    yield from _citations(found.pages, "no page of the memory cites it")
    yield from _citations(found.summaries, None)


def _step(step: Step, found: Trace) -> str:
    where = {"live": "is live", "never-given": "was never given out"}.get(step.state, "")
    if step.state == "archived":
        where = f"is archived in snapshot{'' if len(step.audit_ids) == 1 else 's'} {_ids(step)}"
    elif step.state == "live" and step.audit_ids:
        where = f"is live, and also archived in {_ids(step)}"
    elif step.state == "gone":
        whole = interval(found.gap.start, found.gap.end) if found.gap else ""
        where = f"is gone ({whole}: {visible(found.gap.detail)})" if found.gap else "is not in this loop"
    return f"S{step.seq} {where}{_covered(step)}"


def _covered(step: Step) -> str:
    if step.summary is None:
        return ""
    how = ""
    if step.match is not None and step.match.apart_ms is not None:
        how = f": made {step.match.apart_ms / 1000:g} s after snapshot {step.match.audit_id}"
    return f"; summary S{step.summary.seq} likely stands for it ({moment(step.summary.created_at)}{how})"


def _ids(step: Step) -> str:
    shown = ", ".join(map(str, step.audit_ids[:10]))
    return f"{shown}, and {len(step.audit_ids) - 10} more" if len(step.audit_ids) > 10 else shown


def _citations(found: list[Citation], nobody: str | None) -> Iterator[str]:
    for one in found:
        where = f"summary S{one.seq}" if one.path is None else f"{visible(one.path)}:{one.line}"
        yield f"cited by {where}: {visible(one.text)}"
    if not found and nobody:
        yield nobody

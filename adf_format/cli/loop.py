"""`adf-format loop`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from adf_format.cli.history import intervals, item_json, line, reading, stream
from adf_format.cli.options import Output, common, nearest
from adf_format.cli.transcript_text import TranscriptText
from adf_format.container import Container
from adf_format.errors import EXIT_OK, UsageError
from adf_format.history import Gap, Item, coverage, transcript
from adf_format.history.loops import LoopFacts, loops, names
from adf_format.history.transcript import life
from adf_format.terminal import table, visible

LS = "urn:adf-format:output:loop-ls:1"
SHOW = "urn:adf-format:output:loop-show:1"
NAME = 60

HELP = """Loops and their transcripts.

\b
  adf-format loop ls agent.adf                        which loops there are, and were
  adf-format loop show agent.adf                      the transcript of main
  adf-format loop show agent.adf --last 5             its end
  adf-format loop show agent.adf --history            its whole life, archived rows included

Exit codes: 0 done; 2 no such loop; 3 the file could not be read.
"""


@click.group(help=HELP, no_args_is_help=True)
def loop() -> None:
    """Group of the loop commands."""


@loop.command()
@click.argument("path", metavar="FILE", type=click.Path())
@common("human", "json")
def ls(path: str, out: Output) -> int:
    """List the loops: declared ones, those with rows, and deleted ones that snapshots remember.

    Exit codes: 0 done; 3 the file could not be read.
    """
    with reading(path, out) as container:
        found = loops(container)
    if out.format == "json":
        out.json({"$schema": LS, "path": path, "loops": [one.json() for one in found]})
        return EXIT_OK
    for text in table([("loop", "state", "live", "archived", "tokens"), *map(_cells, found)]):
        out.line(text.rstrip())
    return EXIT_OK


def _cells(one: LoopFacts) -> tuple[str, ...]:
    live = f"{one.live.count():,}{f' ({intervals(one.live, 2)})' if one.live else ''}"
    archived = f"{one.archived.count():,}{f' ({intervals(one.archived, 2)})' if one.archived else ''}"
    tokens = f"{one.tokens_in:,} in, {one.tokens_out:,} out" if one.tokens_in or one.tokens_out else "-"
    return visible(one.name)[:NAME] or "?", one.state, live, archived, tokens


@loop.command()
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--loop", "name", metavar="NAME", default="main", show_default=True, help="Which loop.")
@click.option("--last", metavar="N", type=click.IntRange(0), help="Only the end: N rows, in the same order as without.")
@click.option("--history", is_flag=True, help="Archived rows too, by seq, and what is gone.")
@click.option("--full", is_flag=True, help="Shorten nothing.")
@common("human", "json", "jsonl")
def show(path: str, name: str, last: int | None, history: bool, full: bool, out: Output) -> int:
    """Show the transcript of a loop.

    Live rows come in display order: COALESCE(ord, seq), then seq. With --history, all rows that the loop ever had
    come by seq, so a compaction summary stands where it was made; of rows that are stored more than once, versions
    that differ are all shown. --last N gives the end of either: its last N rows, exactly as they stand without it.

    Exit codes: 0 done; 2 no such loop; 3 the file could not be read.
    """
    with reading(path, out) as container:
        items = _items(container, name, last, history)
        if out.format == "json":
            head = {"$schema": SHOW, "path": path, "loop": name, "history": history}
            stream(out, head, "items", map(item_json, items))
        elif out.format == "jsonl":
            for item in items:
                out.line(line(item_json(item)))
        else:
            _show(out, items, full)
    return EXIT_OK


def _items(container: Container, name: str, last: int | None, history: bool) -> Iterator[Item | Gap]:
    if not history:
        known = names(container)
        if name not in known:
            raise UsageError(f"no loop {name!r}{nearest(name, known)}", hint="`adf-format loop ls` lists them")
        container.release_deadline()
        return transcript(container, name, last=last)
    found = coverage(container)
    if name not in found.loops:
        raise UsageError(f"no loop {name!r}{nearest(name, found.loops)}", hint="`adf-format loop ls` lists them")
    container.release_deadline()
    return life(container, found, name, last=last)


def _show(out: Output, items: Iterator[Any], full: bool) -> None:
    text = TranscriptText(out.screen, full)
    count = 0
    for count, item in enumerate(items, 1):
        if count > 1:
            out.line()
        for shown in text.lines(item):
            out.line(shown)
    if not count:
        out.note("no rows")

"""`adf-format clear`."""

from __future__ import annotations

import sys
from typing import Any

import click

from adf_format import clearing
from adf_format.clearing import Cleared, Outcome, Request, Slice
from adf_format.cli.options import Output, common
from adf_format.errors import EXIT_FINDINGS, EXIT_OK, UsageError
from adf_format.terminal import visible

SCHEMA = "urn:adf-format:output:clear:1"

HELP = """Clear parts of an agent. WHAT is one of

\b
  loop    the transcript of one loop, or a slice of it
  mind    mind.md becomes empty; the pages in mind/ stay
  inbox   all received messages
  all     the transcripts of all loops, mind.md and the inbox

What the configuration says must be archived is archived in the same transaction; if the configuration cannot be read,
nothing is cleared. Seqs go on counting, the outbox is never cleared. Stop the agent first: a file in use is refused.
A copy of the file from before stays beside it (FILE.bak).

\b
  adf-format clear agent.adf loop --dry-run
  adf-format clear agent.adf loop --slice :-5 --yes
  adf-format clear agent.adf mind --yes
  adf-format clear agent.adf all --yes --no-backup

A slice A:B is one of Python over the rows in display order: `:5` the first five, `-10:` the last ten, `:-5` all but
the last five. Only a clear without --slice also forgets how full the context was.

Exit codes: 0 done, or nothing was there; 1 you said no; 2 wrong usage, or nobody there to ask and no --yes; 3 the
file could not be read or changed.
"""


@click.command(help=HELP)
@click.argument("path", metavar="FILE", type=click.Path())
@click.argument("what", metavar="WHAT", type=click.Choice(["loop", "mind", "inbox", "all"]))
@click.option("--loop", "loop", metavar="NAME", default="main", show_default=True, help="Which loop.")
@click.option("--slice", "part", metavar="A:B", help="Which of its rows.")
@click.option("--document", is_flag=True, help="With all: also empty the agent's document (README.md).")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("-n", "--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--no-backup", is_flag=True, help="Keep no copy of the file once it is done.")
@common("human", "json")
def clear(
    path: str,
    what: Any,
    loop: str,
    part: str | None,
    document: bool,
    yes: bool,
    dry_run: bool,
    no_backup: bool,
    out: Output,
) -> int:
    """Ask, clear, and say what was done."""
    request = Request(what, loop, Slice() if part is None else Slice.parse(part), document)
    if dry_run:
        return _show(clearing.plan(path, request), out)
    if not yes and not _agreed(path, request):
        out.note("nothing was changed")
        return EXIT_FINDINGS
    return _show(clearing.clear(path, request, backup=not no_backup), out)


def _agreed(path: str, request: Request) -> bool:
    request.check()
    if not sys.stdin.isatty():
        raise UsageError("nobody is there to ask", hint="say --yes, or --dry-run to see what would be done")
    planned = clearing.plan(path, request)
    if planned.nothing:
        return True
    for one in planned.cleared:
        click.echo(_line(one, planned), err=True)
    return click.confirm(f"Clear this in {visible(path)}?", err=True)


def _show(outcome: Outcome, out: Output) -> int:
    if out.format == "json":
        out.json(_document(outcome))
        return EXIT_OK
    for one in outcome.cleared:
        out.line(_line(one, outcome))
    if outcome.backup is not None:
        out.line(f"the file as it was before: {visible(str(outcome.backup))}")
    return EXIT_OK


def _document(outcome: Outcome) -> dict[str, Any]:
    return {
        "$schema": SCHEMA,
        "path": str(outcome.path),
        "schema_version": outcome.version,
        "dry_run": outcome.dry_run,
        "cleared": [one.document() for one in outcome.cleared],
        "backup": str(outcome.backup) if outcome.backup else None,
    }


def _line(one: Cleared, outcome: Outcome) -> str:
    what = _what(one)
    if not one.entries:
        return f"{what}: nothing to clear ({one.reason})"
    verb = "would be cleared" if outcome.dry_run else "cleared"
    if one.archived and outcome.dry_run:
        fate = "and archived first"
    elif one.archived:
        fate = f"archived as snapshot {one.audit_id}"
    else:
        fate = f"not archived: {one.reason}"
    return f"{what}: {_amount(one)} {verb}, {fate}"


def _what(one: Cleared) -> str:
    return f"loop {visible(one.name)}" if one.what == "loop" else "inbox" if one.what == "inbox" else visible(one.name)


def _amount(one: Cleared) -> str:
    if one.what == "loop":
        many = "row" if one.entries == 1 else "rows"
        return f"{one.entries:,} {many} (S{one.start_seq} to S{one.end_seq})"
    if one.what == "inbox":
        return f"{one.entries:,} {'message' if one.entries == 1 else 'messages'}"
    return f"{one.size_bytes:,} bytes"

"""`adf-format repair`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from adf_format import repair as repairing
from adf_format.cli.options import Output, common
from adf_format.cli.validate import _words
from adf_format.errors import EXIT_FINDINGS, EXIT_OK, UsageError
from adf_format.repair import Kind, Outcome, Plan
from adf_format.repair.diff import document, hunks
from adf_format.terminal import visible
from adf_format.validation.rule import all_rules, select

SCHEMA = "urn:adf-format:output:repair:1"
COLORS = {"-": "red", "+": "green", "@": "cyan", "#": "dim"}

HELP = """Mend findings that have a known fix, and show every change.

A fix is safe (the right value follows from the file itself, nothing is lost), lossy (something that stood there goes)
or a guess (somebody who knows the agent should look at it). Without more only the safe ones are made. --diff shows
them and writes nothing.

Beside the file stay a copy from before (FILE.bak) and a changeset that takes the changes back
(FILE.undo.changeset). The result is checked with a fresh connection: the findings are gone, no warning or error is
new, and nothing else has changed; if that is not so, the old file is back. Stop the agent first.

\b
  adf-format repair agent.adf --diff
  adf-format repair agent.adf
  adf-format repair agent.adf --lossy --select ADF808

Exit codes: 0 done, or nothing to mend; 1 --diff shows changes; 2 wrong usage; 3 the file could not be read or
changed.
"""


@click.command(help=HELP)
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--diff", is_flag=True, help="Show the rows before and after, like a patch, and write nothing.")
@click.option("--lossy", is_flag=True, help="Also fixes by which something is lost.")
@click.option("--guess", is_flag=True, help="Also fixes that are only plausible.")
@click.option("--select", "selected", multiple=True, callback=_words, metavar="RULE", help="Mend these rules only.")
@click.option("--ignore", "ignored", multiple=True, callback=_words, metavar="RULE", help="Leave these rules alone.")
@click.option("--undo", metavar="CHANGESET", help="Take an earlier repair back.")
@common("human", "json")
def repair(
    path: str,
    diff: bool,
    lossy: bool,
    guess: bool,
    selected: tuple[str, ...],
    ignored: tuple[str, ...],
    undo: str | None,
    out: Output,
) -> int:
    """Mend, show, or take back."""
    if undo is not None:
        if diff or lossy or guess or selected or ignored:
            raise UsageError("--undo takes back a repair as a whole")
        return _undo(path, undo, out)
    kinds = {Kind.SAFE} | ({Kind.LOSSY} if lossy else set()) | ({Kind.GUESS} if guess else set())
    wanted = (select(selected) if selected else frozenset(all_rules())) - select(ignored)
    if diff:
        planned = repairing.plan(path, frozenset(kinds), wanted)
        _show(path, Outcome(planned), True, out)
        return EXIT_FINDINGS if planned.changes else EXIT_OK
    _show(path, repairing.repair(path, frozenset(kinds), wanted), False, out)
    return EXIT_OK


def _undo(path: str, changeset: str, out: Output) -> int:
    backup = repairing.undo(path, changeset)
    if out.format == "json":
        made: dict[str, Any] = {"changes": [], "offered": [], "unfixed": {}, "undone": changeset, "undo": None}
        out.json({"$schema": SCHEMA, "path": path, "dry_run": False, **made, "backup": str(backup) if backup else None})
        return EXIT_OK
    out.line(f"{visible(path)}: the changes of {visible(changeset)} were taken back")
    if backup is not None:
        out.line(f"the file as it was before: {visible(str(backup))}")
    return EXIT_OK


def _show(path: str, outcome: Outcome, dry: bool, out: Output) -> None:
    if out.format == "json":
        out.json(_document(path, outcome, dry))
        return
    found = outcome.plan
    if found.changes:
        out.line(f"--- {visible(path)}")
        out.line(f"+++ {visible(path)} {'as it would be' if dry else 'repaired'}")
    for change in found.changes:
        for line in hunks(change):
            out.line(out.screen.paint(visible(line), *([COLORS[line[0]]] if line[:1] in COLORS else [])))
    for line in _summary(path, outcome, dry):
        out.line(line)


def _summary(path: str, outcome: Outcome, dry: bool) -> Iterator[str]:
    found = outcome.plan
    count = len(found.changes)
    if not count:
        yield f"{visible(path)}: nothing to mend"
    else:
        yield f"{visible(path)}: {count:,} {'change' if count == 1 else 'changes'}{' would be' if dry else ''} made"
    if outcome.undo is not None:
        yield f"to take them back: adf-format repair {visible(path)} --undo {visible(str(outcome.undo))}"
    if outcome.backup is not None:
        yield f"the file as it was before: {visible(str(outcome.backup))}"
    for kind, text in ((Kind.SAFE, "safe fix"), (Kind.LOSSY, "lossy fix"), (Kind.GUESS, "guess")):
        rules = sorted({fix.rule for fix in found.offered if fix.kind is kind})
        if rules:
            option = "" if kind is Kind.SAFE else f", with --{kind}"
            yield f"not mended, though there is a {text}{option}: {', '.join(rules)}"
    if found.unfixed:
        yield f"not mended, without a known fix: {', '.join(sorted(found.unfixed))}"


def _document(path: str, outcome: Outcome, dry: bool) -> dict[str, Any]:
    found: Plan = outcome.plan
    offered = [
        {"rule": fix.rule, "kind": str(fix.kind), "does": fix.does, "places": count}
        for fix, count in found.offered.items()
    ]
    return {
        "$schema": SCHEMA,
        "path": path,
        "dry_run": dry,
        "changes": [document(change) for change in found.changes],
        "offered": offered,
        "unfixed": found.unfixed,
        "undone": None,
        "undo": str(outcome.undo) if outcome.undo else None,
        "backup": str(outcome.backup) if outcome.backup else None,
    }

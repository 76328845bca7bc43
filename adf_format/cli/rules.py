"""`adf-format rules`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import groupby
from typing import Any

import click

from adf_format.cli.options import Output, common
from adf_format.errors import EXIT_OK
from adf_format.repair import fixes_of
from adf_format.terminal import table
from adf_format.validation.rule import FAMILIES, Example, Rule, Severity, all_rules
from adf_format.validation.settings import named

SCHEMA = "urn:adf-format:output:rules:1"
_COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}

HELP = """List the rules, or explain some: what, why, source, an example that breaks it, and what to do.

\b
  adf-format rules                all rules, by family
  adf-format rules ADF5           the rules of one family
  adf-format rules ADF501         one rule explained; a name does as well
  adf-format rules --format json

Severities: an error breaks a MUST of the format; a warning is something that real runtimes tolerate; an info is
worth knowing. Ids and names are stable.

Exit codes: 0 done; 2 there is no such rule.
"""


@click.command(help=HELP)
@click.argument("names", nargs=-1, metavar="[RULE]...")
@common("human", "json")
def rules(names: tuple[str, ...], out: Output) -> int:
    """List or explain."""
    known = all_rules()
    ids = sorted(named(names)) if names else list(known)
    chosen = [known[rule_id] for rule_id in ids]
    if out.format == "json":
        out.json({"$schema": SCHEMA, "rules": [as_json(rule) for rule in chosen]})
    elif names and all(len(named((name,))) == 1 for name in names):
        out.line("\n\n".join(_explained(rule, out) for rule in chosen))
    else:
        _list(chosen, out)
    return EXIT_OK


def as_json(rule: Rule) -> dict[str, Any]:
    """Return everything a rule says about itself."""
    return {
        "id": rule.id,
        "name": rule.name,
        "family": {"id": rule.family, "what": FAMILIES[rule.family]},
        "severity": str(rule.severity),
        "what": rule.what,
        "why": rule.why,
        "fix": rule.fix,
        "repairs": [{"kind": str(fix.kind), "does": fix.does, "because": fix.because} for fix in fixes_of(rule.id)],
        "source": list(rule.source),
        "since": rule.since,
        "until": rule.until,
        "fires": _example_json(rule.fires),
        "silent": _example_json(rule.silent),
    }


def _example_json(example: Example) -> dict[str, Any]:
    empty = Example()
    fields = asdict(example)
    changed = {key: value for key, value in fields.items() if value != getattr(empty, key)}
    return {"on": example.on, "base": example.base, **changed}


def _list(chosen: Iterable[Rule], out: Output) -> None:
    count = 0
    for family, group in groupby(chosen, lambda rule: rule.family):
        members = list(group)
        count += len(members)
        out.line(out.screen.paint(f"{family}xx  {FAMILIES[family]}", "bold"))
        rows = [(rule.id, _level(rule, out), rule.name, rule.what + _marked(rule)) for rule in members]
        for line in table(rows):
            out.line(out.screen.wrapped(line, indent=2, hang=19))
        out.line()
    out.line(f"{count} rules. `adf-format rules {next(iter(all_rules()))}` explains one.")


def _marked(rule: Rule) -> str:
    kinds = ", ".join(dict.fromkeys(str(fix.kind) for fix in fixes_of(rule.id)))
    return f" [repair: {kinds}]" if kinds else ""


def _level(rule: Rule, out: Output) -> str:
    return out.screen.paint(str(rule.severity), _COLORS[rule.severity])


def _explained(rule: Rule, out: Output) -> str:
    head = f"{rule.id} {out.screen.paint(rule.name, 'bold')} ({_level(rule, out)})"
    facts = [
        ("what", rule.what),
        ("why", rule.why),
        *_mending(rule),
        ("family", f"{rule.family}xx, {FAMILIES[rule.family]}"),
        ("versions", _versions(rule)),
        ("source", ", ".join(rule.source)),
    ]
    lines = [head, ""]
    lines += [out.screen.wrapped(f"{name:<10}{text}", indent=2, hang=12) for name, text in facts]
    lines += ["", *_example("breaks it", rule.fires), "", *_example("does not, though it comes close", rule.silent)]
    return "\n".join(lines)


def _mending(rule: Rule) -> Iterator[tuple[str, str]]:
    """Yield what a person can do about a finding, and what `adf-format repair` can."""
    fixes = fixes_of(rule.id)
    if rule.fix or not fixes:
        yield "fix", rule.fix or "none is known"
    for fix in fixes:
        yield "repair", f"{fix.kind}: {fix.does} ({fix.because})"


def _versions(rule: Rule) -> str:
    if rule.until is None:
        return "all" if rule.since == 1 else f"from storage version {rule.since}"
    if rule.since == 1:
        return f"up to storage version {rule.until}"
    return f"storage versions {rule.since} to {rule.until}"


def _example(verdict: str, example: Example) -> list[str]:
    if example.files:
        return [
            f"  This {verdict} (a workspace of memory, on 2026-04-10):",
            *(f"    {line}" for line in str(example).splitlines()),
        ]
    sample = f"the {example.base} sample of storage version {example.on}"
    head = f"  This {verdict}" + (":" if example.content is not None else f" ({sample}, changed):")
    return [head, *(f"    {line}" for line in str(example).splitlines())]

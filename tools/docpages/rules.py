"""`docs/rules.md`: the catalogue of rules, by family, each with its two examples."""

from __future__ import annotations

import re
from itertools import groupby

from adf_format.repair.fixes import fixes_of
from adf_format.validation.rule import FAMILIES, Example, Rule, Severity, all_rules
from tools.docpages.markdown import block, link, table

INTRODUCTION = """\
# Rules

Every rule that `adf-format validate` knows, with the reason for it, the sources it comes from, and two examples that
run: a change to a sample file that makes the rule report, and a near miss on which it stays silent. `adf-format rules
ADF301` shows the same on a terminal. The examples are also the corpus in `fixtures/`, and a test of every rule.

An **error** breaks a MUST of the format. A **warning** is something that real runtimes tolerate, an **info** is the
rest. Ids and names never change their meaning. Where nothing is said, a rule applies to all storage versions.

Sources: `STO`, `MIG`, `AUD`, `CMP`, `LCL`, `ROW`, `CLS`, `BUG` and `AMB` number the facts about storage, migration,
audit, compaction, clearing and row formats, `CFG` and `K` those about the configuration and what contradicts in it;
`SEED-…` is a section of the format's own specification. The examples are SQL on a sample agent of storage version 32
with rows in every table (see `adf-format demo`), unless a comment says otherwise.
"""
_LONG = 96  # characters of one literal shown whole
_LITERAL = re.compile(rf"'[^']{{{_LONG},}}'")


def page() -> str:
    """Return the page."""
    rules = list(all_rules().values())
    lines = [*INTRODUCTION.split("\n"), *_totals(rules)]
    for family, members in groupby(rules, lambda rule: rule.family):
        lines += [f"## {family}xx: {FAMILIES[family]}", ""]
        listed = list(members)
        lines += table(("rule", "severity", "demands"), [_row(rule) for rule in listed])
        for rule in listed:
            lines += _entry(rule)
    return "\n".join(lines).rstrip() + "\n"


def _totals(rules: list[Rule]) -> list[str]:
    rows = []
    for family, what in FAMILIES.items():
        members = [rule for rule in rules if rule.family == family]
        counts = [str(sum(rule.severity == severity for rule in members)) for severity in reversed(Severity)]
        rows.append((link(f"{family}xx: {what}", f"{family}xx"), what, str(len(members)), *counts))
    totals = [str(sum(rule.severity == severity for rule in rules)) for severity in reversed(Severity)]
    rows.append(("", "all", str(len(rules)), *totals))
    return table(("family", "is about", "rules", "errors", "warnings", "infos"), rows)


def _heading(rule: Rule) -> str:
    return f"{rule.id} {rule.name}"


def _row(rule: Rule) -> tuple[str, str, str]:
    return link(_heading(rule)), str(rule.severity), rule.what


def _entry(rule: Rule) -> list[str]:
    facts = [f"*{rule.severity}*", *_versions(rule), ", ".join(rule.source)]
    lines = [f"### {_heading(rule)}", " · ".join(facts), "", rule.what, "", f"**Why:** {rule.why}", ""]
    if rule.fix:
        lines += [f"**Fix:** {rule.fix}", ""]
    for one in fixes_of(rule.id):
        lines += [f"**Repair ({one.kind}):** {one.does}; {one.because}", ""]
    return [*lines, *_example("Reports on", rule.fires), *_example("Is silent on", rule.silent)]


def _versions(rule: Rule) -> list[str]:
    if rule.since <= 1 and rule.until is None:
        return []
    if rule.until is None:
        return [f"from storage version {rule.since}"]
    return [f"storage versions {max(rule.since, 1)} to {rule.until}"]


def _example(title: str, example: Example) -> list[str]:
    sample = [] if example.content is not None or (example.base, example.on) == ("rich", Example().on) else [
        f"-- on the {'empty' if example.base == 'fresh' else 'sample'} agent of storage version {example.on}"
    ]  # fmt: skip
    return [f"{title}:", *block("\n".join([*sample, readable(str(example))]), "sql")]


def readable(sql: str) -> str:
    """Return SQL with one statement a line and long literals cut visibly."""
    lines = [part.strip() for part in _statements(sql)]
    return "\n".join(_LITERAL.sub(_cut, line) for line in lines if line)


def _statements(sql: str) -> list[str]:
    """Split after each semicolon that ends a statement: outside literals, comments and trigger bodies."""
    parts, start, inside = [], 0, False
    for match in re.finditer(r"'(?:[^']|'')*'|--[^\n]*|\bBEGIN\b|\bEND\b|;\s*", sql, re.IGNORECASE):
        word = match.group().strip().upper()
        if word in {"BEGIN", "END"}:
            inside = word == "BEGIN"
        elif word == ";" and not inside:
            parts.append(sql[start : match.start() + 1])
            start = match.end()
    return [*parts, sql[start:]]


def _cut(match: re.Match[str]) -> str:
    text = match.group()
    return f"{text[: _LONG // 2]}…{text[-8:]}"

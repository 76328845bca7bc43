"""Findings, and the collector that groups and bounds them.

Identical findings (same rule, place and text) become one with a count and example rows. Those whose texts begin with
the value that is wrong are told apart a few times at one place, then gathered. What was left out is counted and said,
never dropped in silence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from adf_format.validation.rule import Rule, Severity

MAX_EXAMPLES = 5
MAX_GROUPS = 50
MAX_VALUES = 5  # different values told apart for one rule at one place
# a text that shows a value first
_VALUE = re.compile(r"""(?:(?:".*"|-?[\d.e+-]+) (?:is|does) |the (?:name|path) ")""", re.DOTALL)


@dataclass
class Finding:
    """One finding, or several identical ones.

    :ivar rowid: rowid of the first row concerned
    :ivar pointer: JSON pointer inside the value of `column`
    :ivar file: a file in a workspace of memory, by its path in there
    :ivar line: of a text, from 1
    :ivar count: how many places it stands for
    :ivar examples: up to `MAX_EXAMPLES` places as `{"rowid", "pointer"}`
    """

    rule: str
    severity: Severity
    message: str
    table: str | None = None
    rowid: int | None = None
    column: str | None = None
    pointer: str | None = None
    fix: str | None = None
    count: int = 1
    examples: list[dict[str, Any]] = field(default_factory=list)
    file: str | None = None
    line: int | None = None

    def place(self) -> str:
        """Return the place in words: `adf_loop row 7, content_json /0/text`, `memory/2026-01-02.md line 3`."""
        line = f" line {self.line}" if self.line is not None else ""
        if self.file is not None:
            return f"{self.file}{line}" + (f", {self.pointer}" if self.pointer else "")
        row = f" row {self.rowid}" if self.rowid is not None else ""
        value = " ".join(part for part in (self.column, self.pointer) if part)
        return ", ".join(part for part in (f"{self.table or ''}{row}", f"{value}{line}") if part)

    def as_json(self) -> dict[str, Any]:
        """Return the finding as the command line contract has it; keys without a value are left out."""
        result: dict[str, Any] = {"rule": self.rule, "severity": str(self.severity), "message": self.message}
        for key in ("table", "rowid", "column", "pointer", "fix", "file", "line"):
            if getattr(self, key) is not None:
                result[key] = getattr(self, key)
        if self.count > 1:
            result |= {"count": self.count, "examples": self.examples}
        return result


class Collector:
    """Takes what rules report; knows which rules are wanted and how severe they count."""

    def __init__(self, wanted: frozenset[str] | None, severities: Mapping[str, Severity], version: int) -> None:
        self.wanted = wanted
        self._severities = severities
        self.version = version
        self._groups: dict[tuple[object, ...], Finding] = {}
        self._per_rule: dict[str, int] = {}
        self._texts: dict[tuple[object, ...], int] = {}
        self.left_out: dict[str, int] = {}

    def wants(self, rule: Rule) -> bool:
        """Whether findings of a rule are asked for and the rule applies to the file's storage version."""
        return (self.wanted is None or rule.id in self.wanted) and rule.applies(self.version)

    def report(
        self,
        rule: Rule,
        message: str,
        *,
        table: str | None = None,
        rowid: int | None = None,
        column: str | None = None,
        pointer: str | None = None,
        fix: str | None = None,
        file: str | None = None,
        line: int | None = None,
    ) -> None:
        """Report one finding. Findings that differ only in row and array index are grouped (see the module)."""
        if not self.wants(rule):
            return
        place = (rule.id, table, column, _shape(pointer), file)
        key: tuple[object, ...] = (*place, message)
        group = self._groups.get(key)
        if group is None and self._texts.get(place, 0) >= MAX_VALUES and _VALUE.match(message):
            key, message = (*place, None), f"{message}; others differ in their values"
            group = self._groups.get(key)
        if group is None:
            self._texts[place] = self._texts.get(place, 0) + 1
            if self._per_rule.get(rule.id, 0) >= MAX_GROUPS:
                self.left_out[rule.id] = self.left_out.get(rule.id, 0) + 1
                return
            self._per_rule[rule.id] = self._per_rule.get(rule.id, 0) + 1
            severity = self._severities.get(rule.id, rule.severity)
            group = Finding(rule.id, severity, message, table, rowid, column, pointer, fix or rule.fix, 0)
            group.file, group.line = file, line
            self._groups[key] = group
        group.count += 1
        if len(group.examples) < MAX_EXAMPLES:
            places = {"rowid": rowid, "pointer": pointer, "line": line}
            group.examples.append({name: place for name, place in places.items() if place is not None})

    def findings(self) -> list[Finding]:
        """Return what was reported: the worst first, then by rule, then in the order of reporting."""
        return sorted(self._groups.values(), key=lambda finding: (-finding.severity, finding.rule))


def _shape(pointer: str | None) -> str | None:
    if not pointer:
        return pointer
    return "/".join("*" if part.isdigit() else part for part in pointer.split("/"))

"""SARIF 2.1.0, for code scanning services."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from adf_format import __version__
from adf_format.terminal import harmless_json, visible
from adf_format.validation.baseline import fingerprint
from adf_format.validation.findings import Finding
from adf_format.validation.formats.base import Format, counted, plain_message, without_path
from adf_format.validation.report import FileReport
from adf_format.validation.rule import Rule, Severity

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MAX_RESULTS = 5000  # GitHub shows no more of one run
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


class Sarif(Format):
    """One run; kept in memory until the end, bounded by `MAX_RESULTS`."""

    def begin(self) -> None:
        """Start empty."""
        self._results: list[dict[str, Any]] = []
        self._notices: list[dict[str, Any]] = []
        self._left_out = 0
        self._rules = {rule: index for index, rule in enumerate(self.run.rules)}

    def file(self, report: FileReport, known: Sequence[Finding]) -> None:
        """Take the results of one file."""
        if report.error is not None:
            self._notice(f"{visible(report.path)}: {visible(without_path(report))}", "error", report.path)
        for entry in report.stats.not_checked:
            text = f"not checked: {entry['what']} ({entry['why']})"
            self._notice(visible(text), "note", report.path)
        for rule, number in sorted(report.left_out.items()):
            self._notice(f"{counted(number, 'further finding')} of {rule} counted only", "warning", report.path)
        for finding in report.findings:
            self._add(_result(report.path, finding))
        for finding in known:
            suppressed = {"suppressions": [{"kind": "external", "justification": "known to the baseline"}]}
            self._add(_result(report.path, finding) | suppressed)

    def _add(self, result: dict[str, Any]) -> None:
        if len(self._results) >= MAX_RESULTS:
            self._left_out += 1
            return
        index = self._rules.get(result["ruleId"])
        self._results.append(result if index is None else result | {"ruleIndex": index})

    def _notice(self, text: str, level: str, path: str | None = None) -> None:
        if len(self._notices) >= MAX_RESULTS:
            return
        notice: dict[str, Any] = {"level": level, "message": {"text": text}}
        if path is not None:
            notice["locations"] = [{"physicalLocation": {"artifactLocation": {"uri": _uri(path)}}}]
        self._notices.append(notice)

    def end(self) -> None:
        """Write the document."""
        if self._left_out:
            text = f"{counted(self._left_out, 'further result')} left out; --format json has all of them"
            self._notices[MAX_RESULTS - 1 :] = []
            self._notice(text, "warning")
        done = not self.totals["unreadable"]
        driver = {
            "name": "adf-format",
            "semanticVersion": __version__,
            "rules": [_rule(rule) for rule in self.run.rules.values()],
        }
        invocation = {"executionSuccessful": done, "toolExecutionNotifications": self._notices}
        run = {
            "tool": {"driver": driver},
            "columnKind": "utf16CodeUnits",
            "invocations": [invocation],
            "results": self._results,
        }
        document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
        self.write(harmless_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n")


def _result(path: str, finding: Finding) -> dict[str, Any]:
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": _uri(path)}}}
    name = _logical(finding)
    if name:
        location["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "member"}]
    fix = f"\nfix: {finding.fix}" if finding.fix else ""
    return {
        "ruleId": finding.rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": visible(plain_message(finding) + fix, lines=True)},
        "locations": [location],
        "partialFingerprints": {"adfFinding/v1": fingerprint(finding)},
        "occurrenceCount": finding.count,
    }


def _logical(finding: Finding) -> str:
    """Return `table/rowid/column#pointer`, as far as the finding has them."""
    parts = [str(part) for part in (finding.table, finding.rowid, finding.column) if part is not None]
    pointer = f"#{finding.pointer}" if finding.pointer else ""
    return visible("/".join(parts) + pointer)


def _rule(rule: Rule) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": rule.id,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": rule.what},
        "fullDescription": {"text": f"{rule.what} {rule.why}"},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": [rule.family], "source": list(rule.source), "shortName": rule.name},
    }
    if rule.fix:
        made["help"] = {"text": rule.fix}
    return made


def _uri(path: str) -> str:
    """Return a relative path as a URI reference, an absolute one as a `file:` URI."""
    pure = PurePath(path)
    if not pure.is_absolute():
        return quote(_bytes(pure.as_posix()))
    text = quote(_bytes(pure.as_posix()), safe="/:")
    return f"file://{text}" if text.startswith("/") else f"file:///{text}"


def _bytes(path: str) -> bytes:
    """Return a path as the bytes the system has for it; names on Windows may hold any surrogate."""
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogatepass")


FORMAT = Sarif

"""JUnit XML: a test suite per file, a test case per family of rules; what was not checked is a skipped case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from adf_format.terminal import visible
from adf_format.validation.findings import Finding
from adf_format.validation.formats.base import Format, plain_message, without_path
from adf_format.validation.report import FileReport
from adf_format.validation.rule import FAMILIES


@dataclass(frozen=True)
class _Case:
    name: str
    outcome: str | None = None
    message: str = ""
    text: str = ""
    output: str = ""


class JUnit(Format):
    """Findings from `--fail-on` up are failures; the others stand in `system-out`."""

    def begin(self) -> None:
        """Open the document."""
        self.write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="adf-format validate">\n')

    def file(self, report: FileReport, known: Sequence[Finding]) -> None:  # noqa: ARG002
        """Write one test suite."""
        cases = list(self._cases(report))
        counts = {kind: sum(case.outcome == kind for case in cases) for kind in ("failure", "error", "skipped")}
        name = _attribute(report.path)
        self.write(
            f'  <testsuite name={name} tests="{len(cases)}" failures="{counts["failure"]}"'
            f' errors="{counts["error"]}" skipped="{counts["skipped"]}">\n'
        )
        for case in cases:
            self.write(_xml(case, name))
        self.write("  </testsuite>\n")

    def _cases(self, report: FileReport) -> Iterator[_Case]:
        if report.error is not None:
            yield _Case("the file can be checked", "error", without_path(report), without_path(report))
            return
        found = {finding.rule[:4] for finding in report.findings}
        families = {rule[:4] for rule in self.run.wanted} | found
        for family in sorted(families):
            yield self._case(family, [one for one in report.findings if one.rule.startswith(family)])
        for entry in report.stats.not_checked:
            yield _Case(f"not checked: {entry['what']}", "skipped", entry["why"])

    def _case(self, family: str, findings: list[Finding]) -> _Case:
        name = f"{family}xx {FAMILIES.get(family, 'other rules')}"
        failures = [one for one in findings if self.run.fails(one)]
        output = "\n".join(self._line(one) for one in findings if not self.run.fails(one))
        if not failures:
            return _Case(name, output=output)
        return _Case(name, "failure", self._line(failures[0]), "\n".join(map(self._line, failures)), output)

    def _line(self, finding: Finding) -> str:
        name = self.run.name(finding.rule)
        return f"{str(finding.severity).upper()} {finding.rule} {name}: {plain_message(finding)}"

    def end(self) -> None:
        """Close the document."""
        self.write("</testsuites>\n")


def _xml(case: _Case, classname: str) -> str:
    start = f"    <testcase name={_attribute(case.name)} classname={classname}"
    inner = ""
    if case.outcome:
        message = _attribute(case.message)
        inner += f"      <{case.outcome} message={message}>{_text(case.text)}</{case.outcome}>\n"
    if case.output:
        inner += f"      <system-out>{_text(case.output)}</system-out>\n"
    return f"{start}>\n{inner}    </testcase>\n" if inner else f"{start}/>\n"


def _text(text: str) -> str:
    return escape(visible(text, lines=True))


def _attribute(text: str) -> str:
    return quoteattr(visible(text))


FORMAT = JUnit

"""Workflow commands that GitHub Actions shows as annotations."""

from __future__ import annotations

from collections.abc import Sequence

from adf_format.terminal import visible
from adf_format.validation.findings import Finding
from adf_format.validation.formats.base import Format, counted, plain_message, without_path
from adf_format.validation.report import FileReport
from adf_format.validation.rule import Severity

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


class GitHub(Format):
    """One annotation per group of findings."""

    def file(self, report: FileReport, known: Sequence[Finding]) -> None:  # noqa: ARG002
        """Write the annotations of one file."""
        if report.error is not None:
            self._annotate("error", report.path, "could not be checked", without_path(report))
        for finding in report.findings:
            title = f"{finding.rule} {self.run.name(finding.rule)}"
            text = plain_message(finding) + (f"\nfix: {finding.fix}" if finding.fix else "")
            self._annotate(_COMMANDS[finding.severity], report.path, title, text)
        for rule, number in sorted(report.left_out.items()):
            text = f"{counted(number, 'further finding')} of {rule} counted only"
            self._annotate("notice", report.path, rule, text)

    def _annotate(self, command: str, path: str, title: str, text: str) -> None:
        message = _data("\n".join(visible(line) for line in text.split("\n")))
        self.write(f"::{command} file={_property(path)},title={_property(title)}::{message}\n")

    def end(self) -> None:
        """Write the totals as an ordinary line of the log."""
        totals = self.totals
        found = ", ".join(counted(totals[f"{level!s}s"], str(level)) for level in reversed(Severity))
        self.write(f"{counted(totals['files'], 'file')} checked, {totals['valid']:,} valid: {found}\n")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(visible(text)).replace(":", "%3A").replace(",", "%2C")


FORMAT = GitHub

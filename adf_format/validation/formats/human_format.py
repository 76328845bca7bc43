"""For people: the worst first, what it means for the file, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from adf_format.terminal import visible
from adf_format.validation.findings import Finding
from adf_format.validation.formats.base import Format, counted, more_places, without_path
from adf_format.validation.report import FileReport
from adf_format.validation.rule import Severity

_COLORS = {Severity.ERROR: ("red", "bold"), Severity.WARNING: ("yellow",), Severity.INFO: ("cyan",)}
_HANG = 10
_SHOWN = 4
_BY_CHOICE = "only with "  # a depth that was not asked for is said once, at the end


class Human(Format):
    """Plain text, or coloured and wrapped on a terminal."""

    _worst: Finding | None = None  # the first of the highest severity

    def begin(self) -> None:
        """Start without anything skipped."""
        self._skipped: dict[str, dict[str, None]] = {}

    def file(self, report: FileReport, known: Sequence[Finding]) -> None:  # noqa: ARG002
        """Write the headline and the findings of one file."""
        if self.run.quiet and not report.findings and report.error is None:
            return
        lines = [self._headline(report), *self._findings(report.findings), *self._notes(report)]
        self.write("\n".join(lines) + "\n" + ("\n" if len(lines) > 1 else ""))

    def _headline(self, report: FileReport) -> str:
        path = self.screen.paint(visible(report.path), "bold")
        if report.error is not None:
            verdict = self.screen.paint("could not be checked", "red", "bold")
            return self.screen.wrapped(f"{path}: {verdict}: {visible(without_path(report))}", hang=2)
        valid = self.screen.paint("valid", "green") if report.valid else self.screen.paint("NOT VALID", "red", "bold")
        version = "unknown" if report.schema_version is None else str(report.schema_version)
        what = "a workspace" if report.stats.source == "folder" else f"storage version {version}"
        counts = [counted(report.count(level), str(level)) for level in reversed(Severity) if report.count(level)]
        return self.screen.wrapped(f"{path}: {valid} ({what}{_listed(counts)})", hang=2)

    def _findings(self, findings: Sequence[Finding]) -> Iterator[str]:
        for (_, fix), group in groupby(findings, lambda one: (one.rule, one.fix)):
            for finding in group:
                if self._worst is None or finding.severity > self._worst.severity:
                    self._worst = finding
                yield from self._finding(finding)
            if fix:
                yield self.screen.wrapped(f"fix: {visible(fix)}", indent=_HANG, hang=_HANG + 5)

    def _finding(self, finding: Finding) -> Iterator[str]:
        level = self.screen.paint(f"{finding.severity!s:<7}".upper(), *_COLORS[finding.severity])
        name = f"{finding.rule} {self.screen.paint(self.run.name(finding.rule), 'bold')}"
        place = visible(finding.place())
        message = f"{f'{place}: ' if place else ''}{visible(finding.message)}"
        yield self.screen.wrapped(f"{level} {name}  {message}", indent=2, hang=_HANG)
        more = more_places(finding)
        if more:
            yield self.screen.wrapped(visible(more), indent=_HANG, hang=_HANG)

    def _notes(self, report: FileReport) -> Iterator[str]:
        for rule, number in sorted(report.left_out.items()):
            text = f"{counted(number, 'further finding')} of {rule} {'was' if number == 1 else 'were'} counted only"
            yield self._note(text)
        if report.suppressed:
            yield self._note(f"{counted(report.suppressed, 'finding')} known to the baseline")
        reasons: dict[str, list[str]] = {}
        for entry in report.stats.not_checked:
            if entry["why"].startswith(_BY_CHOICE) and not self.run.statistics:
                self._skipped[entry["why"]] = {**self._skipped.get(entry["why"], {}), entry["what"]: None}
                continue
            reasons.setdefault(entry["why"], []).append(entry["what"])
        for why, what in reasons.items():
            yield self._note(f"not checked ({visible(why)}): {visible('; '.join(what))}")
        if self.run.statistics and report.error is None:
            yield self._note(_looked_at(report))

    def _note(self, text: str) -> str:
        return self.screen.paint(self.screen.wrapped(text, indent=2, hang=4), "dim")

    def end(self) -> None:
        """Write the totals and where to read on."""
        totals = self.totals
        verdicts = [
            f"{totals[key]:,} {text}"
            for key, text in (("valid", "valid"), ("invalid", "not valid"), ("unreadable", "could not be checked"))
            if totals[key]
        ]
        found = [counted(totals[f"{level!s}s"], str(level)) for level in reversed(Severity) if totals[f"{level!s}s"]]
        if not self.run.quiet or found or totals["unreadable"]:
            told = ", ".join(verdicts) or "nothing to check"
            text = f"{counted(totals['files'], 'file')}: {told}; {', '.join(found) or 'no findings'}"
            self.write(self.screen.wrapped(text, hang=2) + "\n")
        for why, checks in self._skipped.items() if not self.run.quiet else ():
            shown = "; ".join([visible(what) for what in list(checks)[:_SHOWN]])
            rest = f"; and {len(checks) - _SHOWN} more" if len(checks) > _SHOWN else ""
            text = f"not checked ({visible(why)}): {shown}{rest}"
            self.write(self.screen.paint(self.screen.wrapped(text, hang=2), "dim") + "\n")
        if self._worst and not self.run.quiet:
            text = f"`adf-format rules {self._worst.rule}` explains a finding: what, why, and what to do"
            self.write(self.screen.wrapped(text, hang=2) + "\n")


def _listed(parts: Sequence[str]) -> str:
    return "".join(f", {part}" for part in parts)


def _looked_at(report: FileReport) -> str:
    stats = report.stats
    rows = f"{counted(sum(stats.rows.values()), 'row')} in {counted(len(stats.rows), 'table')}"
    source = (
        "in place"
        if stats.source == "immutable"
        else f"from a private copy with {counted(stats.wal_frames, 'WAL frame')}"
    )
    return f"looked at: {rows}, {counted(stats.snapshots, 'audit snapshot')}; depth {stats.depth}; read {source}"


FORMAT = Human

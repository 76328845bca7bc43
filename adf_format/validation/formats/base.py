"""What all formats share: the run they report on, the steps, and words for places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from adf_format.terminal import Screen
from adf_format.validation.findings import Finding
from adf_format.validation.report import FileReport, summary
from adf_format.validation.rule import Rule, Severity


@dataclass(frozen=True)
class Run:
    """What is the same for all files of a run.

    :ivar rules: all rules by id
    :ivar wanted: ids of the rules that were asked for
    :ivar fail_on: severity from which a finding makes the run fail, None for never
    :ivar statistics: whether to show what was looked at
    :ivar quiet: whether files without findings go unmentioned
    """

    rules: Mapping[str, Rule]
    wanted: frozenset[str] = frozenset()
    fail_on: Severity | None = Severity.ERROR
    statistics: bool = False
    quiet: bool = False

    def name(self, rule: str) -> str:
        """Return the short name of a rule, or its id if it has none."""
        found = self.rules.get(rule)
        return found.name if found else rule

    def fails(self, finding: Finding) -> bool:
        """Whether a finding makes the run fail."""
        return self.fail_on is not None and finding.severity >= self.fail_on


@dataclass
class Format:
    """Writes reports as they come: `begin`, then `file` for each one in order, then `end`.

    :ivar write: takes pieces of text
    :ivar totals: the summary so far, updated by `add`
    """

    write: Callable[[str], object]
    screen: Screen
    run: Run
    totals: Counter[str] = field(default_factory=lambda: Counter({**summary([]), "suppressed": 0}))

    def begin(self) -> None:
        """Write what comes before the first file."""

    def file(self, report: FileReport, known: Sequence[Finding]) -> None:
        """Write one report.

        :param known: findings that a baseline took out of it
        """

    def end(self) -> None:
        """Write what comes after the last file."""

    def add(self, report: FileReport, known: Sequence[Finding] = ()) -> None:
        """Count one report and write it."""
        self.totals.update(summary([report]))
        self.totals["suppressed"] += report.suppressed
        self.file(report, known)


def counted(number: int, noun: str) -> str:
    """Return `1 error`, `2,000 errors`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def more_places(finding: Finding) -> str:
    """Return the further places of a group in words: `and 7 more: rows 4, 9, 11 and others`; empty for one place."""
    others = finding.examples[1:]
    rest = finding.count - 1
    if rest < 1:
        return ""
    rows = [str(place["rowid"]) for place in others if "rowid" in place]
    same_row = len({place.get("rowid") for place in finding.examples}) == 1
    names = [place["pointer"] for place in others if "pointer" in place] if same_row else rows
    if not names:
        return f"and {rest:,} more"
    what = "" if same_row else "row " if len(names) == 1 else "rows "
    tail = " and others" if rest > len(names) else ""
    return f"and {rest:,} more: {what}{', '.join(names)}{tail}"


def plain_message(finding: Finding) -> str:
    """Return place, message and further places in one line."""
    place = finding.place()
    more = more_places(finding)
    return f"{f'{place}: ' if place else ''}{finding.message}{f' ({more})' if more else ''}"


def without_path(report: FileReport) -> str:
    """Return the error of a report without the path at its start."""
    return (report.error or "").removeprefix(f"{report.path}: ")

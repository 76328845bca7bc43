"""What follows from the declarations of a file alone is worked out once for all files that share them.

The files of one fleet are made by the same few writers: comparing their tables with the schemas again and again took a
third of the time of a small file.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from adf_format.validation.context import Context, Pass
from adf_format.validation.findings import Collector
from adf_format.validation.report import Stats
from adf_format.validation.rule import Rule


@dataclass
class Conclusion:
    """What one pass said.

    :ivar reports: `(rule, message, place)` in the order of reporting
    :ivar not_checked: `(what, why)`
    """

    reports: list[tuple[Rule, str, dict[str, Any]]] = field(default_factory=list)
    not_checked: list[tuple[str, str]] = field(default_factory=list)


class Recorder(Collector):
    """Takes every report of a pass, whatever is asked for, so that it holds for any choice of rules."""

    def __init__(self, conclusion: Conclusion, version: int) -> None:
        super().__init__(None, {}, version)
        self._conclusion = conclusion

    def wants(self, rule: Rule) -> bool:  # noqa: ARG002
        """Every rule is wanted here; the choice is made when the conclusion is told."""
        return True

    def report(self, rule: Rule, message: str, **place: Any) -> None:
        """Keep one report."""
        self._conclusion.reports.append((rule, message, place))


def conclude(context: Context, one: Pass) -> None:
    """Tell what a structural pass says about the declarations of a file, running it only for new ones."""
    known = context.structure.conclusions
    key = (one.name, context.stored, context.version.number)
    if key not in known:
        conclusion = Conclusion()
        stats = Stats()
        one.run(replace(context, collector=Recorder(conclusion, context.collector.version), stats=stats))
        conclusion.not_checked = [(entry["what"], entry["why"]) for entry in stats.not_checked]
        known[key] = conclusion
    for rule, message, place in known[key].reports:
        context.report(rule, message, **place)
    for what, why in known[key].not_checked:
        context.not_checked(what, why)

"""Validation that keeps every place on its own: no grouping, no bound but one for memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from adf_format import structure
from adf_format.container import Container, stored_version
from adf_format.repair.fix import Place
from adf_format.schemas import LATEST, OLDEST, storage_version
from adf_format.validation import engine
from adf_format.validation.context import Context
from adf_format.validation.findings import Collector
from adf_format.validation.report import Stats
from adf_format.validation.rule import Rule, all_rules

MOST = 200_000  # places; beyond, a repair is run again


@dataclass
class Survey:
    """What validation found.

    :ivar places: every place, by rule
    :ivar counts: how many, by rule
    """

    context: Context
    places: dict[str, list[Place]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


class _Recorder(Collector):
    def __init__(self, wanted: frozenset[str] | None, version: int, survey: Survey | None = None) -> None:
        super().__init__(wanted, {}, version)
        self.survey = survey
        self._kept = 0

    def report(
        self,
        rule: Rule,
        message: str,
        *,
        table: str | None = None,
        rowid: int | None = None,
        column: str | None = None,
        pointer: str | None = None,
        fix: str | None = None,  # noqa: ARG002
        file: str | None = None,  # noqa: ARG002
        line: int | None = None,  # noqa: ARG002
    ) -> None:
        """Keep one place."""
        if not self.wants(rule) or self.survey is None:
            return
        self.survey.counts[rule.id] = self.survey.counts.get(rule.id, 0) + 1
        if self._kept < MOST and not (pointer or "").endswith("…"):
            self._kept += 1
            self.survey.places.setdefault(rule.id, []).append(
                Place(rule.id, message, table, rowid, column, pointer or None)
            )


def survey(container: Container, wanted: frozenset[str] | None = None) -> Survey:
    """Validate an open file.

    :param wanted: ids of rules, None for all
    :raises AdfError: a check failed, or a limit was hit
    :raises apsw.Error: the file is damaged
    """
    stored = stored_version(container.connection)
    number = min(max(LATEST if stored is None else stored, OLDEST), LATEST)
    recorder = _Recorder(wanted, number if stored is None else stored)
    context = Context(
        container=container,
        structure=structure.read(container.connection),
        stored=stored,
        version=storage_version(number),
        collector=recorder,
        stats=Stats(),
    )
    found = recorder.survey = Survey(context)
    engine.run(context)
    return found


def severe(counts: dict[str, int]) -> dict[str, int]:
    """Keep the counts of warnings and errors."""
    rules = all_rules()
    return {rule: count for rule, count in counts.items() if rules[rule].severity > 1}

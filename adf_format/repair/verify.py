"""What must be true after a repair, looked at with a fresh connection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import apsw

from adf_format.container import Container
from adf_format.digest import Digest, digest
from adf_format.errors import VerificationError
from adf_format.repair.fix import Kind
from adf_format.repair.plan import Plan, make_plan
from adf_format.repair.scratch import scratch_copy
from adf_format.repair.survey import severe
from adf_format.repair.undo import apply_undo


@dataclass(frozen=True)
class State:
    """What undoing has to bring back.

    :ivar digest: every value; :ivar schema: every table, index, view and trigger, as it was declared
    """

    digest: Digest
    schema: frozenset[tuple[Any, ...]]

    @classmethod
    def of(cls, connection: apsw.Connection) -> Self:
        """Return that of a file."""
        query = "SELECT type, name, tbl_name, sql FROM sqlite_schema"
        return cls(digest(connection), frozenset(connection.execute(query)))

    def differing(self, other: Self) -> list[str]:
        """Return what differs: tables with other values, and things that are declared otherwise."""
        declared = {f"the declaration of {name}" for _, name, *_ in self.schema ^ other.schema}
        return sorted({*self.digest.differing(other.digest), *declared})


def demand_repaired(
    fresh: Container, plan: Plan, kinds: frozenset[Kind], wanted: frozenset[str], undo: bytes | None, before: State
) -> None:
    """Demand that the fixes find nothing more, that nothing new is wrong, and that undoing gives the old agent.

    :raises VerificationError: one of these is not so
    """
    with scratch_copy(fresh.connection, fresh.source) as scratch:
        again = make_plan(scratch, kinds, wanted)
        if again.changes:
            fix = again.changes[0].fixes[0]
            raise VerificationError(f"{fix.rule} is still there after its fix", fresh.source.path)
        _demand_no_worse(fresh, plan, again)
        if undo is not None:
            scratch.connection.authorizer = None
            apply_undo(scratch.connection, undo)
        differing = State.of(scratch.connection).differing(before)
        if differing:
            raise VerificationError(f"more than the repair changed in {', '.join(differing)}", fresh.source.path)


def _demand_no_worse(fresh: Container, plan: Plan, again: Plan) -> None:
    old = severe(plan.before)
    worse = sorted(rule for rule, count in severe(again.before).items() if count > old.get(rule, 0))
    if worse:
        raise VerificationError(f"the repair made findings of {', '.join(worse)}", fresh.source.path)

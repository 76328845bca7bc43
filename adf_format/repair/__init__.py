"""Repair: findings with a known fix, mended by class, shown before and after, and taken back if wanted.

A repair is worked out on a scratch copy, replayed on the file in one transaction, and looked at again with a fresh
connection: the fixes must find nothing more, no warning or error may be new, and taking the changes back must give
the agent from before, told by its digest. If one of these fails, the old file is back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import apsw

from adf_format.container import Change as OpenChange
from adf_format.container import open_for_change, open_readonly, stored_version, translate
from adf_format.errors import NewerSchemaError, UnreadableError
from adf_format.repair import mend
from adf_format.repair.fix import Fix, Kind, Place
from adf_format.repair.fixes import FIXES, fixes_of
from adf_format.repair.mend import Change
from adf_format.repair.plan import Plan, make_plan
from adf_format.repair.scratch import LIMITS, scratch_copy
from adf_format.repair.undo import counters, recorded, rest_of, undo, write_undo
from adf_format.repair.verify import State, demand_repaired
from adf_format.schemas import LATEST, OLDEST
from adf_format.validation.rule import all_rules

__all__ = ["FIXES", "Change", "Fix", "Kind", "Outcome", "Place", "Plan", "fixes_of", "plan", "repair", "undo"]

SAFE = frozenset({Kind.SAFE})


@dataclass(frozen=True)
class Outcome:
    """What a repair did.

    :ivar undo: the changeset that takes it back, None if no row changed
    :ivar backup: the file from before, None if nothing changed
    """

    plan: Plan
    undo: Path | None = None
    backup: Path | None = None


def plan(path: str | Path, kinds: frozenset[Kind] = SAFE, wanted: frozenset[str] | None = None) -> Plan:
    """Work out what a repair would change; the file is only read. Errors as in `repair`."""
    with open_readonly(path, LIMITS) as container:
        _demand_known(container.connection, Path(path))
        try:
            with scratch_copy(container.connection, container.source) as scratch:
                return make_plan(scratch, kinds, _rules(wanted))
        except apsw.Error as exc:
            raise translate(exc, Path(path)) from exc


def repair(
    path: str | Path,
    kinds: frozenset[Kind] = SAFE,
    wanted: frozenset[str] | None = None,
    *,
    agreed: Callable[[Plan], bool] = lambda _: True,
) -> Outcome:
    """Mend a file.

    :param kinds: classes of fixes
    :param wanted: ids of the rules to mend, None for all
    :param agreed: is asked with the plan before anything is written
    :raises VerificationError: the result did not pass its check; the old file is back
    :raises UnreadableError: the file cannot be read or changed; see `open_for_change`
    """
    rules = _rules(wanted)
    made: Path | None = None
    done = False
    try:
        with open_for_change(path) as change:
            _demand_known(change.connection, Path(path))
            with scratch_copy(change.connection, change.source) as scratch:
                found = make_plan(scratch, kinds, rules)
            if not found.changes or not agreed(found):
                return Outcome(found)
            before = State.of(change.connection)
            with change.transaction():
                made = _replay(change, found)
            data = made.read_bytes() if made else None
            change.checks.append(lambda fresh: demand_repaired(fresh, found, kinds, rules, data, before))
        done = True
    finally:
        if made is not None and not done:
            made.unlink(missing_ok=True)
    return Outcome(found, made, change.backup)


def _replay(change: OpenChange, found: Plan) -> Path | None:
    """Carry out what was worked out; the changeset is on disk before the transaction ends."""
    before = counters(change.connection)
    with recorded(change.connection) as session:
        for one in found.changes:
            _demand_old(change, one)
            mend.apply(change.connection, one)
        made = [one.new for one in found.changes if one.action == "index"]
        return write_undo(session, change.source.real_path, rest_of(before, counters(change.connection), made))


def _demand_old(change: OpenChange, one: Change) -> None:
    if one.action == "update" and one.rowid is not None and one.column is not None:
        now = mend.value(change.connection, one.table, one.rowid, one.column)
        if type(now) is not type(one.old) or now != one.old:
            raise UnreadableError("the file is not as it was a moment ago", change.source.path, place=one.table)


def _rules(wanted: frozenset[str] | None) -> frozenset[str]:
    return frozenset(all_rules()) if wanted is None else wanted


def _demand_known(connection: apsw.Connection, path: Path) -> None:
    version = stored_version(connection)
    if version is not None and version > LATEST:
        text = f"storage version {version} is newer than {LATEST}, the newest this tool knows"
        raise NewerSchemaError(text, path, hint="nothing was changed")
    if version is not None and version < OLDEST:
        raise UnreadableError(f"storage version {version} is older than {OLDEST}", path, hint="migrate it first")

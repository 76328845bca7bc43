"""What a repair would change, worked out on a scratch copy."""

from __future__ import annotations

from dataclasses import dataclass, field

from adf_format.container import Container
from adf_format.errors import UnreadableError
from adf_format.repair.fix import Fix, Kind
from adf_format.repair.fixes import FIXES
from adf_format.repair.mend import Change, Mend
from adf_format.repair.survey import Survey, survey

ROUNDS = 8  # a rule explains a bounded number of places, so a fix may find more of them the next time


@dataclass
class Plan:
    """What a repair would change.

    :ivar changes: in order
    :ivar before: how many places break each rule, before
    :ivar after: the same, afterwards
    :ivar offered: fixes that would find something but were not asked for, with the number of places
    :ivar unfixed: places of rules that have no fix, by rule
    """

    changes: list[Change] = field(default_factory=list)
    before: dict[str, int] = field(default_factory=dict)
    after: dict[str, int] = field(default_factory=dict)
    offered: dict[Fix, int] = field(default_factory=dict)
    unfixed: dict[str, int] = field(default_factory=dict)


def make_plan(scratch: Container, kinds: frozenset[Kind], wanted: frozenset[str]) -> Plan:
    """Carry out fixes on a scratch copy until they find nothing more.

    :param kinds: which classes of fixes
    :param wanted: ids of the rules to mend
    :raises UnreadableError: fixes undo each other, which is a fault of ours
    """
    chosen = [fix for fix in FIXES if fix.kind in kinds and fix.rule in wanted]
    first = survey(scratch)
    plan = Plan(before=first.counts)
    mend = Mend(scratch.connection, plan.changes)
    found = first
    for _ in range(ROUNDS):
        if not _round(mend, found, chosen):
            break
        found = survey(scratch)
    else:
        raise UnreadableError("the fixes come to no end", scratch.source.path, hint="please report it with the file")
    plan.after = found.counts
    _tell_rest(plan, found, chosen, wanted)
    return plan


def _round(mend: Mend, found: Survey, chosen: list[Fix]) -> bool:
    """Carry out each fix once; whether anything changed."""
    before = list(mend.changes)
    mend.context = found.context
    for fix in chosen:
        places = found.places.get(fix.rule)
        if places:
            mend.fix = fix
            try:
                fix.run(mend, places)
            except LookupError:
                continue  # an earlier fix removed the row
    return mend.changes != before


def _tell_rest(plan: Plan, found: Survey, chosen: list[Fix], wanted: frozenset[str]) -> None:
    with_fix = {fix.rule for fix in FIXES}
    for rule, count in found.counts.items():
        if rule not in with_fix and rule in wanted:
            plan.unfixed[rule] = count
    for fix in FIXES:
        if fix not in chosen and fix.rule in wanted and found.counts.get(fix.rule):
            plan.offered[fix] = found.counts[fix.rule]

"""Which source a row names, and whether it belongs at this version and at this place."""

from __future__ import annotations

import re
from typing import Any, Literal

from adf_format.schemas.checker import brief
from adf_format.validation.context import Context
from adf_format.validation.rule import Example, Severity, rule
from adf_format.validation.rules.audit.examples import FILE, archived, entry
from adf_format.validation.rules.audit.model import AuditRow, Source

UNKNOWN = rule(
    "ADF515",
    "audit-source-unknown",
    Severity.INFO,
    what="The source of a snapshot is one that this tool knows.",
    why="The set is open, so this is legal; but nothing is known of the blob, and it was not looked at.",
    source=("STO-016", "AUD-006"),
    fires=archived(FILE, "mailbox", ref="NULL"),
    silent=archived(FILE, "file"),
)
FORM = rule(
    "ADF516",
    "named-loop-source-before-29",
    Severity.WARNING,
    what="Below version 29, transcripts are archived under the bare source `loop`.",
    why="Runtimes of that version look for `loop` only: they do not find these entries.",
    source=("AMB-1", "AUD-006"),
    until=28,
    fires=Example(archived([entry(3)], "loop:main"), on=28),
    silent=Example(archived([entry(3)], "loop"), on=28),
)
STALE = rule(
    "ADF517",
    "legacy-source-in-newer-row",
    Severity.WARNING,
    what="The bare source `loop` is not used in a row younger than one that uses `loop:<name>`.",
    why="A writer for version 28 still appends to this file; of which loop its rows were, readers have to guess.",
    source=("AMB-1", "AUD-006", "MIG-006"),
    since=29,
    fires=archived([entry(3)], "loop"),
    silent="UPDATE adf_audit SET source = 'loop' WHERE id = 1",
)
NAME = rule(
    "ADF528",
    "archived-loop-name",
    Severity.ERROR,
    what="What follows `loop:` in a source is a loop name: lower case letters, digits, `_` and `-`, at most 32.",
    why="No loop can have that name, so no reader that asks by loop ever finds these entries.",
    source=("STO-035", "AUD-006"),
    since=29,
    fires=archived([entry(3)], "loop:Main"),
    silent=archived([entry(3)], "loop:old_gardener-2"),
)
RULES = (UNKNOWN, FORM, STALE, NAME)
TRANSCRIPT = "loop:"


class Sources:
    """The sources of one storage version, and how new those met so far are."""

    def __init__(self, context: Context) -> None:
        self._exact: dict[str, Source] = {}
        self._named: list[tuple[re.Pattern[str], Source]] = []
        for one in context.version.audit_sources:
            if "source" in one:
                self._exact[one["source"]] = _source(one, "exact")
            else:
                self._named.append((re.compile(one["pattern"]), _source(one, "named")))
        self._alien = next(
            (_source(one, "alien") for one in context.version.audit_sources if one["policy"] == "loop"), None
        )
        self._newest = 0

    def find(self, value: Any) -> Source | None:
        """Return what is known of a source, None if nothing is."""
        if not isinstance(value, str):
            return None
        exact = self._exact.get(value)
        if exact is not None:
            return exact
        named = next((source for pattern, source in self._named if pattern.fullmatch(value)), None)
        return named or (self._alien if value.startswith(TRANSCRIPT) else None)

    def check(self, row: AuditRow, source: Source | None) -> None:
        """Report what is wrong with the source of a row; rows come in the order in which they were written."""
        value = row.values.get("source")
        if not isinstance(value, str):
            return
        if source is None:
            row.report(UNKNOWN, f"the source {brief(value)} is not known; its blob was not looked at", "source")
        elif source.form == "alien":
            row.report(FORM, f"the source {brief(value)} belongs to versions from 29 on", "source")
            row.report(NAME, f"the source {brief(value)} does not name a possible loop", "source")
        elif source.is_transcript:
            until = source.written_until
            if until is not None and until < self._newest:
                text = f"the source {brief(value)} was given up, and an older row already uses its successor"
                row.report(STALE, text, "source")
            self._newest = max(self._newest, source.written_from)


def _source(one: dict[str, Any], form: Literal["exact", "named", "alien"]) -> Source:
    return Source(
        form=form,
        format=one["format"],
        container=one["container"],
        locator=one["locator"],
        locator_required=one["locator_required"],
        locator_key=one.get("locator_key"),
        policy=one["policy"],
        written_from=one["written_from"],
        written_until=one["written_until"],
    )

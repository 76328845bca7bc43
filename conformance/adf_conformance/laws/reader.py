"""What a reader must answer: the observer reads the same file, and both must agree."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from adf_conformance.laws.untouched import UntouchedJudge, plan_of
from adf_conformance.observe import AgentFile, Entry, Snapshot, Unreadable
from adf_conformance.schedule import Outcome, Scene, Step, judge

ODD = {
    "unknown-table": "reader.unknown-tables",
    "virtual-table": "reader.unknown-tables",
    "unknown-column": "reader.unknown-columns",
    "column-order": "reader.unknown-columns",
    "log-beside": "reader.log-read",
    "lone-surrogate": "reader.surrogates",
    "large-number": "reader.large-numbers",
    "bare-tokens": "reader.usage-number",
    "empty-content": "reader.empty-content",
}
"""Shapes of a file, and the requirement that is broken if a reader stumbles over one."""


def lone_surrogates(entry: Entry) -> bool:
    """Say whether the content holds a lone surrogate."""
    text = json.dumps(entry.blocks, ensure_ascii=False)
    return text != text.encode("utf-8", "replace").decode("utf-8")


def large_numbers(value: Any) -> bool:
    """Say whether a value holds a whole number that 64 bits cannot."""
    if isinstance(value, dict):
        return any(map(large_numbers, value.values()))
    if isinstance(value, list):
        return any(map(large_numbers, value))
    return isinstance(value, int) and abs(value) >= 2**63


@judge("reader")
class ReaderJudge(UntouchedJudge):
    """Compares answers with what the observer reads."""

    methods = frozenset({"transcript/read", "audit/read", "audit/resolve"})
    law = "reader.no-trace"

    def after(self, scene: Scene, step: Step, outcome: Outcome) -> None:
        """Judge an answer."""
        super().after(scene, step, outcome)
        if not self.concerns(step) or outcome.code == -32601 or step.get("expect", "any") != "any":
            return
        try:
            view = scene.look(step["params"]["path"])
        except Unreadable:
            return
        asked = _Asked(scene, view, step, outcome)
        {"transcript/read": asked.transcript, "audit/read": asked.snapshot, "audit/resolve": asked.resolved}[
            step["method"]
        ]()


class _Asked:
    """One answer and the file that it is about."""

    def __init__(self, scene: Scene, view: AgentFile, step: Step, outcome: Outcome) -> None:
        self.scene, self.view, self.outcome = scene, view, outcome
        self.params = step["params"]
        self.plan: dict[str, Any] = dict(plan_of(scene, self.params["path"]))
        self.entries = (outcome.value or {}).get("entries", [])
        self.odd = [law for name, law in ODD.items() if name in self.plan.get("odd", ())]

    def demand(self, law: str, kept: object, message: str, **details: Any) -> None:
        """Demand something about this answer."""
        self.scene.demand(f"reader.{law}", kept, f"{self.asked}: {message}", **details)

    @property
    def asked(self) -> str:
        """What was asked for, in words."""
        if "id" in self.params:
            return f"snapshot {self.params['id']}"
        seq = f"S{self.params['seq']} of " if "seq" in self.params else ""
        return f"{seq}loop {self.params['loop']}"

    # --- transcript/read

    def transcript(self) -> None:
        """Judge a transcript."""
        loop = self.params["loop"]
        expected = self.view.transcript(loop)
        if not expected:
            return self._empty(loop)
        if self.outcome.refused:
            for law in self.odd:
                self.scene.demand(law, kept=False, message=f"refused: {self.outcome.message}")
        self.demand("every-version", not self.outcome.refused, f"refused: {self.outcome.message}")
        self._complete(loop, expected)
        self._ordered(expected)
        self._exact(expected)
        for law in (*self.odd, *(["reader.journal-delete"] if self.plan.get("journal") == "delete" else [])):
            self.scene.ledger.saw(law)
        return None

    def _empty(self, loop: str) -> None:
        law = "empty-loop" if loop == "main" or loop in self.view.declared_loops else "unknown-loop"
        told = [entry.get("seq") for entry in self.entries]
        right = not told and (not self.outcome.refused or law == "unknown-loop")
        self.demand(law, right, f"{told or self.outcome.message} where nothing is right")

    def _complete(self, loop: str, expected: list[Entry]) -> None:
        told, right = [entry["seq"] for entry in self.entries], [entry.seq for entry in expected]
        missing, extra = set(right) - set(told), set(told) - set(right)
        if self.plan.get("log_cut"):
            self.demand("log-uncommitted", not extra, f"gives the rows {sorted(extra)}, which were not committed")
        if self.plan.get("log"):
            lost = [seq for seq in missing if seq > self.plan.get("mark", 0)]
            self.demand("log-read", not lost, f"lacks the rows {sorted(lost)}, which are in the log")
        others = {entry.seq for entry in self.view.entries if entry.loop != loop}
        if others:
            self.demand("one-loop", not extra & others, f"gives the rows {sorted(extra & others)} of other loops")
        law = "before-loops" if self.view.version < 29 else "complete"
        for one in {law, "complete"}:
            self.demand(one, sorted(told) == sorted(right), f"gives the rows {sorted(told)}, right is {sorted(right)}")

    def _ordered(self, expected: list[Entry]) -> None:
        told, right = [entry["seq"] for entry in self.entries], [entry.seq for entry in expected]
        message = f"in the order {told}, right is {right}"
        keys = [entry.key[0] for entry in expected]
        if any(key <= 0 for key in keys):
            self.demand("ord-negative", told == right, message)
        if len(set(keys)) < len(keys):
            by_key = {entry.seq: entry.key[0] for entry in expected}
            ties_only = [by_key.get(seq) for seq in told] == keys
            self.demand("display-order-ties", told == right or not ties_only, message)
        if right != sorted(right):
            self.demand("display-order", told == right, message)

    def _exact(self, expected: list[Entry]) -> None:
        told = {entry["seq"]: entry for entry in self.entries}
        for entry in expected:
            got = told.get(entry.seq, {})
            same = got.get("role") == entry.role and got.get("content_json") == entry.blocks
            details = {"told": got, "right": {"role": entry.role, "content_json": entry.blocks}}
            self.demand(_about(entry), same, f"row {entry.seq} is not as it is stored", **details)

    # --- audit/read

    def snapshot(self) -> None:
        """Judge a decoded snapshot."""
        snapshot = next((one for one in self.view.snapshots if one.id == self.params["id"]), None)
        if snapshot is None:
            return self.demand("snapshot-missing", self.outcome.refused, f"answers {self.entries}")
        if snapshot.value is None:
            return self.demand("snapshot-damaged", self.outcome.refused, f"answers {self.entries}")
        same = not self.outcome.refused and self.entries == snapshot.items
        message = self.outcome.message if self.outcome.refused else "entries are not as they are stored"
        for law in self._laws(snapshot):
            self.demand(law, same, message, told=self.entries[:20], right=snapshot.items[:20])
        return None

    def _laws(self, snapshot: Snapshot) -> Iterator[str]:
        planned = (self.plan.get("snapshots") or [{}] * snapshot.id)[snapshot.id - 1 : snapshot.id]
        if planned and "quality" in planned[0]:
            yield "snapshot-quality"
        if len(snapshot.items) > 1000:
            yield "snapshot-large"
        if any(one.value is None for one in self.view.snapshots):
            yield "snapshot-neighbours"
        if snapshot.units not in {None, snapshot.row["size_bytes"]}:
            yield "snapshot-metadata-wrong"
        if snapshot.source == "loop":
            yield "snapshot-loop-old"
        kinds = {"inbox_message": "object", "outbox_message": "object", "file": "object", "inbox": "batch"}
        yield f"snapshot-{kinds.get(snapshot.source, 'batch' if snapshot.source == 'outbox' else 'exact')}"

    # --- audit/resolve

    def resolved(self) -> None:
        """Judge where an entry is said to be."""
        where, found, laws = self._where()
        told = (self.outcome.value or {}).get("where")
        message = self.outcome.message if self.outcome.refused else f"says {told}, right is {where}"
        for law in laws:
            self.demand(law, told == where, message)
        if found is not None and told == where:
            entry = (self.outcome.value or {}).get("entry") or {}
            same = (entry.get("seq"), entry.get("content_json")) == (found.seq, found.blocks)
            self.demand("resolve-entry", same, "the entry is not as it is stored", told=entry, right=found.blocks)

    def _where(self) -> tuple[str, Entry | None, list[str]]:
        loop, seq = self.params["loop"], self.params["seq"]
        live = next((entry for entry in self.view.transcript(loop) if entry.seq == seq), None)
        held = [(snapshot, entry) for snapshot, entry in self.view.archived(loop) if entry.seq == seq]
        if live is not None:
            return "loop", live, ["resolve-live-first" if held else "resolve-live"]
        if held:
            return "audit", held[-1][1], list(self._archived_laws([snapshot for snapshot, _ in held]))
        if any(entry.seq == seq for entry in self.view.entries) or self._elsewhere(loop, seq):
            return "missing", None, ["resolve-other-loop"]
        return "missing", None, ["resolve-gap" if self._covering(seq) else "resolve-missing"]

    def _archived_laws(self, holders: list[Snapshot]) -> Iterator[str]:
        if self.view.version < 28:
            yield "resolve-old-shape"
        elif all(snapshot.row["start_seq"] is None for snapshot in holders):
            yield "resolve-null-range"
        elif len(self._covering(self.params["seq"])) > len(holders):
            yield "resolve-overlap"
        if self.view.version >= 29 and holders[0].source == "loop":
            yield "snapshot-loop-old"
        if any(snapshot.value is None for snapshot in self.view.snapshots):
            yield "resolve-damaged"
        yield "resolve-archived"

    def _covering(self, seq: int) -> list[Snapshot]:
        def covers(snapshot: Snapshot) -> bool:
            start, end = snapshot.row.get("start_seq"), snapshot.row.get("end_seq")
            return isinstance(start, int) and isinstance(end, int) and start <= seq <= end

        return [snapshot for snapshot in self.view.snapshots if covers(snapshot)]

    def _elsewhere(self, loop: str, seq: int) -> bool:
        others = (snapshot for snapshot in self.view.snapshots if snapshot.loop not in {None, loop})
        return any(entry.seq == seq for snapshot in others for entry in snapshot.entries)


def _about(entry: Entry) -> str:
    """Return the requirement that a row is about, if it is a special one."""
    if lone_surrogates(entry):
        return "surrogates"
    if large_numbers(entry.blocks):
        return "large-numbers"
    if entry.blocks == []:
        return "empty-content"
    return "row-exact"

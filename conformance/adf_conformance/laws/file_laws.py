"""What must be true of the file of an agent after every step, whatever happened (profile `core`)."""

from __future__ import annotations

import re
from typing import Any

from adf_conformance.observe import AgentFile, Entry, Family, Snapshot, Unreadable
from adf_conformance.schedule import Judge, Outcome, Scene, Step, judge, requests

AGENT = "agent.adf"
LOOP_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
REFERENCED = ("inbox_message", "outbox_message", "file")


@judge("file-laws")
class FileLaws(Judge):
    """Compares the file after each step with itself before."""

    def __init__(self) -> None:
        self._rows: dict[int, Entry] = {}
        self._gone: set[int] = set()
        self._snapshots: dict[int, Snapshot] = {}
        self._audited: bool | None = None
        self._requests = 0

    def after(self, scene: Scene, step: Step, outcome: Outcome) -> None:
        """Judge the file, and the model requests that came."""
        self._new_requests(scene)
        if not scene.path(AGENT).exists():
            return
        try:
            view = scene.look()
        except Unreadable as error:
            scene.demand("core.crash-sound", kept=False, message=f"after {step['do']!r}: {error}")
            return
        if step["do"] == "stop" and not outcome.refused:
            beside = Family.of(scene.path(AGENT)).sidecars(scene.path(AGENT))
            scene.demand("core.stop-alone", not beside, f"left beside the file: {', '.join(beside)}")
        if step["do"] == "kill":
            self._crashed(scene, view)
        self._judge(scene, view)

    def _crashed(self, scene: Scene, view: AgentFile) -> None:
        sound = view.integrity()
        scene.demand("core.crash-sound", sound == "ok", f"after a crash the file is {sound}")
        archived = {entry.seq for snapshot in view.snapshots for entry in snapshot.entries}
        lost = self._rows.keys() - {entry.seq for entry in view.entries} - archived
        if self._audited:
            scene.demand("core.crash-no-loss", not lost, f"the rows {sorted(lost)} were there before the crash")

    def _judge(self, scene: Scene, view: AgentFile) -> None:
        audited = loop_audit(view)
        for snapshot in view.snapshots:
            if snapshot.id not in self._snapshots:
                self._new_snapshot(scene, snapshot)
        self._old_snapshots(scene, view)
        self._transcripts(scene, view, audited=audited and self._audited is not False)
        self._snapshots = {snapshot.id: snapshot for snapshot in view.snapshots}
        self._audited = audited

    # --- transcripts

    def _transcripts(self, scene: Scene, view: AgentFile, *, audited: bool) -> None:
        now = {entry.seq: entry for entry in view.entries}
        for seq, entry in now.items():
            if seq not in self._rows:
                self._new_row(scene, entry)
            else:
                same = entry.content() == self._rows[seq].content() and entry.ord == self._rows[seq].ord
                scene.demand("core.seq-never-renumbered", same, f"row {seq} changed: {entry}, was {self._rows[seq]}")
        gone = self._rows.keys() - now.keys()
        if gone and audited:
            archived = {entry.seq for snapshot in view.snapshots for entry in snapshot.entries}
            lost = sorted(gone - archived)
            scene.demand("core.vanished-archived", not lost, f"the rows {lost} are neither live nor archived")
        self._gone |= gone
        self._rows = now

    def _new_row(self, scene: Scene, entry: Entry) -> None:
        seq = entry.seq
        scene.demand(
            "core.seq-increases", seq > self._highest_row, f"a new row has seq {seq}, {self._highest_row} was given"
        )
        if self._gone:
            scene.demand("core.seq-never-reused", seq not in self._gone, f"seq {seq} was given before")
        form = entry.role in {"user", "assistant"} and entry.blocks is not None
        scene.demand("core.row-shape", form, f"row {seq}: role {entry.role!r}, content {entry.blocks}")
        scene.demand("core.no-system-role", entry.role != "system", f"row {seq} has the role system")
        usage = entry.tokens is None or isinstance(entry.tokens, dict)
        scene.demand("core.usage-object", usage, f"row {seq}: tokens {entry.tokens!r}")
        named = bool(LOOP_NAME.fullmatch(str(entry.loop)))
        scene.demand("loops.stream-column", named, f"row {seq} belongs to {entry.loop!r}")
        if entry.is_context:
            form = entry.role == "user" and len(entry.blocks or []) == 1 and "]" in entry.text
            scene.demand("core.context-row-form", form, f"context row {seq}: role {entry.role}, {entry.blocks}")

    @property
    def _highest_row(self) -> int:
        return max([*self._rows, *self._gone, 0])

    # --- snapshots

    def _old_snapshots(self, scene: Scene, view: AgentFile) -> None:
        now = {snapshot.id: snapshot.row for snapshot in view.snapshots}
        for number, snapshot in self._snapshots.items():
            kept = now.get(number) == snapshot.row
            scene.demand(
                "core.audit-append-only", kept, f"snapshot {number} {'changed' if number in now else 'is gone'}"
            )

    def _new_snapshot(self, scene: Scene, snapshot: Snapshot) -> None:
        def demand(law: str, kept: object, message: str) -> None:
            scene.demand(f"core.audit-{law}", kept, f"snapshot {snapshot.id} ({snapshot.source}): {message}")

        row = snapshot.row
        demand("readable", snapshot.value is not None, "no brotli stream of JSON")
        demand("count", row["entry_count"] == len(snapshot.items), f"{row['entry_count']} of {len(snapshot.items)}")
        sizes = {snapshot.units, len((snapshot.text or "").encode("utf-8", "surrogatepass"))}
        demand("size", row["size_bytes"] in sizes, f"size {row['size_bytes']}, the text has {sorted(map(str, sizes))}")
        span = (row.get("start_seq"), row.get("end_seq"))
        both = span != (None, None) and row.get("ref") is not None
        right = span != (None, None) if snapshot.loop is not None else row.get("ref") is not None
        known = snapshot.loop is not None or snapshot.source in REFERENCED
        demand("one-locator", not both and (right or not known), f"range {span}, reference {row.get('ref')!r}")
        if snapshot.loop is not None:
            self._new_archive(scene, snapshot, demand, span)

    def _new_archive(self, scene: Scene, snapshot: Snapshot, demand: Any, span: tuple[Any, Any]) -> None:
        demand("source", LOOP_NAME.fullmatch(snapshot.loop or ""), "the source names no loop")
        seqs = [entry.seq for entry in snapshot.entries]
        right = (min(seqs), max(seqs)) if seqs else (None, None)
        demand("range", span == right, f"range {span}, right is {right}")
        shaped = [item for item in snapshot.items if _shaped(item)]
        demand("entry-shape", len(shaped) == len(snapshot.items), f"{len(shaped)} of {len(snapshot.items)} entries are")
        keys = [entry.key for entry in snapshot.entries]
        demand("display-order", keys == sorted(keys), f"the order is {keys}")
        known = [(entry, self._rows[entry.seq]) for entry in snapshot.entries if entry.seq in self._rows]
        wrong = [entry.seq for entry, was in known if entry.content() != was.content() or was.loop != snapshot.loop]
        if known:
            scene.demand("core.audit-entry-exact", not wrong, f"the archived rows {wrong} are not what they were")

    # --- requests

    def _new_requests(self, scene: Scene) -> None:
        calls = scene.model_calls
        for call in calls[self._requests :]:
            if call.purpose == "turn" and any("tool" in str(block.get("type")) for block in _blocks(call.params)):
                problem = requests.sequence_problem(call.params)
                scene.demand(
                    "core.request-pairs", problem is None, f"model call {call.number} of {call.loop}: {problem}"
                )
        self._requests = len(calls)
        for loop in {call.loop for call in scene.open_calls}:
            turns = [call for call in scene.open_calls if call.loop == loop and call.purpose == "turn"]
            scene.demand("loops.one-turn-at-a-time", len(turns) < 2, f"loop {loop} has {len(turns)} open model calls")


def loop_audit(view: AgentFile) -> bool:
    """Say whether clears and compactions are archived (AUD-001)."""
    context = view.config.get("context")
    own = context.get("audit") if isinstance(context, dict) else None
    chosen = own if isinstance(own, dict) else view.config.get("audit")
    return isinstance(chosen, dict) and chosen.get("loop") is True


def _shaped(item: Any) -> bool:
    """Say whether an archived entry has its keys (AUD-020)."""
    return (
        isinstance(item, dict)
        and isinstance(item.get("seq"), int)
        and item.get("role") in {"user", "assistant"}
        and isinstance(item.get("content_json"), list)
        and isinstance(item.get("created_at"), int)
    )


def _blocks(params: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for message in params["messages"] for block in message["content"]]

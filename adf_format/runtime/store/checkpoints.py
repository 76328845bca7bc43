"""Records of the turn that runs, one per loop, so that a crash in the middle is noticed (ROW-030, LOOP-270)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adf_format.audit import javascript_json
from adf_format.errors import AdfError
from adf_format.jsontext import decode

if TYPE_CHECKING:
    from adf_format.runtime.store.store import Store

KEY = "adf_runtime_turn_checkpoint"
BASELINE = "context_baseline_tokens"
MAIN = "main"


def key_of(base: str, loop: str) -> str:
    """Return the key in `adf_meta` for a loop."""
    return base if loop == MAIN else f"{base}:{loop}"


class Checkpoints:
    """Turn checkpoints and the sizes of contexts, both kept in `adf_meta`, readonly."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def begin(self, loop: str, turn: str, event_type: str) -> None:
        """A turn begins."""
        now = self._store.now()
        record = {"id": turn, "status": "in_progress", "started_at": now, "updated_at": now}
        self._put(loop, record | {"event_type": event_type, "scope": "agent", "replay": "not_attempted"})

    def end(self, loop: str, status: str, reason: str | None = None) -> None:
        """The turn that was begun has ended: `completed`, `interrupted` or `failed`."""
        record = self._read(loop) or {}
        now = self._store.now()
        record |= {"status": status, "updated_at": now, "completed_at": now}
        if reason is not None:
            record["reason"] = reason
        self._put(loop, record)

    def stale(self) -> list[tuple[str, bool]]:
        """Return `(loop, malformed)` of turns that were running when the agent last stopped."""
        sql = "SELECT key FROM adf_meta WHERE key = ? OR key GLOB ?"
        found: list[tuple[str, bool]] = []
        for (key,) in self._store.connection.execute(sql, (KEY, f"{KEY}:*")).fetchall():
            loop = str(key)[len(KEY) + 1 :] or MAIN
            record = self._read(loop)
            if record is None or record.get("status") == "in_progress":
                found.append((loop, record is None))
        return found

    def recover(self, loop: str, *, malformed: bool) -> None:
        """Mark the turn of a crashed session as interrupted; it is not run again (ROW-031)."""
        now = self._store.now()
        kept = self._read(loop) or {"id": "unknown", "started_at": now, "event_type": "unknown", "scope": "unknown"}
        reason = "malformed_checkpoint" if malformed else "stale_checkpoint_recovered_on_load"
        outcome = {"status": "interrupted", "updated_at": now, "completed_at": now}
        self._put(loop, kept | outcome | {"replay": "not_replayed", "reason": reason})

    def drop(self, loop: str) -> None:
        """Forget a loop that is gone."""
        for base in (KEY, BASELINE):
            self._store.meta.delete(key_of(base, loop))

    def baseline(self, loop: str) -> int | None:
        """Return the size of a loop's context in tokens, as last recorded (ROW-025)."""
        text = self._store.meta.get(key_of(BASELINE, loop))
        record = _object(text)
        tokens = record.get("tokens") if record else None
        usable = isinstance(tokens, int | float) and not isinstance(tokens, bool) and 0 <= tokens < float("inf")
        return int(tokens) if usable and tokens is not None else None

    def measure(self, loop: str, tokens: int, *, estimated: bool) -> None:
        """Record the size of a loop's context."""
        record = {"tokens": tokens, "estimated": estimated, "updated_at": self._store.now()}
        self._store.meta.set(key_of(BASELINE, loop), javascript_json(record), "readonly")

    def unmeasure(self, loop: str) -> None:
        """Forget the size of a loop's context: its history was cleared or condensed (ROW-025)."""
        self._store.meta.delete(key_of(BASELINE, loop))

    def _put(self, loop: str, record: dict[str, Any]) -> None:
        self._store.meta.set(key_of(KEY, loop), javascript_json(record), "readonly")

    def _read(self, loop: str) -> dict[str, Any] | None:
        return _object(self._store.meta.get(key_of(KEY, loop)))


def _object(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = decode(text).value
    except AdfError:
        return None
    return value if isinstance(value, dict) else None

"""Damaged bytes: findings, or one clear refusal; a clean report only where the file still says the same."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from robustness import bases, logical
from robustness.arena import Arena
from robustness.damage import FRAME_HEADER, LOG_HEADER, Damaged, damage, header_faults, page_cuts

SHARDS = 8
SEEDS_PER_BASE = 32  # 7 bases x 8 shards x 32 = 1,792 seeded cases, and some 250 systematic ones

# A bit flipped inside such a value makes another valid file: SQLite has no checksums, and any text is legal there.
# Columns that an index, a figure or a second copy repeats are not listed: a change there must be found.
FREE_TEXT = {
    "adf_meta": "key value",
    "adf_config": "config_json updated_at",
    "adf_loop": "content_json model tokens",
    "adf_inbox": "to reply_to network parent_id subject content content_type attachments meta sender_alias"
    " recipient_alias owner card return_path source_context original_message",
    "adf_outbox": "from to address reply_to network parent_id subject content content_type attachments meta"
    " sender_alias recipient_alias owner card return_path original_message",
    "adf_timers": "schedule_json payload lambda",
    "adf_files": "content mime_type created_at updated_at",
    "adf_audit": "data",
    "adf_identity": "value",
    "adf_tasks": "tool args result error origin approval_meta",
    "adf_logs": "event target message data",
    "local_notes": "note body text title",
}
CHECKED_NUMBERS = {
    "adf_files": "size authorized",
    "adf_audit": "entry_count size_bytes start_seq end_seq",
    "adf_inbox": "received_at",
    "adf_timers": "next_wake_at",
    "sqlite_sequence": "",
}


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    with Arena(tmp_path_factory.mktemp("arena")) as found:
        yield found


class Proof:
    """One base: what it says and what is found in it before it is damaged."""

    def __init__(self, name: str, folder: Path, arena: Arena) -> None:
        self.base = bases.make(name, folder)
        self.path = folder / "case.adf"
        self.arena = arena
        self.counts: Counter[str] = Counter()
        whole = self.base.write(self.path)
        answer = arena.judge(whole)
        assert "traceback" not in answer, answer["traceback"]
        assert answer["valid"], answer
        self.before = _findings(answer)
        self.said = logical.read(self.base.write(self.path))
        self.earlier = list(self._earlier_states())

    def _earlier_states(self) -> Iterator[logical.Logical]:
        """Yield what the file said before each transaction in its log: what a cut log leads back to."""
        log, frame = self.base.log, FRAME_HEADER + self.base.page_size
        for end in range(LOG_HEADER, len(log or b""), frame):
            assert log is not None
            yield logical.read(bases.write(self.path, self.base.main, log[:end]))

    def hold(self, one: Damaged) -> None:
        """Hold the validator to its promise for one damaged file.

        :raises AssertionError: it broke it
        """
        answer = self.arena.judge(bases.write(self.path, one.main, one.log))
        assert "traceback" not in answer, f"{one.what}: {answer['traceback']}"
        if answer.get("error"):
            assert "\n" not in answer["error"], f"{one.what}: {answer['error']}"
            self.counts["refused"] += 1
        elif _findings(answer) - self.before:
            self.counts["found"] += 1
        else:
            self._neutral(one)

    def _neutral(self, one: Damaged) -> None:
        try:
            said = logical.read(bases.write(self.path, one.main, one.log))
        except sqlite3.DatabaseError as error:
            raise AssertionError(f"{one.what}: a clean report, but SQLite says {error}") from error
        if said in self.earlier:
            self.counts["an earlier state"] += 1
            return
        cells = logical.differences(self.said, said)
        assert cells is not None, f"{one.what}: a clean report, but rows or declarations are not the same"
        self.counts["another valid file" if cells else "neutral"] += 1
        for cell in cells:
            assert _undetectable(cell), f"{one.what}: a clean report, but {cell}"


def _findings(answer: dict[str, Any]) -> Counter[str]:
    found: Counter[str] = Counter()
    for finding in answer["findings"]:
        kept = {key: value for key, value in finding.items() if key not in {"examples", "count"}}
        found[json.dumps(kept, sort_keys=True)] += finding.get("count", 1)
    return found


def _undetectable(cell: logical.Cell) -> bool:
    if isinstance(cell.after, int):
        return cell.column not in CHECKED_NUMBERS.get(cell.table, "").split()
    return cell.column in FREE_TEXT.get(cell.table, "").split()


@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.parametrize("name", bases.names())
def test_seeded_damage_gives_findings_or_a_refusal(name: str, shard: int, tmp_path: Path, arena: Arena) -> None:
    """1,792 seeded damages: no crash, no hang, no flood, nothing left behind, and no damage that is overlooked."""
    proof = Proof(name, tmp_path, arena)
    for seed in range(shard * SEEDS_PER_BASE, (shard + 1) * SEEDS_PER_BASE):
        proof.hold(damage(proof.base, seed))
    assert sum(proof.counts.values()) == SEEDS_PER_BASE
    assert proof.counts["found"] + proof.counts["refused"] >= SEEDS_PER_BASE // 3
    sys.stdout.write(f"{name} shard {shard}: {dict(proof.counts)}\n")


@pytest.mark.parametrize("name", bases.names())
def test_every_header_field_and_every_page_boundary(name: str, tmp_path: Path, arena: Arena) -> None:
    """Each header field set to zeros and to ones; the file cut at each page boundary (64 of them, if it has more)."""
    proof = Proof(name, tmp_path, arena)
    cuts = page_cuts(proof.base)
    step = max(1, len(cuts) // 64)
    for one in (*header_faults(proof.base), *cuts[::step]):
        proof.hold(one)
    sys.stdout.write(f"{name}: {dict(proof.counts)}\n")

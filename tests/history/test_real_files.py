"""The past of real files: what their makers say was archived is found, and the damaged file names its four rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adf_format.container import open_readonly
from adf_format.history import Item, coverage, resolve, trace, transcript

REAL = Path(__file__).resolve().parents[3] / "shared" / "real-files"  # read only, absent elsewhere
MANIFEST: list[dict[str, Any]] = (
    json.loads((REAL / "manifest.json").read_text("utf-8"))["files"] if (REAL / "manifest.json").is_file() else []
)
pytestmark = pytest.mark.skipif(not MANIFEST, reason="the real files are not here")
WHOLE = [one for one in MANIFEST if "corrupt" not in one["file"]]
SUMMARIES = {
    "v0.4.2_compact_voluntary.adf": (35, 1),
    "v0.4.2_compact_auto.adf": (44, 1),
    "v0.4.2_audited.adf": (119, 7),
}


@pytest.mark.parametrize("facts", WHOLE, ids=lambda one: one["file"])
def test_every_row_that_was_ever_written_is_found(facts: dict[str, Any]) -> None:
    """Archiving was on in all of them, so nothing is gone."""
    with open_readonly(REAL / facts["file"]) as container:
        known = coverage(container)
        assert known.complete
        assert known.gone == []
        assert known.highest == facts["sqlite_sequence"].get("adf_loop", 0)
        assert known.loops["main"].live.count() == facts["counts"]["adf_loop"]
        for row in facts["audit_rows"]:
            checked = known.survey.checked[row["id"]]
            assert checked.entries == row.get("items", 1)
            for seq in (row["first_seq"], row["last_seq"]) if row["source"] == "loop" else ():
                assert row["id"] in [place.audit_id for place in resolve(container, "main", seq).places]
        assert all(resolve(container, None, seq).found for seq in range(1, known.highest + 1, 7))
        life = [item.place.entry.seq for item in transcript(container, "main", history=True) if isinstance(item, Item)]
    assert life == list(range(1, known.highest + 1))


@pytest.mark.parametrize("name", SUMMARIES)
def test_summaries_are_matched_with_the_snapshot_of_their_compaction(name: str) -> None:
    """The oracle of real compactions."""
    seq, audit_id = SUMMARIES[name]
    with open_readonly(REAL / name) as container:
        known = coverage(container)
    assert [(one.summary.seq, one.audit_id) for one in known.matches] == [(seq, audit_id)]


@pytest.mark.parametrize("pair", [("v0.1.5_audited", 128), ("v0.3.2_audited", 148)], ids=lambda pair: pair[0])
def test_what_could_be_found_before_migration_is_found_the_same_after(pair: tuple[str, int]) -> None:
    name, archived = pair
    with (
        open_readonly(REAL / f"{name}.adf") as old,
        open_readonly(REAL / f"{name}_migrated_v28.adf") as new,
    ):
        for seq in range(1, archived + 1, 5):
            before, after = resolve(old, None, seq), resolve(new, None, seq)
            assert before.found
            assert before.places == after.places


def test_the_damaged_file_names_its_four_rows_and_still_gives_the_others() -> None:
    with open_readonly(REAL / "v0.3.2_audited_corrupt.adf") as container:
        known = coverage(container)
        assert [one.row.id for one in known.survey.damaged()] == [1, 2, 3, 23]
        lost = [(gap.start, gap.end, gap.audit_ids) for gap in known.gone]
        assert lost == [(1, 10, (1, 2, 3)), (13, 18, (1, 2, 3)), (56, 60, (1, 2, 3))]
        assert not known.complete
        assert [row.id for row, _ in resolve(container, None, 5).damaged] == [1, 2, 3]
        assert resolve(container, None, 11).found
        assert trace(container, 5).state == "gone"


def test_rows_in_the_log_of_a_crashed_writer_count() -> None:
    with open_readonly(REAL / "v0.4.2_crash_live.adf") as container:
        known = coverage(container)
    assert (known.highest, known.loops["main"].live.count()) == (50, 45)
    assert known.complete

"""Why rows are gone, what stands for them, and where they are found again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import pytest

from adf_format import audit, sample
from adf_format.config.policy import audit_policy
from adf_format.container import open_readonly
from adf_format.history import Gap, Item, coverage, resolve, snapshots, trace, transcript
from adf_format.history.loops import loops, names
from adf_format.history.summaries import APART
from tests.history.past_support import START, SUMMARY, Snap, agent, row


def audits(on: bool) -> str:
    """SQL that switches the archiving of transcripts on or off, in a configuration without inner loops."""
    flags = json.dumps({"loop": on})
    changed = f"json_set(json_remove(config_json, '$.context.audit', '$.loops'), '$.audit', json('{flags}'))"
    return f"UPDATE adf_config SET config_json = {changed}"


def gaps(path: Path) -> list[tuple[int, int, str]]:
    with open_readonly(path) as container:
        return [(gap.start, gap.end, gap.reason) for gap in coverage(container).gone]


def complete(path: Path) -> bool:
    with open_readonly(path) as container:
        return coverage(container).complete


class TestPolicy:
    @pytest.mark.parametrize(
        ("config", "on"),
        [
            ({}, False),
            ({"audit": {"loop": True}}, True),
            ({"audit": {"loop": True}, "context": {"audit": None}}, True),
            ({"audit": {"loop": True}, "context": {"audit": {}}}, False),
            ({"audit": {"loop": True}, "context": {"audit": {"inbox": True}}}, False),
            ({"context": {"audit": {"loop": True}}}, True),
            ({"audit": "yes"}, False),
        ],
    )
    def test_the_whole_object_counts(self, config: dict[str, Any], on: bool) -> None:
        """AUD-001: keys are not merged."""
        assert audit_policy(config)["loop"] is on


class TestReasons:
    def test_the_configuration_explains_what_was_never_archived(self, tmp_path: Path) -> None:
        path = agent(tmp_path / "a", [row(1, "a"), row(5, "b")], [], audits(False), counter=7)
        assert gaps(path) == [(2, 4, "audit-off"), (6, 7, "audit-off")]
        assert complete(path)

    def test_with_archiving_on_the_reason_is_not_known(self, tmp_path: Path) -> None:
        path = agent(tmp_path / "a", [row(3, "a")], [], audits(True))
        assert gaps(path) == [(1, 2, "unknown")]
        assert not complete(path)

    def test_an_unreadable_configuration_explains_nothing(self, tmp_path: Path) -> None:
        path = agent(tmp_path / "a", [row(3, "a")], [], "UPDATE adf_config SET config_json = '{'")
        assert gaps(path) == [(1, 2, "unknown")]

    def test_a_summary_without_archiving_explains_what_it_replaced(self, tmp_path: Path) -> None:
        """CMP-027: the marker says so; what an earlier step archived stays archived."""
        live = [row(9, "[Loop Compacted] all of it"), row(12, "x")]
        snaps = [Snap("main", [(1, "a"), (2, "b")])]
        path = agent(tmp_path / "a", live, snaps, audits(True), counter=12)
        assert gaps(path) == [(3, 8, "compacted-unaudited"), (10, 11, "unknown")]
        with open_readonly(path) as container:
            found = trace(container, 4)
        assert [step.seq for step in found.steps] == [4, 9]
        assert found.steps[0].match is None

    def test_the_range_of_a_damaged_snapshot_explains_its_rows(self, tmp_path: Path) -> None:
        snaps = [Snap("main", [(2, "a"), (4, "b")], damage="garbage"), Snap("main", [(6, "c")], "none", "garbage")]
        path = agent(tmp_path / "a", [row(3, "x")], snaps, audits(True), counter=6)
        with open_readonly(path) as container:
            found = coverage(container)
        told = [(gap.start, gap.end, gap.reason, gap.audit_ids) for gap in found.gone]
        damaged = "damaged-snapshot"
        assert told == [(1, 1, damaged, (2,)), (2, 2, damaged, (1,)), (4, 4, damaged, (1,)), (5, 6, damaged, (2,))]
        assert all(gap.known for gap in found.gone)
        assert not found.complete

    def test_a_deleted_snapshot_is_noticed_in_the_append_only_table(self, tmp_path: Path) -> None:
        """AUD-005, AUD-040."""
        snaps = [Snap("main", [(seq, "a")]) for seq in (1, 2, 3, 4)]
        path = agent(tmp_path / "a", [], snaps, "DELETE FROM adf_audit WHERE id IN (2, 4)", audits(True), counter=4)
        assert gaps(path) == [(2, 2, "snapshot-deleted"), (4, 4, "snapshot-deleted")]
        with open_readonly(path) as container:
            assert list(coverage(container).deleted.numbers()) == [2, 4]
        assert not complete(path)

    def test_a_clone_may_start_without_snapshots(self, tmp_path: Path) -> None:
        parent = "INSERT OR REPLACE INTO adf_meta (key, value) VALUES ('adf_parent_did', 'did:key:z6MkParent')"
        snaps = [Snap("main", [(1, "a")])]
        path = agent(tmp_path / "a", [], snaps, parent, "DELETE FROM adf_audit", audits(True), counter=3)
        assert gaps(path) == [(1, 3, "cloned")]
        assert complete(path)

    def test_of_several_loops_nobody_knows_whose_a_lost_row_was(self, tmp_path: Path) -> None:
        """STO-034: one counter for all."""
        path = agent(tmp_path / "a", [row(1, "a"), row(4, "b", loop="side")], [], audits(True))
        with open_readonly(path) as container:
            assert [gap.loop for gap in coverage(container).gone] == [None]
        single = agent(tmp_path / "b", [row(1, "a"), row(4, "b")], [], audits(True))
        with open_readonly(single) as container:
            assert [gap.loop for gap in coverage(container).gone] == ["main"]

    def test_two_loops_with_one_row_contradict_each_other(self, tmp_path: Path) -> None:
        path = agent(tmp_path / "a", [row(1, "a")], [Snap("side", [(1, "b")])], audits(True))
        with open_readonly(path) as container:
            found = coverage(container)
        assert list(found.contested.numbers()) == [1]
        assert found.loops["main"].differing
        assert not found.complete

    @pytest.mark.parametrize(
        ("change", "code"),
        [
            ("entry_count = 9", "entry-count"),
            ("size_bytes = size_bytes + 5", "size-bytes"),
            ('data = brotli(\'[{"seq":1},{"seq":1}]\')', "seq-twice"),
            ("data = brotli('[{\"seq\":1},{}]')", "no-seq"),
            ('data = brotli(\'[{"seq":1},{"seq":4611686018427387904}]\')', "no-seq"),
            ("data = brotli('[1,')", "not-json"),
            ("data = brotli('{}')", "wrong-shape"),
            ("data = CAST(data || x'00' AS BLOB)", "trailing-bytes"),
            ("data = CAST(substr(data, 1, length(data) - 1) AS BLOB)", "truncated"),
            ("data = x'ffff'", "not-brotli"),
        ],
    )
    def test_every_damage_has_a_name(self, tmp_path: Path, change: str, code: str) -> None:
        path = agent(tmp_path / "a", [], [Snap("main", [(1, "a")])], f"UPDATE adf_audit SET {change}")
        with open_readonly(path) as container:
            (found,) = coverage(container).survey.checked.values()
        assert code in [problem.code for problem in found.problems]
        assert not found.sound

    def test_a_range_that_leaves_entries_out_is_only_noted(self, tmp_path: Path) -> None:
        """AMB-9: migration takes first and last; the rows are found all the same."""
        path = agent(tmp_path / "a", [], [Snap("main", [(3, "a"), (2, "b")])], "UPDATE adf_audit SET start_seq = 3")
        with open_readonly(path) as container:
            (found,) = coverage(container).survey.checked.values()
            assert [problem.code for problem in found.problems] == ["range"]
            assert found.sound
            assert resolve(container, None, 2).outside == [1]

    def test_archived_files_are_looked_into(self, tmp_path: Path) -> None:
        made = audit.encode_file("notes/a.md", b"abc", None)
        wrong = made.text.replace('"size":3', '"size":4')
        for at, (text, sound) in enumerate(((made.text, True), (wrong, False), ('{"path":"a"}', False))):
            insert = (
                "INSERT INTO adf_audit (source, ref, entry_count, size_bytes, data, created_at)"
                f" VALUES ('file', 'notes/a.md', 1, {len(text)}, brotli('{text}'), 1)"
            )
            with open_readonly(agent(tmp_path / f"{at}", [], [], insert)) as container:
                (found,) = coverage(container).survey.checked.values()
            assert found.sound is sound


class TestSummaries:
    @pytest.mark.parametrize(
        ("apart", "fits"), [(0, True), (-900, True), (APART, True), (APART + 1, False), (-1001, False)]
    )
    def test_a_summary_stands_for_the_snapshot_made_just_before(self, tmp_path: Path, apart: int, fits: bool) -> None:
        live = [row(4, SUMMARY) | {"created_at": START + apart}]
        snaps = [Snap("main", [(1, "a")], at=START - 1000), Snap("main", [(2, "b"), (3, "c")], at=START)]
        with open_readonly(agent(tmp_path / "a", live, snaps)) as container:
            found = trace(container, 3)
        if fits:
            assert found.steps[0].summary is not None
            assert found.steps[0].match is not None
            assert (found.steps[0].match.audit_id, found.steps[0].match.apart_ms) == (2, apart)
        else:
            assert found.steps[0].match is None or found.steps[0].match.audit_id == 1
        assert found.state == "archived"

    def test_a_chain_of_summaries_leads_to_what_is_live(self, tmp_path: Path) -> None:
        """VEC-3: an archived summary stands first in its snapshot, with the highest seq."""
        snaps = [
            Snap("main", [(1, "a"), (2, "b")], at=START + 5000),
            Snap("main", [(5, SUMMARY), (3, "c"), (4, "d")], at=START + 8000),
        ]
        live = [row(6, "e"), row(7, "f"), row(8, SUMMARY, ord=5)]
        with open_readonly(agent(tmp_path / "a", live, snaps)) as container:
            assert [(step.seq, step.state) for step in trace(container, 1).steps] == [
                (1, "archived"),
                (5, "archived"),
                (8, "live"),
            ]
            assert [step.seq for step in trace(container, 4).steps] == [4, 8]
            order = [item.place.entry.seq for item in transcript(container, "main") if isinstance(item, Item)]
            assert order == [8, 6, 7]
            life = [item for item in transcript(container, "main", history=True) if isinstance(item, Item)]
        assert [item.place.entry.seq for item in life] == [1, 2, 3, 4, 5, 6, 7, 8]
        marked = {item.place.entry.seq: item.match.audit_id for item in life if item.summary and item.match}
        assert marked == {5: 1, 8: 2}

    def test_of_another_loop_no_snapshot_fits(self, tmp_path: Path) -> None:
        snaps = [Snap("side", [(1, "a")], at=START + 2000)]
        with open_readonly(agent(tmp_path / "a", [row(2, SUMMARY)], snaps)) as container:
            assert coverage(container).matches == []

    def test_a_text_that_mentions_the_marker_is_no_summary(self, tmp_path: Path) -> None:
        with open_readonly(agent(tmp_path / "a", [row(1, f"they said {SUMMARY}")])) as container:
            assert coverage(container).summaries == []

    def test_a_trace_always_ends(self, tmp_path: Path) -> None:
        """A summary in the snapshot that it would stand for is no ancestor of itself."""
        snaps = [Snap("main", [(1, SUMMARY), (2, SUMMARY)], at=START + 2000)]
        with open_readonly(agent(tmp_path / "a", [], snaps)) as container:
            assert len(trace(container, 1).steps) == 1


class TestCitations:
    @pytest.mark.parametrize(
        ("text", "cites"),
        [
            ("as said [S12]", True),
            ("[S3, S12] both", True),
            ("sources: [S3,S12]", True),
            ("- adf-audit://seq/12", True),
            ("  - S12", True),
            ("- 'S12'", True),
            ("S12 without brackets", False),
            ("[S123]", False),
            ("[S1]", False),
            ("[XS12]", False),
            ("adf-audit://seq/123", False),
            ("[USER S12]", True),
        ],
    )
    def test_what_counts_as_a_citation(self, tmp_path: Path, text: str, cites: bool) -> None:
        """MEM-160; lists in front matter too."""
        page = (
            "INSERT INTO adf_files (path, content, size, created_at, updated_at)"
            f" VALUES ('mind/beds.md', CAST('# Beds' || char(10) || '{text.replace(chr(39), chr(39) * 2)}' AS BLOB),"
            " 1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')"
        )
        with open_readonly(agent(tmp_path / "a", [row(12, "x")], [], page)) as container:
            found = trace(container, 12).pages
        assert [(one.path, one.line) for one in found] == ([("mind/beds.md", 2)] if cites else [])


def test_the_sample_of_every_version_is_complete(tmp_path: Path) -> None:
    for version in range(21, 33):
        sample.build(tmp_path / "s.adf", version)
        with open_readonly(tmp_path / "s.adf") as container:
            found = coverage(container)
            assert found.complete
            assert found.highest == (21 if version >= 29 else 19)
            for seq in range(1, found.highest + 1):
                assert resolve(container, None, seq).found
            assert [(one.summary.seq, one.audit_id) for one in found.matches] == [(9, 1)]
            eras = {row.kind: row.era for row in snapshots(container)}
            assert eras["inbox"] == "until 27"
            assert eras["loop"] == ("until 27" if version < 28 else "28" if version == 28 else "from 29")


def test_a_rebuilt_history_shows_both_versions(tmp_path: Path) -> None:
    """ROW-013: the same seq live and archived, with different content."""
    live = [row(1, "new"), row(2, "same")]
    path = agent(tmp_path / "a", live, [Snap("main", [(1, "old"), (2, "same")]), Snap("main", [(1, "new")])])
    with open_readonly(path) as container:
        items = [item for item in transcript(container, "main", history=True) if not isinstance(item, Gap)]
        found = coverage(container)
    assert [(copy.audit_id, copy.entry.content[0]["text"]) for copy in items[0].copies] == [(1, "old")]
    assert items[1].copies == ()
    assert list(found.loops["main"].differing.numbers()) == [1]
    assert found.complete


def test_snapshots_far_out_of_order_and_many_at_once_are_merged(tmp_path: Path) -> None:
    """More snapshots that take turns than are ever open at once, each of them backwards."""
    snaps = [Snap("main", [(seq, "x" * seq) for seq in range(400 - start, 0, -20)]) for start in range(20)]
    with open_readonly(agent(tmp_path / "a", [], snaps)) as container:
        found = [item.place for item in transcript(container, "main", history=True) if isinstance(item, Item)]
    assert [place.entry.seq for place in found] == list(range(1, 401))
    assert all(place.entry.content[0]["text"] == "x" * place.entry.seq for place in found)


def test_broken_rows_are_shown_and_hide_nothing(tmp_path: Path) -> None:
    path = agent(
        tmp_path / "a",
        [row(1, "a"), row(2, "b"), row(3, "c"), row(4, "d")],
        [],
        "UPDATE adf_loop SET content_json = '[{' WHERE seq = 1",
        "UPDATE adf_loop SET content_json = CAST(x'ff22' AS TEXT) WHERE seq = 2",
        "UPDATE adf_loop SET content_json = x'00', tokens = '[1', created_at = 'soon' WHERE seq = 3",
    )
    for history in (False, True):
        with open_readonly(path) as container:
            items = [item for item in transcript(container, "main", history=history) if isinstance(item, Item)]
        assert [item.place.entry.seq for item in items] == [1, 2, 3, 4]
        assert [item.place.problem is not None for item in items] == [True, True, True, False]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE adf_loop SET loop = CAST(x'ff' AS TEXT) WHERE seq = 1",
        "UPDATE adf_loop SET loop = x'00' WHERE seq = 1",
        "DROP TABLE adf_audit",
        "DROP TABLE adf_loop",
        "DROP TABLE adf_config",
        "DROP TABLE adf_files",
        "ALTER TABLE adf_loop DROP COLUMN ord",
        "ALTER TABLE adf_audit DROP COLUMN data",
        "UPDATE adf_audit SET source = ''",
        "UPDATE adf_audit SET source = x'00'",
        "UPDATE adf_audit SET start_seq = 'x', end_seq = 1.5, created_at = 'soon', entry_count = 'x'",
        "UPDATE sqlite_sequence SET seq = 'x'",
        "UPDATE sqlite_sequence SET seq = 9223372036854775807",
        "UPDATE adf_loop SET seq = -5 WHERE seq = 1",
        "UPDATE adf_loop SET seq = 9223372036854775807 WHERE seq = 1",
    ],
)
def test_no_file_is_too_odd_to_be_told_about(tmp_path: Path, statement: str) -> None:
    path = agent(tmp_path / "a", [row(1, "a"), row(2, "b")], [Snap("main", [(1, "old")])])
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA ignore_check_constraints = ON; DROP INDEX idx_adf_loop_stream")
    connection.execute(statement)
    connection.close()
    with open_readonly(path) as container:
        found = coverage(container)
        loops(container)
        assert "main" in names(container)
        for history in (False, True):
            list(transcript(container, "main", history=history))
        for seq in (-5, 0, 1, 2, 2**63, 2**64):
            resolve(container, None, seq)
            trace(container, seq)
    assert found.highest < 2**62

"""5xx: what a snapshot must be, row by row (AUD, BUG, AMB rules of the facts)."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any, ClassVar

import brotli
import pytest
from family_support import build, inspect, rules, told
from hypothesis import given
from hypothesis import strategies as st

from adf_format.audit import compress, javascript_json, utf16_length
from adf_format.errors import JsonTextError
from adf_format.jsontext import decode
from adf_format.validation.context import Context, Depth
from adf_format.validation.findings import Collector
from adf_format.validation.report import Stats
from adf_format.validation.rules import audit
from adf_format.validation.rules.audit import check, stream
from adf_format.validation.rules.audit.model import AuditRow, Numbers
from adf_format.validation.rules.audit.order import Order

TIME = 1_767_225_600_000
REAL = Path(__file__).resolve().parents[3] / "shared" / "real-files"  # read only, absent elsewhere
LIVE = "INSERT INTO adf_loop (seq, role, content_json, created_at) VALUES ({seq}, 'user', {content}, 1)"
MARK = "INSERT INTO sqlite_sequence VALUES ('adf_loop', 1000)"


def entry(seq: int, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": f"row {seq}"}]
    return {"seq": seq, "role": "user", "content_json": content, "created_at": TIME + seq} | more


def hexed(data: bytes) -> str:
    return f"x'{data.hex()}'"


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def row(source: str, data: bytes, **columns: Any) -> str:
    values = {"source": quoted(source), "data": hexed(data), "created_at": TIME + 10**6} | columns
    return f"INSERT INTO adf_audit ({', '.join(values)}) VALUES ({', '.join(map(str, values.values()))})"


def snapshot(value: Any, source: str = "loop:main", **columns: Any) -> str:
    """A row that is right in every column, but for those given."""
    text = javascript_json(value)
    right: dict[str, Any] = {
        "entry_count": len(value) if isinstance(value, list) else 1,
        "size_bytes": utf16_length(text),
    }
    if source.startswith("loop") and value and isinstance(value, list):
        seqs = [one.get("seq", 0) for one in value]
        right |= {"start_seq": min(seqs), "end_seq": max(seqs)}
    return row(source, compress(text), **(right | columns))


def old(value: Any, source: str = "loop", **columns: Any) -> str:
    """The same for versions up to 27."""
    made = snapshot(value, source, **columns)
    if "start_seq" in made:
        times = f"{value[0]['created_at']}, {value[-1]['created_at']}"
        seqs = [one["seq"] for one in value]
        made = made.replace("start_seq, end_seq", "start_at, end_at")
        made = made.replace(f", {min(seqs)}, {max(seqs)})", f", {times})")
    return made


MESSAGE = {
    "version": "1.0",
    "network": "devnet",
    "id": "msg-1",
    "timestamp": "2026-01-01T00:00:00.000Z",
    "from": "did:key:zA",
    "to": "did:key:zB",
    "reply_to": "http://example.invalid/inbox",
    "payload": {"content": "hello", "sent_at": "2026-01-01T00:00:00.000Z"},
}
FILE = {"path": "notes/x.md", "content_base64": "IyB4Cg==", "mime_type": "text/markdown", "size": 4}


def found(tmp_path: Path, *statements: str, version: int = 32, depth: Depth = Depth.DEFAULT) -> set[str]:
    return rules(build(tmp_path / "a.adf", MARK, *statements, version=version), audit, depth)


class TestRightRows:
    @pytest.mark.parametrize(
        "statement",
        [
            snapshot([entry(3)]),
            snapshot([entry(3), entry(9)], "loop:drafter-2_x"),
            snapshot([entry(9, ord=2), entry(3), entry(4)]),
            snapshot([entry(9, ord=-5), entry(1)]),
            snapshot([entry(3)], "loop"),
            snapshot([entry(3, model="m", tokens={"input": 1, "output": 2, "cost_usd": 0.5}, role="assistant")]),
            snapshot([entry(3, content_json=[])]),
            snapshot([entry(3, content_json=[{"type": "text", "text": "\ud83d cut"}])]),
            snapshot([entry(3, created_at=0)]),
            snapshot(MESSAGE, "inbox_message", ref="'msg-1'"),
            snapshot(MESSAGE, "outbox_message", ref="'msg-1'"),
            snapshot(FILE, "file", ref="'notes/x.md'"),
            snapshot(FILE | {"content_base64": "", "size": 0}, "file", ref="'notes/x.md'"),
        ],
    )
    @pytest.mark.parametrize("version", [29, 32])
    def test_nothing_is_said_of_a_right_row(self, tmp_path: Path, statement: str, version: int) -> None:
        assert found(tmp_path, statement, version=version) == set()

    @given(st.lists(st.integers(1, 1000), min_size=1, max_size=8, unique=True), st.data())
    def test_a_compaction_that_keeps_a_tail_archives_right_rows(self, seqs: list[int], data: st.DataObject) -> None:
        """VEC-3: an archived summary has a high seq and a low key; the range is min and max all the same."""
        seqs.sort()
        key = data.draw(st.integers(-10, seqs[0] - 1))
        entries = [entry(seqs[-1], ord=key), *(entry(seq) for seq in seqs[:-1])]
        reports: list[str] = []
        context = fake_context(reports)
        watched, numbers = Order(AuditRow(1, {}, context)), Numbers()
        for index, one in enumerate(entries):
            watched.entry(index, one["seq"], one.get("ord"))
            numbers.add(one["seq"])
        assert (numbers.low, numbers.high) == (min(seqs), max(seqs))
        assert reports == []


def fake_context(reports: list[str]) -> Context:
    """A context that only takes reports."""

    class Fake(Context):
        def __init__(self) -> None:
            self.collector = Collector(None, {}, 32)
            self.stats = Stats()

        @property
        def report(self) -> Any:
            return lambda rule, *_, **__: reports.append(rule.id)

    return Fake()


class TestBytes:
    text = javascript_json([entry(3), entry(4)])
    right: ClassVar = {"entry_count": 2, "size_bytes": len(text), "start_seq": 3, "end_seq": 4}

    @pytest.mark.parametrize("quality", [0, 5, 11])
    def test_every_quality_is_valid(self, tmp_path: Path, quality: int) -> None:
        assert found(tmp_path, row("loop:main", compress(self.text, quality), **self.right)) == set()

    @pytest.mark.parametrize(
        ("data", "rule"),
        [
            (b"not brotli at all", "ADF501"),
            (text.encode(), "ADF501"),
            (b"", "ADF502"),
            (bytes.fromhex("00112233"), "ADF502"),
            (compress(text)[:-1], "ADF502"),
            (compress(text)[: len(compress(text)) // 2], "ADF502"),
            (compress(text) + b"\0", "ADF503"),
            (compress(text) + compress(text), "ADF503"),
            (compress(""), "ADF505"),
            (compress("[{"), "ADF505"),
            (compress("null x"), "ADF506"),
            (brotli.compress(b'["\xff"]'), "ADF505"),
            (brotli.compress(b'["\xed\xa0\xbd"]'), "ADF505"),
            (brotli.compress(b"\xef\xbb\xbf[]"), "ADF505"),
            (compress("[NaN]"), "ADF505"),
            (compress("[" * 100_000), "ADF505"),
        ],
    )
    def test_broken_bytes_are_one_error_each(self, tmp_path: Path, data: bytes, rule: str) -> None:
        """One cause, one finding: counts of what cannot be read are not compared."""
        errors = found(tmp_path, row("loop:main", data, **self.right))
        assert errors == {rule}

    def test_an_entry_that_cannot_be_decoded_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Decoding an entry may fail where finding its end did not; counts are then not compared."""

        def refuse(text: str) -> Any:
            if "row 4" in text:
                raise JsonTextError("nested too deeply to be read")
            return decode(text)

        monkeypatch.setattr(check, "decode", refuse)
        unusual = compress(" " + self.text)  # one that JavaScript wrote is decoded as a whole
        path = build(tmp_path / "a.adf", MARK, row("loop:main", unusual, **self.right | {"entry_count": 9}))
        findings, _ = inspect(path, audit)
        assert [(one.rule, one.pointer) for one in findings] == [("ADF505", "/1")]

    @pytest.mark.parametrize("value", ["NULL", "1", "'text'"])
    def test_other_storage_classes_are_left_to_the_row_rules(self, tmp_path: Path, value: str) -> None:
        loose = "ALTER TABLE adf_audit RENAME TO gone; CREATE TABLE adf_audit (id INTEGER PRIMARY KEY, source TEXT,"
        loose += " start_seq, end_seq, ref, entry_count, size_bytes, data, created_at)"
        statement = row("loop:main", b"", **self.right).replace("x''", value)
        assert found(tmp_path, loose, statement) == set()

    def test_a_truncated_row_does_not_hide_the_next(self, tmp_path: Path) -> None:
        bad = row("loop:main", compress(self.text)[:9], **self.right)
        path = build(tmp_path / "a.adf", MARK, bad, snapshot([entry(5)], entry_count=7), bad)
        findings, context = inspect(path, audit)
        assert [(one.rule, [place["rowid"] for place in one.examples]) for one in findings] == [
            ("ADF502", [1, 3]),
            ("ADF508", [2]),
        ]
        assert context.stats.snapshots == 1


class TestBombs:
    @pytest.mark.parametrize(
        ("text", "declared", "expected"),
        [
            (b"\0" * 50_000_000, 50_000_000, {"ADF505"}),
            (b" " * 50_000_000, 50_000_000, {"ADF505"}),
            (b"[" + b" " * 50_000_000 + b"]", 50_000_002, {"ADF508", "ADF531"}),
            (b'["' + b"x" * 50_000_000 + b'"]', 50_000_004, {"ADF504"}),
            (b"[" + b"1," * 5_000_000 + b"1]", 10_000_003, {"ADF504", "ADF506", "ADF508"}),
            (b"[" * 5_000_000, 5_000_000, {"ADF505"}),
            (b"[" + b"x" * 50_000_000, 50_000_001, {"ADF505"}),
            (b"[]" + b" " * 50_000_000, 100, {"ADF509"}),
        ],
    )
    def test_a_bomb_is_reported_in_bounded_memory(
        self, tmp_path: Path, text: bytes, declared: int, expected: set[str]
    ) -> None:
        """A few hundred bytes of brotli; none makes Python hold a fraction of what they unpack to."""
        data = brotli.compress(text, quality=5, lgwin=22)
        assert len(data) < 1000
        statement = row("loop:main", data, entry_count=1, size_bytes=declared, start_seq=1, end_seq=1)
        path = build(tmp_path / "a.adf", MARK, statement)
        del text
        tracemalloc.start()
        try:
            errors = rules(path, audit)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert errors == expected
        assert peak < 40_000_000

    def test_a_bomb_that_its_row_does_not_declare_is_not_unpacked(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Three bytes a unit are all that UTF-8 needs, so what is longer need not be read."""
        seen = 0

        def watched(_: object, chunks: Any) -> Any:
            nonlocal seen
            for chunk in chunks:
                seen += len(chunk)
                yield chunk

        monkeypatch.setattr(stream, "_watched", watched)
        data = brotli.compress(b'["' + b"x" * 50_000_000 + b'"]', quality=5, lgwin=22)
        errors = found(tmp_path, row("loop:main", data, entry_count=1, size_bytes=317, start_seq=1, end_seq=1))
        assert errors == {"ADF509"}
        assert 0 < seen <= 3_000_000

    def test_what_exceeds_the_limit_is_said_to_be_unchecked(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(stream, "TEXT_LIMIT", 100_000)
        path = build(tmp_path / "a.adf", MARK, snapshot([entry(seq) for seq in range(1, 5000)]))
        findings, context = inspect(path, audit)
        assert [one.rule for one in findings] == ["ADF504"]
        assert context.stats.not_checked == [
            {"what": "large snapshots in adf_audit", "why": "more than 100000 bytes when decompressed: not checked"}
        ]

    @pytest.mark.parametrize(
        ("size", "expected"), [({}, {"ADF504"}), ({"size_bytes": 17_000_000}, {"ADF504", "ADF509"})]
    )
    def test_a_large_file_is_still_checked_for_its_length(
        self, tmp_path: Path, size: dict[str, int], expected: set[str]
    ) -> None:
        """Only the value is left alone: stream and length are not."""
        big = FILE | {"content_base64": "A" * 17_000_000, "size": 12_750_000}
        assert found(tmp_path, snapshot(big, "file", ref="'x'", **size)) == expected

    def test_too_many_entries_are_not_all_looked_at(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(check, "ENTRIES", 10)
        path = build(tmp_path / "a.adf", MARK, snapshot([entry(seq) for seq in range(1, 50)]))
        assert told(path, audit) == [
            ("ADF504", "adf_audit", "too many entries: those after /10 were not checked"),
        ]

    def test_a_long_snapshot_is_checked_entry_by_entry(self, tmp_path: Path) -> None:
        """The last of 30,000 entries is found to be out of range, in a few MB."""
        path = build(tmp_path / "a.adf", MARK, snapshot([entry(seq) for seq in range(1, 30_001)], end_seq=29_999))
        tracemalloc.start()
        try:
            findings = told(path, audit)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert {rule for rule, *_ in findings} == {"ADF511", "ADF521"}
        assert peak < 12_000_000


class TestShape:
    @pytest.mark.parametrize(
        ("statement", "expected"),
        [
            (snapshot([{"seq": 3}]), {"ADF506"}),
            (snapshot([entry(3, role="system")]), {"ADF506"}),
            (snapshot([entry(3, content_json="[]")]), {"ADF506"}),
            (snapshot([entry(3, content_json=[{"type": "text"}])]), {"ADF506"}),
            (snapshot([entry(3, created_at=None)]), {"ADF506"}),
            (snapshot([entry(3, model=None)]), {"ADF507"}),
            (snapshot([entry(3, tokens=12)]), {"ADF507"}),
            (snapshot([entry(3, content_json=[{"type": "hologram"}])]), {"ADF507"}),
            (snapshot([entry(3, mood="calm")]), set()),
            (snapshot({"not": "array"}, start_seq=1, end_seq=1), {"ADF506"}),
            (snapshot([FILE], "file", ref="'notes/x.md'"), {"ADF506"}),
            (snapshot([MESSAGE], "inbox_message", ref="'msg-1'"), {"ADF506"}),
            (snapshot({"path": "a"}, "file", ref="'a'"), {"ADF506"}),
            (snapshot(FILE | {"mime_type": None}, "file", ref="'notes/x.md'"), {"ADF507"}),
            (snapshot(FILE | {"size": 5}, "file", ref="'notes/x.md'"), {"ADF532"}),
            (snapshot(FILE | {"content_base64": "IyB4Cg="}, "file", ref="'notes/x.md'"), {"ADF532"}),
            (snapshot(3, start_seq=1, end_seq=1), {"ADF506"}),
        ],
    )
    def test_each_entry_is_checked_against_its_source(self, tmp_path: Path, statement: str, expected: set[str]) -> None:
        assert found(tmp_path, statement) == expected

    def test_the_source_decides_not_the_content(self, tmp_path: Path) -> None:
        """AUD-026: a transcript of one row is an array, a file never is."""
        assert found(tmp_path, snapshot(entry(3), start_seq=3, end_seq=3)) == {"ADF506"}

    def test_a_repeated_key_is_seen(self, tmp_path: Path) -> None:
        text = javascript_json([entry(3)]).replace('"role"', '"seq":3,"role"')
        data = row("loop:main", compress(text), entry_count=1, size_bytes=len(text), start_seq=3, end_seq=3)
        assert found(tmp_path, data) == {"ADF533"}

    def test_many_broken_entries_are_counted(self, tmp_path: Path) -> None:
        """The first 500 are explained; that there are more is said."""
        value = [{"seq": seq} for seq in range(1, 701)]
        path = build(tmp_path / "a.adf", MARK, snapshot(value))
        findings, _ = inspect(path, audit)
        assert findings[0].count == 500
        assert findings[-1].message == "200 further entries break the schema, not explained one by one"

    @pytest.mark.parametrize("version", range(21, 33))
    def test_legacy_batches_have_their_shape(self, tmp_path: Path, version: int) -> None:
        """AUD-022: an inbox row without its text is broken, at every version that can hold one."""
        batch = [{"id": "a", "from": "did:key:zA", "received_at": TIME}]
        times = {"start_at": TIME, "end_at": TIME} if version < 28 else {}
        assert found(tmp_path, snapshot(batch, "inbox", **times), version=version) == {"ADF506"}


class TestCounts:
    @pytest.mark.parametrize("count", [0, 1, 3])
    def test_entry_count_counts_entries(self, tmp_path: Path, count: int) -> None:
        assert found(tmp_path, snapshot([entry(3), entry(4)], entry_count=count)) == {"ADF508"}

    def test_an_object_counts_as_one(self, tmp_path: Path) -> None:
        assert found(tmp_path, snapshot(FILE, "file", ref="'notes/x.md'", entry_count=4)) == {"ADF508"}

    @pytest.mark.parametrize(
        ("text", "unit", "expected"),
        [
            ("plain", "utf-16", set()),
            ("plain", "utf-8", set()),
            ("h\u00e9llo \U0001f600", "utf-16", set()),
            ("h\u00e9llo \U0001f600", "utf-8", {"ADF510"}),
            ("h\u00e9llo \U0001f600", "points", {"ADF509"}),
        ],
    )
    def test_size_may_be_given_in_two_units(self, tmp_path: Path, text: str, unit: str, expected: set[str]) -> None:
        """AMB-10: UTF-16 units or UTF-8 bytes, never code points."""
        value = [entry(3, content_json=[{"type": "text", "text": text}])]
        written = javascript_json(value)
        size = {"utf-16": utf16_length(written), "utf-8": len(written.encode()), "points": len(written)}[unit]
        assert found(tmp_path, snapshot(value, size_bytes=size)) == expected

    def test_the_compressed_size_is_not_meant(self, tmp_path: Path) -> None:
        value = [entry(3), entry(4)]
        size = len(compress(javascript_json(value)))
        assert found(tmp_path, snapshot(value, size_bytes=size)) == {"ADF509"}

    def test_an_empty_snapshot_is_suspect(self, tmp_path: Path) -> None:
        assert found(tmp_path, snapshot([], start_seq=1, end_seq=2)) == {"ADF531"}


class TestLocators:
    @pytest.mark.parametrize(
        ("start", "end", "expected"),
        [
            (3, 9, set()),
            (4, 9, {"ADF511"}),
            (3, 8, {"ADF511"}),
            (1, 9, {"ADF529"}),
            (3, 10, {"ADF529"}),
            (1, 8, {"ADF511"}),
            (9, 3, {"ADF512"}),
            ("NULL", "NULL", {"ADF526"}),
            (3, "NULL", {"ADF513"}),
            ("NULL", 9, {"ADF513"}),
        ],
    )
    def test_a_range_is_that_of_its_entries(
        self, tmp_path: Path, start: object, end: object, expected: set[str]
    ) -> None:
        value = [entry(3), entry(5), entry(9)]
        assert found(tmp_path, snapshot(value, start_seq=start, end_seq=end)) == expected

    @pytest.mark.parametrize(("version", "source"), [(28, "loop"), (29, "loop"), (32, "loop:main")])
    def test_the_bug_of_first_and_last_is_an_error_where_ord_is_known(
        self, tmp_path: Path, version: int, source: str
    ) -> None:
        """BUG-05: after a second compaction the summary stands first and has the highest seq."""
        value = [entry(5, ord=2), entry(3), entry(4)]
        assert found(tmp_path, snapshot(value, source, start_seq=5, end_seq=4), version=version) == {"ADF512"}

    @pytest.mark.parametrize("version", [28, 32])
    def test_a_malformed_migrated_blob_keeps_first_and_last(self, tmp_path: Path, version: int) -> None:
        """AMB-9, MIG-045: a warning, also where the range is inverted."""
        inverted = snapshot([entry(9), entry(3), entry(5)], "loop", start_seq=9, end_seq=5)
        assert found(tmp_path, inverted, version=version) == {"ADF520", "ADF530"}

    def test_a_named_loop_was_never_migrated(self, tmp_path: Path) -> None:
        outside = snapshot([entry(5), entry(3), entry(9)], start_seq=5, end_seq=9)
        assert found(tmp_path, outside) == {"ADF511", "ADF520"}

    def test_a_migrated_row_without_a_range_is_only_noted(self, tmp_path: Path) -> None:
        """AMB-8: it must be scanned, not repaired."""
        statement = snapshot([entry(3)], "loop", start_seq="NULL", end_seq="NULL")
        assert found(tmp_path, statement) == {"ADF524"}

    def test_an_inverted_range_is_seen_though_the_blob_is_broken(self, tmp_path: Path) -> None:
        broken = row("loop", b"", entry_count=1, size_bytes=2, start_seq=5, end_seq=3)
        assert found(tmp_path, broken) == {"ADF502", "ADF512"}

    @pytest.mark.parametrize(
        ("statement", "expected"),
        [
            (snapshot([entry(3)], ref="'x'"), {"ADF513"}),
            (snapshot(FILE, "file", ref="'notes/x.md'", start_seq=1), {"ADF513"}),
            (snapshot(FILE, "file", ref="'notes/y.md'"), {"ADF514"}),
            (snapshot(FILE, "file", ref="'NOTES/X.MD'"), {"ADF514"}),
            (snapshot(FILE, "file"), {"ADF527"}),
            (snapshot(MESSAGE, "inbox_message", ref="'other'"), {"ADF514"}),
            (snapshot(MESSAGE, "outbox_message"), {"ADF527"}),
            (snapshot([], "inbox", ref="'x'"), {"ADF513", "ADF531"}),
            (snapshot([], "outbox", start_seq=1, end_seq=1), {"ADF513", "ADF531"}),
        ],
    )
    def test_a_row_has_the_locator_of_its_source(self, tmp_path: Path, statement: str, expected: set[str]) -> None:
        assert found(tmp_path, statement) == expected

    def test_a_broken_message_may_lack_its_ref(self, tmp_path: Path) -> None:
        """MIG-044: the migration found no id to put there."""
        assert found(tmp_path, row("inbox_message", b"", entry_count=1, size_bytes=1)) == {"ADF502"}

    @pytest.mark.parametrize("name", [None, 7, ""])
    def test_a_message_without_a_usable_id_needs_no_ref(self, tmp_path: Path, name: object) -> None:
        """MIG-044: only a non-empty string becomes a ref."""
        assert "ADF527" not in found(tmp_path, snapshot(MESSAGE | {"id": name}, "inbox_message"))


class TestSources:
    def test_an_unknown_source_is_left_alone(self, tmp_path: Path) -> None:
        """The set is open: its blob may be anything."""
        path = build(tmp_path / "a.adf", MARK, row("mailbox", b"anything", entry_count=9, size_bytes=1))
        findings, context = inspect(path, audit)
        assert [one.rule for one in findings] == ["ADF515"]
        assert context.stats.snapshots == 0

    @pytest.mark.parametrize(
        ("version", "source", "expected"),
        [
            (28, "loop", set()),
            (28, "loop:main", {"ADF516"}),
            (29, "loop", set()),
            (29, "loop:main", set()),
            (32, "loop:", {"ADF528"}),
            (32, "loop:Main", {"ADF528"}),
            (32, "loop:a b", {"ADF528"}),
            (32, "loop:" + "a" * 33, {"ADF528"}),
            (32, "loop:main\n", {"ADF528"}),
            (32, "Loop", {"ADF515"}),
        ],
    )
    def test_the_form_of_a_loop_source_follows_the_version(
        self, tmp_path: Path, version: int, source: str, expected: set[str]
    ) -> None:
        assert found(tmp_path, snapshot([entry(3)], source), version=version) == expected

    def test_a_misnamed_transcript_is_checked_like_one(self, tmp_path: Path) -> None:
        assert found(tmp_path, snapshot([entry(3)], "loop:Main", entry_count=2)) == {"ADF508", "ADF528"}

    def test_only_a_newer_bare_loop_is_stale(self, tmp_path: Path) -> None:
        """AMB-1: rows from before the migration keep the old source."""
        before = [snapshot([entry(1)], "loop"), snapshot([entry(2)], "loop:main")]
        assert found(tmp_path, *before) == set()
        after = build(tmp_path / "b.adf", MARK, *reversed(before))
        assert rules(after, audit) == {"ADF517"}


class TestOrderAndTimes:
    def test_a_seq_stands_once_in_a_snapshot(self, tmp_path: Path) -> None:
        assert found(tmp_path, snapshot([entry(3), entry(4), entry(3)])) == {"ADF519", "ADF520"}

    @pytest.mark.parametrize(
        ("entries", "right"),
        [
            ([entry(1), entry(2), entry(9)], True),
            ([entry(9, ord=2), entry(3), entry(4)], True),
            ([entry(3), entry(9, ord=3), entry(4)], True),
            ([entry(9, ord=3), entry(3), entry(4)], False),
            ([entry(3), entry(9, ord=2), entry(4)], False),
            ([entry(2), entry(1)], False),
        ],
    )
    def test_entries_stand_in_display_order(self, tmp_path: Path, entries: list[dict[str, Any]], right: bool) -> None:
        """AUD-021; equal keys are ordered by seq."""
        assert found(tmp_path, snapshot(entries)) == (set() if right else {"ADF520"})

    @given(st.lists(st.tuples(st.integers(1, 30), st.none() | st.integers(-5, 30)), max_size=12))
    def test_order_and_repetition_are_those_of_a_sort(self, keys: list[tuple[int, int | None]]) -> None:
        """A snapshot is silent exactly when sorting it changes nothing and its seqs are distinct."""
        reports: list[str] = []
        watched = Order(AuditRow(1, {}, fake_context(reports)))
        for index, (seq, key) in enumerate(keys):
            watched.entry(index, seq, key)
        seqs = [seq for seq, _ in keys]
        effective = [(seq if key is None else key, seq) for seq, key in keys]
        assert ("ADF520" in reports) == (effective != sorted(effective))
        assert reports.count("ADF519") == len(seqs) - len(set(seqs))

    @pytest.mark.parametrize(
        ("mark", "live", "expected"), [(8, 0, {"ADF521"}), (9, 0, set()), (3, 9, set()), (3, 8, {"ADF521"})]
    )
    def test_an_archived_seq_is_never_given_again(
        self, tmp_path: Path, mark: int, live: int, expected: set[str]
    ) -> None:
        """STO-033: the next number is above the counter and above every live row."""
        statements = [snapshot([entry(9)])]
        if live:
            statements.append(
                f"INSERT INTO adf_loop (seq, role, content_json, created_at) VALUES ({live},'user','[]',1)"
            )
        statements.append("DELETE FROM sqlite_sequence WHERE name = 'adf_loop'")
        statements.append(f"INSERT INTO sqlite_sequence VALUES ('adf_loop', {mark})")
        assert rules(build(tmp_path / "a.adf", *statements), audit) == expected

    def test_without_any_counter_archived_rows_would_be_overwritten(self, tmp_path: Path) -> None:
        assert rules(build(tmp_path / "a.adf", snapshot([entry(9)])), audit) == {"ADF521"}

    @pytest.mark.parametrize(("taken", "expected"), [(0, set()), (-900, set()), (-5000, {"ADF523"})])
    def test_a_snapshot_is_younger_than_its_entries(self, tmp_path: Path, taken: int, expected: set[str]) -> None:
        assert found(tmp_path, snapshot([entry(3)], created_at=TIME + 3 + taken)) == expected

    @pytest.mark.parametrize(
        ("statement", "expected"),
        [
            (old([entry(3), entry(5)]), set()),
            (old([entry(3, created_at=0), entry(5)]), set()),
            (old([entry(3, created_at=TIME + 9), entry(5, created_at=TIME)]), set()),
            (old([entry(3), entry(5)]).replace(str(TIME + 5) + ")", str(TIME) + ")"), {"ADF518"}),
            (old(FILE, "file", start_at=TIME, end_at=TIME), set()),
            (old(FILE, "file", start_at=TIME, end_at=TIME + 1), {"ADF518"}),
            (old(MESSAGE, "inbox_message", start_at=TIME, end_at=TIME + 1), {"ADF518"}),
        ],
    )
    def test_times_of_old_rows_are_those_of_first_and_last(
        self, tmp_path: Path, statement: str, expected: set[str]
    ) -> None:
        """AUD-013: not the earliest and latest."""
        assert found(tmp_path, statement, version=27) == expected


class TestHistory:
    @pytest.mark.parametrize(
        ("text", "expected"), [("row 3", set()), ("rebuilt", {"ADF522"}), ("rebuilt\\ud83d", {"ADF522"})]
    )
    def test_a_rebuilt_row_is_noted_in_depth(self, tmp_path: Path, text: str, expected: set[str]) -> None:
        """ROW-013: legal, and only looked for with --deep."""
        content = quoted(f'[{{"type": "text", "text": "{text}"}}]')
        path = build(tmp_path / "a.adf", MARK, snapshot([entry(3)]), LIVE.format(seq=3, content=content))
        assert rules(path, audit, Depth.DEEP) == expected
        assert rules(path, audit) == set()

    def test_two_snapshots_of_one_seq_are_compared(self, tmp_path: Path) -> None:
        other = entry(3, content_json=[])
        path = build(tmp_path / "a.adf", MARK, snapshot([entry(3)]), snapshot([entry(3)]), snapshot([other]))
        findings, _ = inspect(path, audit, Depth.DEEP)
        assert [(one.rule, one.rowid) for one in findings] == [("ADF522", 3)]

    def test_broken_snapshots_are_passed_over(self, tmp_path: Path) -> None:
        broken = row("loop:main", b"junk", entry_count=1, size_bytes=2, start_seq=1, end_seq=1)
        content = LIVE.format(seq=3, content="'no json'")
        path = build(tmp_path / "a.adf", MARK, broken, snapshot([entry(3)]), snapshot([{"x": 1}]), content)
        assert "ADF522" not in rules(path, audit, Depth.DEEP)

    def test_memory_has_a_limit_that_is_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("adf_format.validation.rules.audit.history.REMEMBERED", 2)
        path = build(tmp_path / "a.adf", MARK, snapshot([entry(1), entry(2), entry(3)]))
        _, context = inspect(path, audit, Depth.DEEP)
        assert context.stats.not_checked == [{"what": "seqs with two contents", "why": "more than 2 archived rows"}]


@pytest.mark.skipif(not REAL.is_dir(), reason="the real files are not here")
class TestRealFiles:
    def test_exactly_the_four_damaged_rows_are_errors(self) -> None:
        """Rows 1, 2, 3 and 23 were damaged by hand."""
        findings, context = inspect(REAL / "v0.3.2_audited_corrupt.adf", audit)
        assert {place["rowid"] for one in findings for place in one.examples} == {1, 2, 3, 23}
        assert context.stats.snapshots == 26

    @pytest.mark.parametrize("path", sorted(REAL.glob("*.adf")), ids=lambda path: path.stem)
    def test_no_real_snapshot_is_in_doubt(self, path: Path) -> None:
        if "corrupt" not in path.stem:
            assert rules(path, audit, Depth.DEEP) == set()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process is asked of Linux")
def test_default_validation_of_a_large_archive_stays_below_150_mb(tmp_path: Path) -> None:
    """A snapshot of 30 MB of text, in a process of its own: peak of the whole process."""
    entries = [entry(seq, content_json=[{"type": "text", "text": "lorem ipsum " * 80}]) for seq in range(1, 30_001)]
    path = build(tmp_path / "a.adf", MARK.replace("1000", "30000"), snapshot(entries))
    code = (
        "import pathlib, sys; sys.path.insert(0, 'tests/validation')\n"
        "from family_support import rules\n"
        "from adf_format.validation.rules import audit\n"
        f"assert rules(pathlib.Path({str(path)!r}), audit) == set()\n"
        "print(pathlib.Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0])\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 150 * 1024

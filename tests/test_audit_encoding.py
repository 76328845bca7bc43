"""Making snapshots: the same text, sizes and ranges as real writers (AUD-008 to AUD-011, AUD-020 to AUD-025)."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format import audit
from adf_format.errors import JsonTextError
from tests.test_audit_codec import MIB, VEC_1, VEC_1_QUALITY_11, VEC_2, json_values

FILES = Path(__file__).resolve().parents[2] / "shared" / "real-files"  # read only, absent elsewhere
REAL = [path for path in sorted(FILES.glob("*audited*.adf")) if "corrupt" not in path.name]
VEC_1_ROWS: list[dict[str, Any]] = [
    {
        "seq": 7,
        "role": "user",
        "content_json": '[{"type":"text","text":"héllo 😀"}]',
        "model": None,
        "tokens": None,
        "created_at": 1700000000000,
        "ord": None,
    },
    {
        "seq": 9,
        "role": "assistant",
        "content_json": '[{"type":"tool_use","id":"t1","name":"fs_read","input":{"path":"a"}}]',
        "model": "m",
        "tokens": '{"input":3,"output":1}',
        "created_at": 1700000000500,
    },
]


def row(seq: int = 1, content: str = "[]", **columns: Any) -> dict[str, Any]:
    return {"seq": seq, "role": "user", "content_json": content, "created_at": 5, **columns}


class TestLoop:
    def test_the_vector_is_made_byte_for_byte(self) -> None:
        """VEC-1, with both qualities."""
        best, usual = audit.encode_loop(VEC_1_ROWS, quality=11), audit.encode_loop(VEC_1_ROWS)
        assert best.text == usual.text == VEC_1
        assert best.data == VEC_1_QUALITY_11
        assert (len(usual.data), usual.data.hex()[:16]) == (180, "1b220100049e8f53")
        assert (best.size_bytes, best.start_seq, best.end_seq, best.entry_count, best.ref) == (288, 7, 9, 2, None)

    @pytest.mark.parametrize(("seqs", "bounds"), [([1, 2], (1, 2)), ([5, 3, 4], (3, 5))])
    def test_ranges_are_bounds_whatever_the_order(self, seqs: list[int], bounds: tuple[int, int]) -> None:
        """VEC-3: a summary stands first and has the highest seq."""
        made = audit.encode_loop([row(seq, ord=2 if seq == 5 else None) for seq in seqs])
        assert (made.start_seq, made.end_seq) == bounds
        entries = json.loads(made.text)
        assert [one["seq"] for one in entries] == seqs
        assert [one.get("ord") for one in entries] == [2 if seq == 5 else None for seq in seqs]

    @pytest.mark.parametrize(
        ("tokens", "written"),
        [
            (None, None),
            ('{"output":1, "input":2}', '{"output":1,"input":2}'),
            ("12", "12"),
            (12, "12"),
            ("[1]", None),
            ("true", None),
            ("{", None),
            ("x", None),
            (b"\x00", None),
            (' {"input":1}', '{"input":1}'),
        ],
    )
    def test_usage_is_an_object_or_a_number(self, tokens: Any, written: str | None) -> None:
        """STO-036."""
        member = f',"tokens":{written}' if written else ""
        text = f'{{"seq":1,"role":"user","content_json":[]{member},"created_at":5}}'
        assert audit.loop_entry(row(tokens=tokens)) == text

    @pytest.mark.parametrize(
        ("stored", "archived"),
        [
            ('[ {"type" : "text"} ]', '[{"type":"text"}]'),
            ('[{"a":1.0}]', '[{"a":1}]'),
            ('[{"a":1e21}]', '[{"a":1e+21}]'),
            ('[{"b":1,"2":0,"1":0}]', '[{"1":0,"2":0,"b":1}]'),
            ('["\\ud83d"]', '["\\ud83d"]'),
            ('["\\u00e9"]', '["é"]'),
            ('[{"a":1,"a":2}]', '[{"a":2}]'),
            ("[12345678901234567890]", "[12345678901234567890]"),
            ("[1e400]", "[1e+400]"),
        ],
    )
    def test_content_is_written_as_javascript_would_without_losing_digits(self, stored: str, archived: str) -> None:
        """AUD-010; a number that JavaScript cannot hold was not written by it, and is kept."""
        assert audit.stored_json(stored) == archived

    @given(json_values)
    def test_what_javascript_stored_is_archived_as_it_stands(self, value: object) -> None:
        text = audit.javascript_json([value])
        assert audit.stored_json(text) == text

    def test_content_that_is_no_json_names_its_row(self) -> None:
        """AUD-035."""
        with pytest.raises(JsonTextError, match="adf_loop row 4: content_json is not JSON"):
            audit.encode_loop([row(3), row(4, "[{")])

    def test_nothing_is_archived_without_rows(self) -> None:
        """AUD-030."""
        with pytest.raises(ValueError, match="no rows"):
            audit.encode_loop([])

    @given(st.lists(st.tuples(st.integers(1, 10**12), json_values), min_size=1, max_size=5), st.integers(0, 11))
    def test_the_columns_describe_the_text(self, content: list[tuple[int, object]], quality: int) -> None:
        made = audit.encode_loop([row(seq, json.dumps([value])) for seq, value in content], quality=quality)
        assert audit.decompress_all([made.data], limit_bytes=MIB).decode() == made.text
        assert made.size_bytes == audit.utf16_length(made.text)
        assert made.entry_count == len(json.loads(made.text)) == len(content)
        assert (made.start_seq, made.end_seq) == (min(s for s, _ in content), max(s for s, _ in content))


class TestOthers:
    def test_the_file_vector(self) -> None:
        """VEC-2."""
        made = audit.encode_file("notes/x.md", b"# x\n", "text/markdown")
        assert (made.text, made.size_bytes, made.ref, made.entry_count) == (VEC_2, 86, "notes/x.md", 1)
        assert "mime_type" not in audit.encode_file("a", b"", None).text

    def test_a_message_keeps_its_keys_in_order(self) -> None:
        made = audit.encode_message({"version": "1", "id": "m1", "payload": {"b": 1, "a": None}})
        assert made.text == '{"version":"1","id":"m1","payload":{"b":1,"a":null}}'
        assert (made.ref, made.start_seq, made.entry_count) == ("m1", None, 1)
        assert audit.encode_message({"id": ""}).ref is None

    def test_a_batch_writes_null_except_for_json_columns(self) -> None:
        """AUD-022, AUD-023."""
        made = audit.encode_inbox([{"id": "a", "from": "x", "meta": '{"k": 1}', "attachments": None}])
        entry = json.loads(made.text)[0]
        assert entry["meta"] == {"k": 1}
        assert "attachments" not in entry
        assert entry["to"] is None
        assert list(entry)[:5] == ["id", "from", "to", "reply_to", "network"]
        assert list(json.loads(audit.encode_outbox([{"id": "a"}]).text)[0])[2:4] == ["to", "address"]
        assert json.loads(audit.encode_outbox([{"meta": "{"}]).text)[0]["meta"] == "{"
        with pytest.raises(ValueError, match="no rows"):
            audit.encode_inbox([])


class TestTyped:
    def test_a_loop_entry(self) -> None:
        found = audit.LoopEntry.parse(json.loads(VEC_1)[1])
        assert (found.seq, found.role, found.model, found.ord) == (9, "assistant", "m", None)
        assert found.tokens == {"input": 3, "output": 1}

    @pytest.mark.parametrize("value", [None, [], 1, {}, {"seq": "1"}, {"seq": True}, {"seq": 1.0}])
    def test_an_entry_without_seq_is_none(self, value: object) -> None:
        with pytest.raises(audit.ShapeError):
            audit.LoopEntry.parse(value)

    def test_odd_members_do_not_matter(self) -> None:
        found = audit.LoopEntry.parse({"seq": 1, "model": 2, "created_at": "x", "ord": None})
        assert (found.role, found.model, found.created_at, found.ord, found.content) == ("", None, None, None, None)

    @given(st.binary(max_size=50), st.none() | st.text())
    def test_a_file_comes_back(self, content: bytes, mime: str | None) -> None:
        made = audit.encode_file("p", content, mime)
        found = audit.ArchivedFile.parse(json.loads(made.text))
        assert (found.path, found.content, found.size) == ("p", content, len(content))

    @pytest.mark.parametrize("value", [{}, {"path": "a"}, {"path": "a", "content_base64": "é"}, {"path": 1}])
    def test_a_broken_file_is_refused(self, value: dict[str, Any]) -> None:
        with pytest.raises(audit.ShapeError):
            audit.ArchivedFile.parse(value)


@pytest.mark.skipif(not REAL, reason="the real files are not here")
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_real_snapshots_are_made_again_byte_for_byte(path: Path) -> None:
    """Text and columns; blobs too, since real writers of these versions used quality 11."""
    connection = apsw.Connection(f"{path.as_uri()}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    seen = 0
    for source, count, size, data in connection.execute("SELECT source, entry_count, size_bytes, data FROM adf_audit"):
        text = audit.decompress_all([data], limit_bytes=MIB).decode()
        made = _again(source, json.loads(text))
        assert made.text == text
        assert (made.entry_count, made.size_bytes) == (count, size)
        assert made.data == data
        seen += 1
    connection.close()
    assert seen >= 20


def _again(source: str, value: Any) -> audit.Snapshot:
    """Turn decoded entries back into rows, and archive those."""
    match source:
        case "loop":
            return audit.encode_loop(map(_loop_row, value), quality=11)
        case "inbox" | "outbox":
            encode = audit.encode_inbox if source == "inbox" else audit.encode_outbox
            return encode(map(_message_row, value), quality=11)
        case "file":
            content = base64.b64decode(value["content_base64"])
            return audit.encode_file(value["path"], content, value.get("mime_type"), quality=11)
    return audit.encode_message(value, quality=11)


def _loop_row(entry: dict[str, Any]) -> dict[str, Any]:
    stored = {key: audit.javascript_json(entry[key]) for key in ("content_json", "tokens") if key in entry}
    return entry | stored


def _message_row(entry: dict[str, Any]) -> dict[str, Any]:
    parsed = ("attachments", "meta", "source_context")
    return entry | {key: audit.javascript_json(entry[key]) for key in parsed if key in entry}

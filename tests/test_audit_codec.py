"""The audit codec: brotli with bounds, JSON as JavaScript writes it, entries one at a time (AUD-009 to AUD-011)."""

from __future__ import annotations

import json
import random
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import apsw
import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format import audit, jsontext
from adf_format.audit import entries
from adf_format.errors import JsonTextError

MIB = 1 << 20

VEC_1 = (
    '[{"seq":7,"role":"user","content_json":[{"type":"text","text":"héllo 😀"}],"created_at":1700000000000},'
    '{"seq":9,"role":"assistant","content_json":[{"type":"tool_use","id":"t1","name":"fs_read",'
    '"input":{"path":"a"}}],"model":"m","tokens":{"input":3,"output":1},"created_at":1700000000500}]'
)
VEC_1_QUALITY_11 = bytes.fromhex(
    "1b2201002c0e7873c8250d4bf7068336631cc4c3cf8d529517da3088291b86e0446132f46b5ab9dcaf313f53e1655f0d4cb174b50e"
    "cb4ddfa7c751c40170d01697b4e8df0ec71ff48417b8f0b7dc606c7b9c41595fba2837539e560bbe288f8c687ebdc9d27914b862aa"
    "02c7bf5adbb0fc08c223af2f69b50386b384738cf8d55acd5f143937bc09aa09f6c87d13ad8dcea505ab136247765cf23223e80b39"
    "26c42bd2c9c31a"
)
VEC_2 = '{"path":"notes/x.md","content_base64":"IyB4Cg==","mime_type":"text/markdown","size":4}'

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def until_damage(chunks: list[bytes]) -> bytes:
    """What a damaged stream gives before it fails."""
    found = bytearray()
    try:
        for piece in audit.decompress(chunks, limit_bytes=MIB):
            found += piece
    except audit.SnapshotError:
        return bytes(found)
    raise AssertionError("no damage was noticed")


@contextmanager
def peak_memory() -> Iterator[list[int]]:
    """Give the peak of Python's memory inside the block, in bytes, once it is left."""
    peak: list[int] = []
    tracemalloc.start()
    try:
        yield peak
        peak.append(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


class TestVectors:
    def test_the_loop_vector_is_written_byte_for_byte(self) -> None:
        """VEC-1: decode and write again."""
        assert audit.javascript_json(json.loads(VEC_1)) == VEC_1
        assert audit.utf16_length(VEC_1) == 288
        assert len(VEC_1.encode()) == 291

    def test_the_loop_vector_compresses_as_in_the_facts(self) -> None:
        """VEC-1: 166 bytes with quality 11, 180 with quality 5."""
        assert audit.compress(VEC_1, quality=11) == VEC_1_QUALITY_11
        assert len(audit.compress(VEC_1)) == 180
        assert audit.compress(VEC_1).hex().startswith("1b220100049e8f53")

    def test_the_loop_vector_decompresses(self) -> None:
        assert audit.decompress_all([VEC_1_QUALITY_11], limit_bytes=MIB).decode() == VEC_1

    def test_the_file_vector(self) -> None:
        """VEC-2."""
        assert audit.javascript_json(json.loads(VEC_2)) == VEC_2
        assert audit.utf16_length(VEC_2) == 86


class TestDecompress:
    @given(st.binary(max_size=5000), st.integers(0, 11), st.integers(1, 100))
    def test_what_was_compressed_comes_back(self, data: bytes, quality: int, size: int) -> None:
        """Any quality, cut into any pieces."""
        stream = brotli.compress(data, quality=quality, lgwin=22)
        assert audit.decompress_all(pieces(stream, size), limit_bytes=MIB) == data

    @pytest.mark.parametrize("size", [1, 7, 10_000])
    def test_a_stream_cut_at_any_byte_is_truncated(self, size: int) -> None:
        stream = audit.compress(VEC_1)
        for end in range(len(stream)):
            with pytest.raises(audit.TruncatedError):
                audit.decompress_all(pieces(stream[:end], size), limit_bytes=MIB)

    @pytest.mark.parametrize("size", [1, 7, 10_000])
    @pytest.mark.parametrize("extra", [b"\0", b"x", b"\x06", audit.compress(VEC_2), b"\xff" * 3000])
    def test_bytes_after_the_end_are_told_from_damage(self, size: int, extra: bytes) -> None:
        """The decoder says the same for both."""
        stream = audit.compress(VEC_1) + extra
        with pytest.raises(audit.TrailingBytesError):
            audit.decompress_all(pieces(stream, size), limit_bytes=MIB)

    @pytest.mark.parametrize("garbage", [b"garbage, not brotli", VEC_2.encode(), b"\xff" * 40])
    @pytest.mark.parametrize("size", [1, 1000])
    def test_damage_is_not_brotli(self, garbage: bytes, size: int) -> None:
        with pytest.raises(audit.NotBrotliError):
            audit.decompress_all(pieces(garbage, size), limit_bytes=MIB)

    @given(st.binary(max_size=300), st.integers(1, 50))
    def test_any_bytes_give_a_result_or_a_snapshot_error(self, data: bytes, size: int) -> None:
        """No other exception, whatever the bytes."""
        try:
            found = audit.decompress_all(pieces(data, size), limit_bytes=MIB)
        except audit.SnapshotError:
            return
        assert brotli.decompress(data) == found

    @given(st.integers(0, 179), st.integers(1, 255), st.integers(1, 200))
    def test_a_damaged_stream_never_passes_for_the_original_unless_it_is(self, at: int, flip: int, size: int) -> None:
        """The verdict does not depend on how the stream is cut."""
        stream = bytearray(audit.compress(VEC_1))
        stream[at] ^= flip

        def verdict(chunks: list[bytes]) -> object:
            try:
                return audit.decompress_all(chunks, limit_bytes=MIB)
            except audit.SnapshotError as error:
                return type(error)

        assert verdict(pieces(bytes(stream), size)) == verdict([bytes(stream)])

    @pytest.mark.parametrize("size", [1, 100, 65536])
    def test_what_stands_before_a_damage_is_handed_out(self, size: int) -> None:
        """However the stream is cut: better doubtful than lost."""
        random.seed(2)
        text = json.dumps([{"seq": i, "t": "".join(random.choices("abcdefgh ", k=300))} for i in range(300)]).encode()
        stream = bytearray(brotli.compress(text, quality=5, lgwin=22))
        half = len(stream) // 2
        for broken, at_least in ((stream + b"xx", len(text)), (stream[:half] + b"\xff" * 50, len(text) // 3)):
            found = until_damage(pieces(bytes(broken), size))
            assert at_least <= len(found) <= len(text) + 200_000
            assert text.startswith(found[:at_least])

    def test_chunks_that_are_read_once_still_fail_cleanly(self) -> None:
        """Without a second reading, bytes after the end count as damage."""
        with pytest.raises(audit.SnapshotError):
            audit.decompress_all(iter([audit.compress(VEC_1) + b"x"]), limit_bytes=MIB)

    def test_empty_chunks_mean_nothing(self) -> None:
        stream = audit.compress(VEC_2)
        chunks = [b"", stream[:9], b"", stream[9:], b"", b""]
        assert audit.decompress_all(chunks, limit_bytes=MIB).decode() == VEC_2


class TestBombs:
    bomb = brotli.compress(b"\0" * 200_000_000, quality=5, lgwin=22)

    def test_a_bomb_stops_at_the_limit(self) -> None:
        """Some 300 bytes hold 200 MB; no more than the limit and one piece is ever produced."""
        assert len(self.bomb) < 400
        seen: list[int] = []
        with pytest.raises(audit.TooLargeError, match="1048576 bytes"):
            seen.extend(map(len, audit.decompress([self.bomb], limit_bytes=MIB)))
        assert 0 < sum(seen) <= MIB

    def test_a_bomb_does_not_fill_the_memory(self) -> None:
        with peak_memory() as peak:
            total = sum(len(piece) for piece in audit.decompress([self.bomb], limit_bytes=300 * MIB))
        assert total == 200_000_000
        assert peak[0] < 4 * MIB

    def test_output_of_exactly_the_limit_is_allowed(self) -> None:
        stream = brotli.compress(b"a" * 1000)
        assert audit.decompress_all([stream], limit_bytes=1000) == b"a" * 1000
        with pytest.raises(audit.TooLargeError):
            audit.decompress_all([stream], limit_bytes=999)


class TestBlob:
    def test_a_blob_is_read_in_chunks_and_again(self) -> None:
        connection = apsw.Connection(":memory:")
        data = random.Random(1).randbytes(200_000)
        connection.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB); INSERT INTO t VALUES (7, ?)", (data,))
        blob = audit.Blob(connection, "t", "b", 7)
        chunks = list(blob)
        assert b"".join(chunks) == data
        assert max(map(len, chunks)) <= 65536
        assert list(blob) == chunks

    @pytest.mark.parametrize("value", ["NULL", "1", "1.5"])
    def test_other_types_are_refused(self, value: str) -> None:
        connection = apsw.Connection(":memory:")
        connection.execute(f"CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB); INSERT INTO t VALUES (7, {value})")
        with pytest.raises(apsw.SQLError):
            list(audit.Blob(connection, "t", "b", 7))

    def test_an_empty_blob_has_no_chunks(self) -> None:
        connection = apsw.Connection(":memory:")
        connection.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB); INSERT INTO t VALUES (7, x'')")
        assert list(audit.Blob(connection, "t", "b", 7)) == []


class TestJavaScriptJson:
    @pytest.mark.parametrize(
        ("number", "text"),
        [
            (0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (100.0, "100"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.5e21, "1.5e+21"),
            (123456789012345680000, "123456789012345680000"),
            (12345678901234567890, "12345678901234567000"),
            (2**53, "9007199254740992"),
            (2**53 + 1, "9007199254740992"),
            (2**64, "18446744073709552000"),
            (-(2**64), "-18446744073709552000"),
            (1e23, "1e+23"),
            (1e-6, "0.000001"),
            (0.000001234, "0.000001234"),
            (1e-7, "1e-7"),
            (-1.5e-7, "-1.5e-7"),
            (5e-324, "5e-324"),
            (1.7976931348623157e308, "1.7976931348623157e+308"),
            (1 / 3, "0.3333333333333333"),
            (1.0000000000000002, "1.0000000000000002"),
            (123.456e10, "1234560000000"),
            (float("inf"), "null"),
            (float("nan"), "null"),
            (10**400, "null"),
        ],
    )
    def test_numbers_are_those_of_node(self, number: float, text: str) -> None:
        """The right column is what Node 20 prints."""
        assert audit.javascript_json([number]) == f"[{text}]"

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            ("\ud83d x \ude00", '"\\ud83d x \\ude00"'),
            ("\ud83d\ude00", '"😀"'),
            ("\ud83d\ud83d\ude00", '"\\ud83d😀"'),
            ("\u2028\u2029/\x7f\x80\ufeff", '"\u2028\u2029/\x7f\x80\ufeff"'),
            ('\0\x1f\b\t\n\f\r"\\', '"\\u0000\\u001f\\b\\t\\n\\f\\r\\"\\\\"'),
            ({"\udc00": None}, '{"\\udc00":null}'),
        ],
    )
    def test_strings_are_those_of_node(self, value: object, text: str) -> None:
        assert audit.javascript_json(value) == text

    def test_integer_like_keys_come_first(self) -> None:
        """Array indexes up to 2**32 - 2, ascending; then the others as inserted."""
        keys = ["b", "10", "2", "01", "-1", "4294967294", "4294967295", "a", "1.5", "", "0", "²"]
        text = audit.javascript_json(dict.fromkeys(keys, 1))
        expected = ["0", "2", "10", "4294967294", "b", "01", "-1", "4294967295", "a", "1.5", "", "²"]
        assert list(json.loads(text)) == expected

    @given(json_values)
    def test_python_reads_back_the_same_value(self, value: object) -> None:
        """Equal as JavaScript sees it: -0 is 0, 1.0 is 1."""
        text = audit.javascript_json(value)
        text.encode()
        assert json.loads(text) == value or audit.javascript_json(json.loads(text)) == text

    @given(json_values)
    def test_any_value_survives_the_whole_way(self, value: object) -> None:
        text = audit.javascript_json([value])
        data = audit.decompress_all([audit.compress(text)], limit_bytes=MIB)
        assert data.decode() == text

    def test_nothing_but_json_is_written(self) -> None:
        with pytest.raises(TypeError):
            audit.javascript_json({1: 2})
        with pytest.raises(TypeError):
            audit.javascript_json(b"x")

    def test_a_bottomless_value_is_refused(self) -> None:
        value: list[object] = []
        for _ in range(100_000):
            value = [value]
        with pytest.raises(JsonTextError, match="nested"):
            audit.javascript_json(value)

    @given(st.text(st.characters(exclude_categories=())))
    def test_length_is_that_of_javascript(self, text: str) -> None:
        """Characters above U+FFFF count two, everything else one, lone surrogates too."""
        assert audit.utf16_length(text) == sum(2 if ord(c) > 0xFFFF else 1 for c in text)


def reader(data: bytes, size: int = 10, entry: int = MIB, value: int = MIB) -> audit.EntryReader:
    return audit.EntryReader(iter(pieces(data, size)), entry_limit=entry, value_limit=value)


class TestAtOnce:
    """A short and ordinary array may be had as a whole; it then gives what iterating gives."""

    @given(st.lists(json_values, max_size=5), st.booleans(), st.sampled_from([1, 5, MIB]))
    def test_the_same_entries(self, values: list[object], spaced: bool, size: int) -> None:
        data = json.dumps(values, separators=(", ", ":") if spaced else (",", ":")).encode()
        plain, whole = reader(data, size), reader(data, size)
        texts = list(plain)
        found = whole.at_once()
        decoded = [jsontext.decode(text).value for text in texts]
        if found is not None:
            assert not (spaced and len(values) > 1)
            assert found == decoded
            whole.drain()
        else:
            assert [jsontext.decode(text).value for text in whole] == decoded
        assert (whole.utf8, whole.utf16) == (plain.utf8, plain.utf16)

    def test_what_javascript_writes_is_taken_as_a_whole(self) -> None:
        assert reader(VEC_1.encode(), MIB).at_once() == json.loads(VEC_1)
        assert reader(b"[]", MIB).at_once() == []

    @pytest.mark.parametrize(
        "text", [VEC_2, "3", '[{"a":1,"a":2}]', "[123456789012345678901234567890]", '["\\ud800"]', "[1] 2"]
    )
    def test_anything_odd_is_left_to_the_careful_way(self, text: str) -> None:
        odd = reader(text.encode(), MIB)
        assert odd.at_once() is None
        if text != "[1] 2":
            assert len(list(odd)) == 1

    def test_an_error_after_the_first_chunk_is_raised_behind_its_entries(self) -> None:
        def chunks() -> Iterator[bytes]:
            yield b"[1,2,"
            raise audit.TruncatedError("cut")

        broken = audit.EntryReader(chunks(), entry_limit=99, value_limit=99)
        assert broken.at_once() is None
        each = iter(broken)
        assert [next(each), next(each)] == ["1", "2"]
        with pytest.raises(audit.TruncatedError):
            next(each)


class TestEntryReader:
    @given(st.lists(json_values, max_size=6), st.integers(1, 64), st.booleans())
    def test_entries_are_the_elements_of_the_array(self, values: list[object], size: int, spaced: bool) -> None:
        """However the text is cut, characters of several bytes included; sizes are counted in both units."""
        text = json.dumps(values, ensure_ascii=False, indent=1) if spaced else audit.javascript_json(values)
        data = text.encode("utf-8", "surrogatepass")
        if b"\xed\xa0" in data or b"\xed\xb0" in data:
            return
        found = reader(data, size)
        assert [json.loads(entry) for entry in found] == json.loads(text)
        assert found.root == "array"
        assert found.utf8 == len(data)
        assert found.utf16 == audit.utf16_length(text)

    @given(json_values.filter(lambda value: not isinstance(value, list)), st.integers(1, 64))
    def test_another_root_is_its_own_entry(self, value: object, size: int) -> None:
        text = audit.javascript_json(value)
        found = reader(text.encode(), size)
        assert [json.loads(entry) for entry in found] == [json.loads(text)]
        assert found.root == ("object" if isinstance(value, dict) else "scalar")
        assert (found.utf8, found.utf16) == (len(text.encode()), audit.utf16_length(text))

    @pytest.mark.parametrize("size", [1, 3, 1000])
    @pytest.mark.parametrize(
        "text",
        [
            "[",
            "[1",
            "[1,",
            "[1,]",
            "[,1]",
            "[1 2]",
            "[1]x",
            "[1][2]",
            '["a',
            "[tru]",
            "[NaN]",
            '[{"a":}]',
            "[01]",
            "[-]",
        ],
    )
    def test_broken_arrays_are_refused(self, text: str, size: int) -> None:
        with pytest.raises(JsonTextError):
            list(reader(text.encode(), size))

    @pytest.mark.parametrize("data", [b"", b"  \n", b"\0" * 100, b"\xef\xbb\xbf[]", b"x", b"]", b"'a'"])
    def test_what_begins_no_value_is_refused_at_once(self, data: bytes) -> None:
        found = reader(data, 1)
        with pytest.raises(JsonTextError):
            found.begin()
        assert found.root is None

    def test_the_root_is_known_before_the_first_entry(self) -> None:
        found = reader(b"  [1,2]", 3)
        found.begin()
        found.begin()
        assert found.root == "array"
        assert list(found) == ["1", "2"]

    def test_draining_after_the_beginning_counts_everything(self) -> None:
        text = '["é", "😀"]'
        found = reader(text.encode(), 4)
        found.begin()
        found.drain()
        assert (found.utf8, found.utf16) == (len(text.encode()), audit.utf16_length(text))

    @pytest.mark.parametrize("text", ["[]", " [ ] ", "\n[\t1 ,\r2 ]\n"])
    def test_white_space_is_allowed(self, text: str) -> None:
        assert [json.loads(entry) for entry in reader(text.encode(), 1)] == json.loads(text)

    @pytest.mark.parametrize("data", [b'["\xff"]', b'["\xed\xa0\x80"]', b'["\xe2\x82', b'["a"]\xc3'])
    def test_what_is_not_utf_8_is_refused(self, data: bytes) -> None:
        with pytest.raises(JsonTextError):
            list(reader(data, 1))

    def test_a_large_entry_is_refused_and_the_rest_still_counted(self) -> None:
        text = json.dumps([1, "é" * 5000, 2], ensure_ascii=False)
        found = reader(text.encode(), 100, entry=1000)
        with pytest.raises(audit.EntryTooLargeError):
            list(found)
        found.drain()
        assert found.utf8 == len(text.encode())
        assert found.utf16 == len(text)

    def test_a_large_value_is_refused_and_the_rest_still_counted(self) -> None:
        text = json.dumps({"a": "é" * 5000}, ensure_ascii=False)
        found = reader(text.encode(), 7, value=1000)
        with pytest.raises(audit.EntryTooLargeError):
            list(found)
        found.drain()
        assert (found.utf8, found.utf16) == (len(text.encode()), len(text))

    def test_the_rest_of_a_large_value_must_be_utf_8(self) -> None:
        found = reader(b'{"a":"' + b"x" * 5000 + b'\xff"}', 7, value=1000)
        with pytest.raises(audit.EntryTooLargeError):
            list(found)
        with pytest.raises(JsonTextError, match="UTF-8"):
            found.drain()

    def test_a_certain_error_is_not_taken_for_a_large_entry(self) -> None:
        """Zeros are no JSON, however many follow."""
        with pytest.raises(JsonTextError):
            list(reader(b"[" + b"\0" * 100_000, 1000, entry=5000))

    def test_a_long_entry_costs_linear_effort(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """An entry that spans many chunks is not scanned again for each of them."""
        calls = 0
        found = reader(json.dumps(["a" * 400_000]).encode(), 100)
        scan = entries._SCANNER.raw_decode

        def counted(text: str, position: int) -> tuple[object, int]:
            nonlocal calls
            calls += 1
            return scan(text, position)

        monkeypatch.setattr(entries._SCANNER, "raw_decode", counted)
        assert len(list(found)) == 1
        assert calls < 20

    def test_an_endless_number_is_an_entry(self) -> None:
        """Python refuses integers above 4300 digits; here only their end is looked for."""
        digits = "1" * 10_000
        assert list(reader(f"[{digits}]".encode(), 100)) == [digits]

    def test_a_deep_entry_is_refused(self) -> None:
        with pytest.raises(JsonTextError):
            list(reader(b"[" + b"[" * 200_000, 1000))

    def test_memory_is_that_of_one_entry(self) -> None:
        """40 MB of entries, a few hundred KB at a time."""
        entry = json.dumps({"seq": 1, "text": "x" * 1000}).encode()
        chunk = b",".join([entry] * 100)

        def stream() -> Iterator[bytes]:
            yield b"[" + chunk
            for _ in range(400):
                yield b"," + chunk
            yield b"]"

        with peak_memory() as peak:
            count = sum(1 for _ in audit.EntryReader(stream(), entry_limit=MIB, value_limit=MIB))
        assert count == 40_100
        assert peak[0] < 4 * MIB


def test_sizes_are_counted_across_cut_characters() -> None:
    """A character may be cut by any chunk border."""
    text = "[" + ",".join(f'"{c}"' for c in "aé€😀") + "]"
    data = text.encode()
    for left, right in pairwise(range(0, len(data) + 1, len(data) // 3)):
        found = audit.EntryReader(iter([data[:left], data[left:right], data[right:]]), entry_limit=99, value_limit=99)
        assert [json.loads(entry) for entry in found] == list("aé€😀")
        assert found.utf16 == audit.utf16_length(text)

"""JSON text is read as JavaScript wrote it: nothing is rounded, merged, dropped or crashed upon."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format import jsontext
from adf_format.errors import JsonTextError
from adf_format.jsontext import MAX_INT_DIGITS, decode, decode_column

CHARACTERS = st.characters(codec=None)  # every code point, lone surrogates included
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(CHARACTERS),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(CHARACTERS), inner),
    max_leaves=12,
)
TEXTS = st.builds(json.dumps, VALUES, ensure_ascii=st.booleans(), indent=st.sampled_from([None, 1]))


def same(left: Any, right: Any) -> bool:
    """Equality that tells 1 from 1.0 and True."""
    return type(left) is type(right) and repr(left) == repr(right)


def reference(text: str | bytes) -> Any:
    """The standard module, told to be strict."""

    def refuse(name: str) -> Any:
        raise ValueError(name)

    return json.loads(text if isinstance(text, str) else text.decode(), parse_constant=refuse)


@given(TEXTS)
def test_whatever_text_it_reads_the_same_as_the_standard_module(text: str) -> None:
    decoded = decode(text)
    assert same(decoded.value, json.loads(text))
    assert not decoded.duplicates


@given(VALUES)
def test_text_as_javascript_writes_it_survives_byte_for_byte(value: Any) -> None:
    """JSON.stringify escapes lone surrogates only; decoding and writing again gives the same bytes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    text = "".join(f"\\u{ord(one):04x}" if "\ud800" <= one <= "\udfff" else one for one in text)
    assert same(decode(text.encode()).value, decode(text).value)
    assert json.loads(text) == decode(text).value


@given(st.text(CHARACTERS, max_size=30) | st.binary(max_size=30))
def test_text_that_is_not_json_raises_one_error_and_nothing_else(text: str | bytes) -> None:
    try:
        value = reference(text)
    except ValueError:
        with pytest.raises(JsonTextError) as caught:
            decode(text)
        assert len(str(caught.value).splitlines()) == 1
    else:
        assert same(decode(text).value, value)


@given(TEXTS)
def test_the_fast_path_counts_only_where_it_loses_nothing(text: str) -> None:
    careful = jsontext._decode_carefully(text)
    try:
        fast = orjson.loads(text)
        lossless = orjson.dumps(fast) == text.encode()
    except (orjson.JSONDecodeError, orjson.JSONEncodeError, UnicodeEncodeError):
        return
    if lossless:
        assert same(fast, careful.value)
        assert not careful.duplicates


def test_compact_text_takes_the_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsontext, "_decode_carefully", lambda _: pytest.fail("the slow path was taken"))
    assert decode('[{"type":"text","text":"häuser 👋"}]').value == [{"type": "text", "text": "häuser 👋"}]
    assert decode(b'{"input":503,"output":42}').value == {"input": 503, "output": 42}


@pytest.mark.parametrize("surrogate", ["\\ud83d", "\\udc4b", "a\\ud83d\\ud83db"])
def test_lone_surrogates_are_kept(surrogate: str) -> None:
    text = f'["{surrogate}"]'
    assert decode(text).value == json.loads(text)
    assert decode(text.encode()).value == json.loads(text)


def test_a_raw_lone_surrogate_in_a_str_is_kept_too() -> None:
    assert decode('["\ud83d"]').value == ["\ud83d"]


@pytest.mark.parametrize("number", [2**53 + 1, 2**63, 2**64, -(2**64) - 1, 10**400])
def test_large_integers_are_exact(number: int) -> None:
    assert same(decode(f"[{number}]").value, [number])


@pytest.mark.parametrize("digits", ["9" * (MAX_INT_DIGITS + 1), "-" + "7" * 10_000])
def test_integers_longer_than_python_converts_become_decimals(digits: str) -> None:
    value = decode(f"[{digits}]").value[0]
    assert isinstance(value, Decimal)
    assert str(value) == digits


def test_an_integer_at_the_limit_of_digits_is_still_an_int() -> None:
    digits = "1" * MAX_INT_DIGITS
    assert decode(digits).value == int(digits)


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1e99999"])
def test_a_number_beyond_the_range_of_a_double_is_no_infinity(text: str) -> None:
    value = decode(f'{{"n":{text}}}').value["n"]
    assert isinstance(value, Decimal)
    assert value == Decimal(text)


def test_an_exponent_beyond_all_reach_is_an_error_of_the_text() -> None:
    with pytest.raises(JsonTextError, match="too large"):
        decode(f"[1e{'9' * 30}]")
    assert decode(f"[1e-{'9' * 30}]").value == [0.0]


@pytest.mark.parametrize("text", ["1.0", "-0.0", "1e2", "0.1", "5e-324", "1.7976931348623157e308"])
def test_floats_keep_their_type_and_sign(text: str) -> None:
    value = decode(text).value
    assert same(value, float(text))
    assert math.copysign(1, value) == math.copysign(1, float(text))


def test_duplicate_keys_are_named_at_every_depth_and_the_last_value_wins() -> None:
    decoded = decode('{"a":1,"b":[{"c":1,"c":2,"d":0}],"a":{"c":3,"c":4,"c":5}}')
    assert decoded.value == {"a": {"c": 5}, "b": [{"c": 2, "d": 0}]}
    assert decoded.duplicates == ["c", "c", "a"]


def test_keys_that_differ_only_in_their_escapes_are_duplicates() -> None:
    assert decode('{"a":1,"\\u0061":2}').duplicates == ["a"]


def test_equal_keys_in_different_objects_are_no_duplicates() -> None:
    assert not decode('[{"a":1},{"a":1, "b":{"a":2}}]').duplicates


@pytest.mark.parametrize("depth", [5_000, 100_000])
@pytest.mark.parametrize(("left", "right"), [("[", "]"), ('{"a":', "}")])
def test_deep_nesting_is_an_error_not_a_crash(depth: int, left: str, right: str) -> None:
    with pytest.raises(JsonTextError, match="nested too deeply"):
        decode(left * depth + "1" + right * depth)


def test_moderate_nesting_is_read() -> None:
    value = decode("[" * 200 + "]" * 200).value
    assert isinstance(value, list)


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_names_of_numbers_are_not_json(name: str) -> None:
    with pytest.raises(JsonTextError, match=f"{name} is not JSON"):
        decode(f'[1,{{"a":{name}}}]')


@pytest.mark.parametrize("text", ['\ufeff{"a":1}', '\ufeff{"a":1}'.encode()])
def test_a_byte_order_mark_is_not_json(text: str | bytes) -> None:
    with pytest.raises(JsonTextError):
        decode(text)


def test_bytes_that_are_not_utf8_say_where() -> None:
    with pytest.raises(JsonTextError, match="not UTF-8") as caught:
        decode(b'["h\xe4llo"]')
    assert caught.value.place == "byte 3"


@pytest.mark.parametrize(
    ("text", "place"), [("", "character 0"), ('[{"type":"text","text":"cut', "character 23"), ("[1] 2", "character 4")]
)
def test_malformed_text_says_at_which_character(text: str, place: str) -> None:
    with pytest.raises(JsonTextError) as caught:
        decode(text)
    assert caught.value.place == place
    assert caught.value.message[0].islower()
    assert not caught.value.message.endswith(".")


@pytest.mark.parametrize("text", ["'a'", "{a:1}", "[1,]", '{"a":1,}', "// x\n1", '"\x01"', "01", "+1", ".5", '"\\x41"'])
def test_what_only_lenient_parsers_accept_is_refused(text: str) -> None:
    with pytest.raises(JsonTextError):
        decode(text)


def test_nul_characters_are_kept() -> None:
    assert decode('"a\\u0000b"').value == "a\x00b"


def test_a_column_above_the_limit_is_named_and_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsontext, "MAX_COLUMN", 5)
    assert decode_column("[123]").value == [123]
    with pytest.raises(JsonTextError, match="JSON of 6 characters was not decoded"):
        decode_column("[1234]")

"""One spelling per JSON value: equal values agree, different values do not, whichever path a text takes."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format.digest.canonical import MAX_DEPTH, NotCanonicalError, canonical

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=()))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(exclude_categories=())), inner, max_size=4)
    ),
    max_leaves=12,
)


def shuffled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(value)}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


@given(VALUES)
def test_key_order_spacing_and_escapes_do_not_matter(value: Any) -> None:
    compact = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert canonical(json.dumps(shuffled(value), indent=1)) == canonical(compact)


@given(VALUES)
def test_the_spelling_is_json_of_the_same_value_and_its_own_spelling(value: Any) -> None:
    spelled = canonical(json.dumps(value))
    exact = {"parse_int": Decimal, "parse_float": Decimal}
    assert json.loads(spelled, **exact) == json.loads(json.dumps(value), **exact)
    assert canonical(spelled) == spelled


@given(VALUES, VALUES)
def test_equal_spellings_mean_equal_values(one: Any, other: Any) -> None:
    exact = {"parse_int": lambda text: f"n{Decimal(text)}", "parse_float": lambda text: f"n{Decimal(text).normalize()}"}
    same = json.loads(json.dumps(one), **exact) == json.loads(json.dumps(other), **exact)
    if canonical(json.dumps(one)) == canonical(json.dumps(other)):
        assert same or Decimal in {type(one), type(other)} or one == other


@pytest.mark.parametrize(
    "texts",
    [
        ("1", "1.0", "1e0", "10e-1", "0.1e1"),
        ("0", "-0", "0.0", "-0.0", "0e5"),
        ("1e21", "1000000000000000000000", "1.0e21"),
        ("1e5000", "1" + "0" * 5000),
        ("0.1", "1e-1", "0.10"),
        ("1.5e-7", "0.00000015"),
        ("18446744073709551616", "18446744073709551616.0"),
        ('"\\ud83d\\ude00"', '"\U0001f600"'),
        ('"\\/"', '"/"'),
        ('"\\u0041"', '"A"'),
        ('"\\ud83d"', '"\\uD83D"'),
        (' {"a" : 1 , "b":[ ] } ', '{"b":[],"a":1}'),
    ],
)
def test_spellings_of_one_value(texts: tuple[str, ...]) -> None:
    assert len({canonical(text) for text in texts}) == 1


@pytest.mark.parametrize(
    "texts",
    [
        ("0.1", "0.10000000000000001"),
        ("9007199254740992", "9007199254740993", "9007199254740993.0000001"),
        ("1e400", "2e400", "1e401"),
        ("1e-400", "0", "1e-401"),
        ("1", '"1"', "true", "[1]"),
        ('"\\ud83d"', '"\\ud83e"', '"\\\\ud83d"', '"\ufffd"'),
        ("null", "[]", "{}", '""'),
        ('{"a":1,"b":2}', '{"a":2,"b":1}'),
        ("[1,2]", "[2,1]", "[[1],2]", "[[1,2]]"),
    ],
)
def test_different_values_stay_different(texts: tuple[str, ...]) -> None:
    assert len({canonical(text) for text in texts}) == len(texts)


@pytest.mark.parametrize(
    "text",
    ["", "{", "NaN", "[1,]", '{"a":1,"a":1}', "[" * 300 + "]" * 300, "[" * 100_000, b"\xff", "1e999999999999999999999"],
)
def test_what_has_no_certain_value_is_refused(text: str | bytes) -> None:
    with pytest.raises(NotCanonicalError):
        canonical(text)


def test_the_limit_of_depth_is_the_same_on_both_paths() -> None:
    fast = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert canonical(fast) == canonical(fast.replace("[", "[ ")) == fast.encode()
    for text in ("[" + fast + "]", "[ " + fast + "]"):
        with pytest.raises(NotCanonicalError):
            canonical(text)

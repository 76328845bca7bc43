"""The fast path and the explaining path say the same, and an explanation names place, severity and reason."""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format.schemas import LATEST, OLDEST, Checker, Problem, checker, document, storage_version, urns
from adf_format.schemas.checker import brief, kind, pointer
from adf_format.schemas.fast import surely
from adf_format.validation.rule import Severity

DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCHEMAS = [
    urn
    for urn in urns()
    if urn.split(":")[2] in {"tables", "config", "audit", "values"} and document(urn)["$schema"] == DIALECT
]
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
STRINGS = st.sampled_from(["", "main", "loop\n", "é", "did:key:z", "a" * 5000, "\ud83d", "2026-01-01T00:00:00.000Z"])
EXTREMES = st.sampled_from([2**64, -(2**70), 10**400, Decimal("1e400"), 1.0, -0.0, 1e300])
ODD = (
    LEAVES
    | STRINGS
    | EXTREMES
    | st.builds(list)
    | st.builds(dict)
    | st.builds(lambda: [{}])
    | st.builds(lambda: [1, 1])
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value inside a value, the root left out."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, one in inner for place in ((*path, key), *places(one, (*path, key)))]


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, Any]:
    """A schema and one of its examples, changed in up to three places."""
    urn = draw(st.sampled_from(SCHEMAS))
    value = copy.deepcopy(draw(st.sampled_from(document(urn)["examples"])))
    for _ in range(draw(st.integers(0, 3))):
        known = places(value)
        if not known:
            return urn, draw(ODD)
        *path, last = draw(st.sampled_from(known))
        holder = value
        for key in path:
            holder = holder[key]
        if draw(st.booleans()):
            holder[last] = draw(ODD)
        elif isinstance(holder, dict):
            del holder[last]
            holder["unknown"] = draw(ODD)
        else:
            holder.append(draw(ODD))
    return urn, value


@given(damaged())
def test_both_paths_agree_and_every_explanation_has_a_place(case: tuple[str, Any]) -> None:
    urn, value = case
    problems = list(checker(urn).problems(value))
    assert checker(urn).is_valid(value) == (not problems)
    known = {pointer(path) for path in places(value)} | {""}
    for problem in problems:
        assert problem.pointer in known
        assert Severity.of(problem.severity)
        assert len(problem.message.splitlines()) == 1
        assert (problem.key is not None) == (problem.keyword == "required")
        json.dumps(problem.message).encode()


@pytest.mark.parametrize("version", range(OLDEST, LATEST + 1))
def test_unknown_keys_are_legal_everywhere_in_a_config(version: int) -> None:
    urn = storage_version(version).agent_config
    value = copy.deepcopy(document(urn)["examples"][0])

    def spread(inner: Any) -> None:
        if isinstance(inner, dict) and "name" not in inner:
            for one in inner.values():
                spread(one)
            inner["x_unknown"] = {"deep": [1]}

    spread(value)
    before = set(checker(urn).problems(document(urn)["examples"][0]))
    assert {one for one in checker(urn).problems(value) if "x_unknown" in one.pointer} - before == set()


def problems(schema: dict[str, Any], value: Any) -> list[Problem]:
    return list(Checker(schema).problems(value))


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"type": "string"}, 1, "integer where string is expected"),
        ({"type": ["string", "null"]}, [], "array where string or null is expected"),
        ({"enum": ["a", 2]}, "b", '"b" is not one of "a", 2'),
        ({"const": "0.2"}, 0.2, '0.2 is not "0.2"'),
        ({"pattern": "^a$"}, "b", '"b" does not have the form ^a$'),
        ({"minLength": 2}, "a", "shorter than 2 characters"),
        ({"maxLength": 1}, "ab", "longer than 1 characters"),
        ({"minimum": 1}, 0, "0 is below 1"),
        ({"maximum": 1}, 2, "2 is above 1"),
        ({"exclusiveMinimum": 0}, 0, "0 is not above 0"),
        ({"minItems": 1}, [], "fewer than 1 items"),
        ({"maxItems": 0}, [1], "more than 0 items"),
        ({"uniqueItems": True}, [1, 1], "items are repeated"),
        ({"multipleOf": 2}, 3, "3 breaks multipleOf"),
        ({"required": ["k"]}, {}, "the key 'k' is missing"),
    ],
)
def test_a_message_says_what_is_wrong(schema: dict[str, Any], value: Any, message: str) -> None:
    assert [one.message for one in problems(schema, value)] == [message]


def test_severity_comes_from_the_schema_that_was_broken() -> None:
    schema = {
        "properties": {"a": {"maxLength": 1, "x-adf-severity": {"maxLength": "warning"}}, "b": {"maxLength": 1}},
        "required": ["c", "d"],
        "x-adf-severity": {"required": {"d": "info"}},
    }
    found = {(one.pointer, one.key): one.severity for one in problems(schema, {"a": "xx", "b": "xx"})}
    assert found == {("/a", None): "warning", ("/b", None): "error", ("", "c"): "error", ("", "d"): "info"}


def test_required_may_have_one_severity_for_all_keys() -> None:
    schema = {"required": ["a", "b"], "x-adf-severity": {"required": "warning"}}
    assert [one.severity for one in problems(schema, {})] == ["warning", "warning"]


def test_a_value_of_the_wrong_type_is_told_once() -> None:
    schema = {"type": "string", "enum": ["a"], "minLength": 1}
    assert [one.keyword for one in problems(schema, 5)] == ["type"]


def test_of_two_tiers_of_one_constraint_the_worse_is_told_whatever_their_order() -> None:
    mild = {"maxLength": 1, "x-adf-severity": {"maxLength": "warning"}}
    for schema in ({**mild, "allOf": [{"maxLength": 3}]}, {"maxLength": 3, "allOf": [mild]}):
        assert [one.severity for one in problems(schema, "xxxx")] == ["error"]
        assert [one.severity for one in problems(schema, "xx")] == ["warning"]


def test_a_value_that_fits_no_alternative_is_told_once() -> None:
    schema = {"anyOf": [{"type": "object", "required": ["a"]}, {"type": "array"}]}
    assert [(one.keyword, one.message) for one in problems(schema, 5)] == [("anyOf", "5 breaks anyOf")]
    assert problems(schema, {"a": 1}) == []


@pytest.mark.parametrize(("number", "good"), [("1e400", True), ("9" * 5000, True), ("0.5", False), ("1e-400", False)])
def test_a_number_too_large_for_python_is_an_integer_if_it_has_no_fraction(number: str, good: bool) -> None:
    one = Checker({"type": "integer"})
    assert one.is_valid(Decimal(number)) is good
    assert (list(one.problems(Decimal(number))) == []) is good


def test_a_pointer_escapes_what_rfc_6901_escapes() -> None:
    assert pointer(["a/b", "c~d", 0]) == "/a~1b/c~0d/0"
    assert problems({"properties": {"a/b": {"type": "null"}}}, {"a/b": 1})[0].pointer == "/a~1b"


@pytest.mark.parametrize(
    ("value", "name"),
    [(True, "boolean"), (1, "integer"), (1.5, "number"), (Decimal(1), "number"), (None, "null"), ({}, "object")],
)
def test_json_types_have_their_names(value: Any, name: str) -> None:
    assert kind(value) == name


def test_a_value_is_shown_as_json_cut_visibly_and_without_raw_control_characters() -> None:
    assert brief("\x1b[31m\u202e") == '"\\u001b[31m\\u202e"'
    assert brief("\ud83d") == '"\\ud83d"'
    assert brief("x" * 100) == '"' + "x" * 38 + "…"
    assert brief(Decimal("1e400")) == '"1E+400"'


def test_a_schema_is_compiled_once() -> None:
    assert checker(SCHEMAS[0]) is checker(SCHEMAS[0])


def test_what_the_fast_path_cannot_hold_is_not_surely_valid() -> None:
    schema = {"type": "string"}
    accepts = surely(schema)
    assert accepts("a")
    assert not accepts(1)
    assert Checker(schema).is_valid("\ud83d")
    assert not accepts("\ud83d")

"""The explaining path finds what the fast path refuses, and does not get lost in long arrays."""

import time
from typing import Any

import pytest

from adf_format.schemas import checker, storage_version
from adf_format.schemas.checker import Checker, brief
from adf_format.schemas.explaining import LONG

LOOP = "urn:adf-format:config:loop-config:29"


def loop(name: str) -> dict[str, Any]:
    return {"name": name, "goal": "Tend.", "enabled": True}


@pytest.mark.parametrize("name", ["a\n", "\na", "A", "", "a" * 33])
def test_both_paths_refuse_a_name_that_only_a_part_of_the_pattern_matches(name: str) -> None:
    """Python's `$` matches before a final newline, JavaScript's does not."""
    check = checker(LOOP)
    assert not check.is_valid(loop(name))
    assert [(problem.pointer, problem.keyword) for problem in check.problems(loop(name))] == [("/name", "pattern")]


def test_both_paths_accept_a_good_name() -> None:
    assert checker(LOOP).is_valid(loop("a"))
    assert not list(checker(LOOP).problems(loop("a")))


def test_one_bad_item_among_many_is_explained_at_its_index_in_little_time() -> None:
    config = {"loops": [loop("a")] * 200_000}
    config["loops"][150_000] = {**loop("a"), "goal": 1}
    started = time.perf_counter()
    found = [one for one in checker(storage_version(32).agent_config).problems(config) if "/loops" in one.pointer]
    assert [(one.pointer, one.keyword) for one in found] == [("/loops/150000/goal", "type")]
    assert time.perf_counter() - started < 5  # 20 s if each good item were explained


@pytest.mark.parametrize("count", [LONG, LONG + 1])
def test_items_are_explained_the_same_way_on_both_sides_of_the_limit(count: int) -> None:
    schema = {"items": {"type": "string", "minLength": 1}, "maxItems": LONG}
    found = [(one.pointer, one.keyword) for one in Checker(schema).problems(["x"] * (count - 2) + ["", 5])]
    inside = [(f"/{count - 2}", "minLength"), (f"/{count - 1}", "type")]
    assert sorted(found) == sorted(inside + [("", "maxItems")] * (count > LONG))


SCHEMAS = [{"type": "string"}, {"enum": ["a"]}, {"const": "a"}, {"minItems": 2}, {"type": ["string", "null"]}]


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_a_broken_keyword_is_explained_for_a_value_of_any_depth(schema: dict[str, Any]) -> None:
    """Printing such a value, as jsonschema does in its messages, ends in a RecursionError."""
    assert [one.keyword for one in Checker(schema).problems(nested(5000))] == list(schema)


@pytest.mark.parametrize("schema", [{"type": ["object", "array"]}, {"maxItems": 1}, {"minItems": 1}], ids=str)
def test_a_kept_keyword_is_no_problem_for_a_deep_value(schema: dict[str, Any]) -> None:
    assert not list(Checker(schema).problems(nested(5000)))


def test_a_value_nested_too_deeply_to_print_is_named_all_the_same() -> None:
    assert brief(nested(100_000)) == "a deeply nested array"


@pytest.mark.parametrize("count", [LONG, LONG + 1, 10 * LONG])
@pytest.mark.parametrize("text", ["fine", "half a surrogate pair: \ud800"])
def test_items_that_refer_to_their_own_document_are_explained_in_arrays_of_any_length(count: int, text: str) -> None:
    """The items of a message do: their fast path used to look for `#/$defs` in the items themselves."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] * (count - 1) + [{"type": "text"}]
    found = checker(storage_version(32).value("content")).problems(blocks)
    assert [(one.pointer, one.keyword, one.key) for one in found] == [(f"/{count - 1}", "required", "text")]

"""One value changes in a JSON text, and no other byte (MEM-053)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format.errors import JsonTextError
from adf_format.memory import splice

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
layouts = st.sampled_from([{"indent": 2}, {"indent": 4}, {}, {"separators": (",", ":")}, {"indent": "\t"}])


@given(st.dictionaries(st.text(max_size=4), values, max_size=4), st.text(max_size=4), values, layouts)
def test_setting_and_removing_a_member(document: dict[str, Any], key: str, value: Any, layout: dict[str, Any]) -> None:
    text = json.dumps(document, ensure_ascii=False, **layout)
    after = splice.set_member(text, splice.parse(text), key, value)
    assert json.loads(after) == document | {key: value}
    assert list(json.loads(after)) == list(document | {key: value})
    again = splice.remove_member(after, splice.parse(after), key)
    assert json.loads(again) == {name: one for name, one in document.items() if name != key}
    if key not in document:
        assert after.startswith(text[: text.rstrip("}\n\t ").__len__()]) or not document


@given(
    st.lists(values, max_size=4), st.dictionaries(st.text(max_size=4), values, max_size=2), layouts, st.integers(0, 3)
)
def test_adding_and_removing_an_item(items: list[Any], value: Any, layout: dict[str, Any], index: int) -> None:
    text = json.dumps({"tasks": items, "z": 1}, ensure_ascii=False, **layout)
    after = splice.append_item(text, splice.parse(text).members["tasks"], value)
    assert json.loads(after) == {"tasks": [*items, value], "z": 1}
    if index <= len(items):
        fewer = splice.remove_item(after, splice.parse(after).members["tasks"], index)
        left = [*items, value]
        del left[index]
        assert json.loads(fewer) == {"tasks": left, "z": 1}


def test_the_layout_is_followed() -> None:
    text = '{\r\n  "a": 1.50,\r\n  "tasks": [\r\n    {"id": 1e2}\r\n  ]\r\n}\r\n'
    after = splice.append_item(text, splice.parse(text).members["tasks"], {"id": "x"})
    assert (
        after
        == '{\r\n  "a": 1.50,\r\n  "tasks": [\r\n    {"id": 1e2},\r\n    {\r\n      "id": "x"\r\n    }\r\n  ]\r\n}\r\n'
    )
    more = splice.set_member(after, splice.parse(after), "b", True)
    assert more.endswith('\r\n  ],\r\n  "b": true\r\n}\r\n')


@pytest.mark.parametrize("text", ["", "{", '{"a": 1, "a": 2}', "[1,]", "nope"])
def test_what_cannot_be_changed(text: str) -> None:
    with pytest.raises(JsonTextError):
        splice.parse(text)

"""Dot paths into a configuration, as `config/update` and `sys_update_config` use them."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format.runtime.settings import paths
from adf_format.runtime.settings.paths import PathError

CONFIG = {
    "name": "Ada",
    "model": {"temperature": 0.5},
    "tools": [{"name": "fs_read", "enabled": True}, {"name": "0", "enabled": False}],
    "serving": {"api": [{"id": "r1", "path": "/x"}]},
    "icon": None,
}


@pytest.mark.parametrize(
    ("path", "segments"),
    [
        ("", ()),
        ("model.temperature", ("model", "temperature")),
        ("tools.fs_read.enabled", ("tools", 0, "enabled")),
        ("tools.0", ("tools", 0)),
        ("tools.1.enabled", ("tools", 1, "enabled")),
        ("serving.api.r1", ("serving", "api", 0)),
        ("a.b.c", ("a", "b", "c")),
    ],
)
def test_a_path_names_elements_by_index_name_or_id(path: str, segments: tuple[Any, ...]) -> None:
    assert paths.resolve(CONFIG, path) == segments


@pytest.mark.parametrize("path", ["tools.2", "tools.none", "tools.99999999999999999999", "a..b", ".", "a." * 40 + "b"])
def test_what_leads_nowhere_is_refused(path: str) -> None:
    with pytest.raises(PathError):
        paths.resolve(CONFIG, path)


def test_locks_see_a_path_without_indexes() -> None:
    assert paths.names(("tools", 0, "enabled")) == ("tools", "enabled")


def test_missing_objects_on_the_way_are_made_and_nothing_else_changes() -> None:
    before = copy.deepcopy(CONFIG)
    made = paths.put(CONFIG, "context.audit.loop", False)
    assert made["context"] == {"audit": {"loop": False}}
    assert paths.put(CONFIG, "icon.x", 1)["icon"] == {"x": 1}
    assert before == CONFIG
    assert {key: value for key, value in made.items() if key != "context"} == before


def test_arrays_are_changed_and_extended_element_by_element() -> None:
    assert paths.put(CONFIG, "tools.fs_read.enabled", False)["tools"][0] == {"name": "fs_read", "enabled": False}
    assert len(paths.append(CONFIG, "tools", {"name": "x"})["tools"]) == 3
    assert paths.append(CONFIG, "loops", {"name": "x"})["loops"] == [{"name": "x"}]
    assert [tool["name"] for tool in paths.remove(CONFIG, "tools.0")["tools"]] == ["0"]
    assert paths.get(CONFIG, "serving.api.r1.path") == "/x"


@pytest.mark.parametrize(
    "change",
    [
        lambda: paths.put(CONFIG, "name.x", 1),
        lambda: paths.put(CONFIG, "name.x.y", 1),
        lambda: paths.put(CONFIG, "", []),
        lambda: paths.append(CONFIG, "model", 1),
        lambda: paths.remove(CONFIG, "model.top_p"),
        lambda: paths.remove(CONFIG, ""),
        lambda: paths.get(CONFIG, "name.x"),
    ],
)
def test_impossible_changes_are_refused(change: Any) -> None:
    with pytest.raises(PathError):
        change()


NAMES = st.sampled_from(["a", "b", "tools", "0", "1", "name"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.lists(NAMES, min_size=1, max_size=4).map(".".join), VALUES)
def test_what_is_put_is_got_and_a_refusal_changes_nothing(config: dict[str, Any], path: str, value: Any) -> None:
    before = copy.deepcopy(config)
    try:
        made = paths.put(config, path, value)
    except PathError:
        assert config == before
        return
    assert config == before
    segments = paths.resolve(made, path)
    if segments == paths.resolve(config, path):
        assert paths.get(made, path) == value

"""Which keys of `adf_meta` belong to the format, and what is asked of their values."""

from __future__ import annotations

import pytest

from adf_format.schemas import metakeys


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("adf_version", "adf_version"),
        ("adf_runtime_turn_checkpoint", "adf_runtime_turn_checkpoint"),
        ("adf_runtime_turn_checkpoint:gardener", "adf_runtime_turn_checkpoint"),
        ("context_baseline_tokens:gardener", "context_baseline_tokens"),
    ],
)
def test_a_key_of_the_format_is_found_also_with_the_name_of_a_loop(key: str, name: str) -> None:
    found = metakeys.find(key)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("key", ["counter", "adf_version:main", "ADF_VERSION", "", "adf_runtime_turn_checkpointx"])
def test_every_other_key_belongs_to_the_agent(key: str) -> None:
    assert metakeys.find(key) is None


def test_a_prefix_stands_for_every_key_that_starts_with_it() -> None:
    prefixes = [entry for entry in metakeys.registry() if entry.prefix]
    assert prefixes
    for entry in prefixes:
        assert entry.fits(entry.name + "anything")
        assert not entry.fits("x" + entry.name)


def test_the_required_keys_are_the_two_versions() -> None:
    assert [entry.name for entry in metakeys.registry() if entry.required] == ["adf_version", "adf_schema_version"]


def test_values_are_checked_by_the_schema_of_their_key() -> None:
    version = metakeys.find("adf_schema_version")
    assert version is not None
    assert version.check.is_valid("32")
    assert not version.check.is_valid("v32")
    history = metakeys.find("adf_did_history")
    assert history is not None
    assert history.json
    assert history.check.is_valid([])
    assert not history.check.is_valid({})


def test_keys_of_newer_builds_may_stand_in_any_file_from_28_on() -> None:
    assert {entry.since for entry in metakeys.registry()} >= {21, metakeys.NEWER_BUILDS}
    assert all(isinstance(entry.since, int) for entry in metakeys.registry())

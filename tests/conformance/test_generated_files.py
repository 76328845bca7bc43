"""Generated files: what the suite holds for valid and for broken, the toolkit does too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adf_conformance import files
from adf_conformance.checks.bench import drawn
from adf_conformance.files import layout
from adf_conformance.files.legacy import legacy_plans
from adf_conformance.files.strategies import fits, odd_plans, plans
from adf_conformance.laws import expected
from adf_format.config import fresh
from adf_format.validation.engine import validate_file

ALL = (21, 32)
FEW = settings(max_examples=25, suppress_health_check=list(HealthCheck))


def verdict(plan: dict[str, Any], place: Path) -> bool:
    path = place / "agent.adf"
    for member in place.iterdir():
        member.unlink()
    files.write(plan, path)
    return validate_file(path).valid


@pytest.mark.parametrize("version", range(21, 33))
def test_defaults_are_those_of_the_toolkit(version: int) -> None:
    assert layout.default_config(version) == fresh.defaults(version)


@pytest.mark.parametrize("agent_id", ["a", "abc", "V1StGXR8_Z5j", "agent-legacy-1", "a1b2c3d4e5f6", "😀"])
def test_mig_060_icons_are_those_of_the_toolkit(agent_id: str) -> None:
    assert expected.icon(agent_id) == fresh.icon(agent_id)


@FEW
@given(plan=plans(ALL))
def test_a_drawn_file_is_valid(plan: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    assert verdict(plan, tmp_path_factory.mktemp("drawn"))


@FEW
@given(plan=legacy_plans((28, 32)))
def test_a_drawn_file_for_migration_is_one(plan: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("legacy")
    files.write(plan, place / "agent.adf")
    assert validate_file(place / "agent.adf").error is None


@pytest.mark.parametrize("name", [*files.SHAPES, *files.FAULTS])
def test_the_toolkit_judges_shapes_and_faults_as_the_suite_does(name: str, tmp_path: Path) -> None:
    assert fits(name, ALL)
    for version in (21, 27, 28, 32):
        oddity = files.SHAPES.get(name) or files.FAULTS[name]
        if oddity.fits(version):
            plan = drawn(odd_plans(name, (version, version)), f"{name} {version}")
            assert verdict(plan, tmp_path) is (name in files.SHAPES), (name, version)


@given(values=st.lists(st.text()))
def test_a_plan_names_only_what_exists(values: list[str]) -> None:
    for value in values:
        if value not in files.SHAPES:
            with pytest.raises(KeyError):
                files.write({"version": 32, "odd": [value]}, Path("/nonexistent/x"))

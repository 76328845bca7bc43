"""The command, called in this process."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import adf_format
from adf_format import sample
from adf_format.cli.main import run


class Result(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Command = Callable[..., Result]


@pytest.fixture(autouse=True)
def quiet_place(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder, without settings from the environment."""
    monkeypatch.chdir(tmp_path_factory.mktemp("cwd"))
    monkeypatch.setenv("PYTHONPATH", str(Path(adf_format.__file__).parents[1]))  # also for an uninstalled checkout
    for name in [name for name in os.environ if name.startswith("ADF_FORMAT_")] + ["NO_COLOR", "FORCE_COLOR"]:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def adf(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command with some arguments."""

    def call(*arguments: object) -> Result:
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    """A valid file."""
    sample.build(tmp_path / "ada.adf", 32)
    return tmp_path / "ada.adf"


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A file with one error: an audit snapshot that is no brotli stream."""
    import apsw

    path = tmp_path / "broken.adf"
    sample.build(path, 32)
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE adf_audit SET data = x'ffff' WHERE id = 1")
    connection.close()
    return path

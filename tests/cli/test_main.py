"""The frame of the command: help, version, exit codes, one line per error."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import pytest

from adf_format import __version__
from adf_format.cli import main as module
from adf_format.cli.main import COMMANDS, run
from adf_format.errors import LockedError, NotAnAdfError, UsageError

PROGRAM = [sys.executable, "-m", "adf_format"]


def call(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PROGRAM, *arguments], capture_output=True, text=True, timeout=60, check=False, **options)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_table_can_be_imported_and_explains_its_exit_codes(adf: Any, name: str) -> None:
    result = adf(name, "--help")
    assert result.code == 0
    assert "Exit codes" in result.out


def test_the_one_line_texts_are_sentences() -> None:
    assert all(re.fullmatch(r"[A-Z].{10,70}\.", text) for _, text in COMMANDS.values())


def test_help_lists_all_commands_without_importing_them() -> None:
    code = "import sys; from adf_format.cli.main import run; run(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert all(name in done.stdout for name in COMMANDS)
    heavy = {"apsw", "rich", "orjson", "jsonschema", "jsonschema_rs", "cryptography", "adf_format.validation"}
    assert not heavy & set(done.stdout.split())


def test_version_names_the_storage_versions(adf: Any) -> None:
    assert adf("--version") == (0, f"adf-format {__version__} (storage versions 21 to 32)\n", "")
    assert re.search(r"^SQLite +3\.", adf("--version", "--verbose").out, re.MULTILINE)


@pytest.mark.slow
def test_version_starts_as_fast_as_click_allows() -> None:
    def best(*arguments: str) -> float:
        times = []
        for _ in range(7):
            started = time.perf_counter()
            subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
            times.append(time.perf_counter() - started)
        return min(times)

    assert best("-m", "adf_format", "--version") < 3 * best("-c", "import click")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["validte"], "did you mean 'validate'?"),
        (["--nonsense"], "No such option"),
        (["validate"], "Missing argument"),
        (["validate", "x.adf", "--format", "xml"], "is not one of"),
        (["validate", "x.adf", "--select", "ADF999"], "no rule 'ADF999'"),
        (["validate", "x.adf", "--severity", "ADF101"], "RULE=SEVERITY"),
        (["validate", "x.adf", "--severity", "ADF101=bad"], "is not a severity"),
        (["validate", "x.adf", "--config", "a", "--isolated"], "exclude each other"),
        (["validate", "x.adf", "--preset", "strikt"], "did you mean 'strict'?"),
        (["schema", "ddl", "20"], "storage version 20"),
        (["schema", "show", "tables/adf_lop/29"], "did you mean 'tables/adf_loop/29'?"),
        (["schema", "export"], "where to?"),
        (["rules", "snapshot-not-broti"], "did you mean"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(adf: Any, arguments: list[str], words: str) -> None:
    result = adf(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert words in result.err
    assert len(result.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (NotAnAdfError("the file is empty", Path("a.adf")), 3, "adf-format: a.adf: the file is empty"),
        (LockedError("locked", hint="try again"), 3, "adf-format: locked (try again)"),
        (UsageError("no"), 2, "adf-format: no"),
        (KeyboardInterrupt(), 130, "adf-format: interrupted"),
        (click.Abort(), 130, "adf-format: interrupted"),
        (click.FileError("x", "gone"), 3, "adf-format: Could not open file 'x': gone"),
        (PermissionError(13, "Permission denied", "x.adf"), 3, "adf-format: Permission denied: x.adf"),
        (ZeroDivisionError("a\nb\x1b[2J"), 3, r"adf-format: internal error: ZeroDivisionError: a\nb\u{1b}[2J"),
    ],
)
def test_an_error_is_one_line_and_the_code_of_its_class(
    adf: Any, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, words: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(module, "invoke", fail)
    result = adf("validate")
    assert result.code == code
    assert result.err.startswith(words)
    assert len(result.err.splitlines()) == 1


def test_a_traceback_is_shown_only_when_asked_for(
    adf: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise LookupError("x")

    monkeypatch.setattr(module, "invoke", fail)
    monkeypatch.setenv("ADF_FORMAT_DEBUG", "1")
    assert "Traceback" in adf("validate").err


def test_without_a_command_the_help_is_shown() -> None:
    done = call()
    assert done.returncode == 2
    assert "Commands:" in done.stderr
    assert done.stdout == ""


def test_a_closed_pipe_ends_the_command_without_a_word() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as out:
        done = subprocess.run([*PROGRAM, "rules"], stdout=out, stderr=subprocess.PIPE, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (3, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_not_success() -> None:
    with Path("/dev/full").open("w") as out:
        done = subprocess.run([*PROGRAM, "rules"], stdout=out, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 3
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("end", ["SIGINT", "SIGTERM"])
def test_an_interrupted_command_says_so(tmp_path: Path, end: str) -> None:
    fifo = tmp_path / "config"
    os.mkfifo(fifo)
    process = subprocess.Popen(
        [*PROGRAM, "new", str(tmp_path / "a.adf"), "--config", str(fifo)], stderr=subprocess.PIPE, text=True
    )
    writer = _reader_of(fifo, process)
    for _ in range(30):  # one that comes just before the read blocks is noticed only with the next
        process.send_signal(getattr(signal, end))
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1)
            break
    _, errors = process.communicate(timeout=30)
    os.close(writer)
    assert (process.returncode, errors) == (130, "adf-format: interrupted\n")
    assert os.listdir(tmp_path) == ["config"]  # noqa: PTH208


def _reader_of(fifo: Path, process: subprocess.Popen[str]) -> int:
    """Wait until the command reads."""
    while process.poll() is None:
        with contextlib.suppress(OSError):
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        time.sleep(0.02)
    raise AssertionError(process.communicate())


def test_completion_is_offered() -> None:
    done = call(env=os.environ | {"_ADF_FORMAT_COMPLETE": "bash_source"})
    assert "_ADF_FORMAT_COMPLETE=bash_complete" in done.stdout
    words = {"_ADF_FORMAT_COMPLETE": "bash_complete", "COMP_WORDS": "adf-format val", "COMP_CWORD": "1"}
    assert "validate" in call(env=os.environ | words).stdout


def test_output_that_cannot_be_encoded_is_spelled_out(agent: Path) -> None:
    done = call("inspect", str(agent), env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0


def test_the_alias_is_named_as_it_was_called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/bin/adff"])
    assert run(["--help"]) == 0
    assert capsys.readouterr().out.startswith("Usage: adff ")


def test_main_exits_with_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["adf-format", "validte"])
    monkeypatch.setattr(module, "_catch_signals", lambda: None)
    with pytest.raises(SystemExit) as caught:
        module.main()
    assert caught.value.code == 2

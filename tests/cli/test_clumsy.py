"""What a clumsy user, a hostile file or a bare system does to the command line."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest

from adf_format import smallfile
from adf_format.cli.options import opened
from adf_format.errors import UsageError

PROGRAM = [sys.executable, "-m", "adf_format"]


def execute(agent: Path, sql: str, *values: object) -> None:
    connection = apsw.Connection(str(agent))
    connection.execute(sql, values)
    connection.close()


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_a_closed_stream_is_no_trouble(agent: Path, closed: str) -> None:
    line = f'"$0" -m adf_format validate "$1" {closed}'
    done = subprocess.run(["sh", "-c", line, sys.executable, str(agent)], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no SIGHUP here")
def test_a_signal_that_the_caller_ignores_stays_ignored() -> None:
    code = (
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from adf_format.cli.main import _catch_signals; _catch_signals()\n"
        "assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN\n"
        "assert callable(signal.getsignal(signal.SIGTERM))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_report_never_replaces_the_agent_that_the_command_makes(adf: Any, tmp_path: Path) -> None:
    place = tmp_path / "new.adf"
    assert adf("new", place, "-o", place).code == 2
    assert not place.exists()
    with opened("human", str(tmp_path / "other"), False, "never") as out:
        out.line("a report")
    assert adf("new", place).code == 0

    def late() -> None:
        with opened("human", str(tmp_path / "late.adf"), False, "never"):
            place.rename(tmp_path / "late.adf")

    with pytest.raises(UsageError):
        late()
    place = tmp_path / "late.adf"
    assert place.read_bytes().startswith(b"SQLite format 3")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["late.adf", "other"]


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_a_report_is_never_written_where_sqlite_keeps_a_log(adf: Any, agent: Path, suffix: str) -> None:
    place = agent.with_name(agent.name + suffix)
    assert adf("validate", agent, "-o", place).code == 2
    assert adf("validate", agent, "--write-baseline", place).code == 2
    assert not place.exists()


def test_report_and_baseline_cannot_be_one_file(adf: Any, agent: Path, tmp_path: Path) -> None:
    assert adf("validate", agent, "-o", tmp_path / "x", "--write-baseline", tmp_path / "." / "x").code == 2


@pytest.mark.parametrize("option", [("--baseline",), ("--config",)])
def test_an_endless_file_of_settings_is_refused(
    adf: Any, agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: tuple[str, ...]
) -> None:
    monkeypatch.setattr(smallfile, "MAX_BYTES", 1000)
    assert adf("validate", agent, *option, "/dev/zero").code == 2
    assert adf("new", tmp_path / "n.adf", "--config", "/dev/zero").code == 2


@pytest.mark.parametrize(
    "arguments",
    [("--timeout", "inf"), ("--timeout", "nan"), ("--timeout", "1e308"), ("--memory", "9" * 20), ("-o", "")],
)
def test_a_value_out_of_reach_is_wrong_usage(adf: Any, agent: Path, arguments: tuple[str, ...]) -> None:
    result = adf("validate", agent, *arguments)
    assert result.code == 2
    assert "internal" not in result.err


@pytest.mark.parametrize("setting", ["timeout = inf", "timeout = nan", "timeout = 1e308", f"memory = {'9' * 18}"])
def test_the_same_in_a_settings_file(adf: Any, agent: Path, tmp_path: Path, setting: str) -> None:
    (tmp_path / "adf-format.toml").write_text(setting)
    assert adf("validate", agent, "--config", tmp_path / "adf-format.toml").code == 2


def test_an_empty_path_is_not_the_current_folder(adf: Any, agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(agent.parent)
    assert adf("validate", "").code == 2


def test_a_folder_that_cannot_be_listed_gives_3_and_the_others_are_checked(
    adf: Any, agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = agent.parent / "locked"
    locked.mkdir()
    scandir = os.scandir

    def guarded(path: Any) -> Any:
        if os.fspath(path) == str(locked):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    for arguments in ((agent.parent,), (locked, agent)):
        result = adf("validate", *arguments)
        assert result.code == 3
        assert "1 valid" in result.out
        assert f"{locked}: this folder cannot be read" in result.err


def test_an_unreadable_path_gives_3_and_the_others_are_checked(
    adf: Any, agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    assert adf("validate", agent).code == 0


def test_a_lambda_with_a_lone_surrogate_is_a_missing_file(adf: Any, agent: Path) -> None:
    sql = r"""UPDATE adf_config SET config_json = replace(json_set(config_json, '$.serving.api[0].lambda', '@'),
        '"@"', '"lib/\udc00.ts:run"')"""
    execute(agent, sql)
    result = adf("validate", agent, "--select", "ADF712", "--format", "json")
    assert result.code == 0
    assert [one["rule"] for one in json.loads(result.out)["files"][0]["findings"]] == ["ADF712"]


def test_inspect_of_seqs_that_are_no_integers(adf: Any, agent: Path) -> None:
    execute(agent, "CREATE TABLE other AS SELECT * FROM adf_loop")
    execute(agent, "DROP TABLE adf_loop")
    execute(agent, 'CREATE TABLE adf_loop (seq TEXT, role, content_json, model, tokens, created_at, ord, "loop")')
    execute(agent, "INSERT INTO adf_loop SELECT * FROM other")
    result = adf("inspect", agent)
    assert (result.code, result.err) == (0, "")
    assert "10 rows" in result.out


def test_a_file_name_that_is_no_text_cannot_be_the_name_of_an_agent(adf: Any, tmp_path: Path) -> None:
    result = adf("new", tmp_path / "a\udcff.adf")
    assert result.code == 2
    assert "cannot be the name" in result.err


def test_an_export_without_room_says_so_in_one_short_line(
    adf: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    def full(source: Any, target: Any) -> None:
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr(shutil, "copyfile", full)
    result = adf("schema", "export", tmp_path / "out")
    assert result.code == 3
    assert result.err.count("No space left") == 1


def test_new_refuses_a_configuration_that_is_nested_too_deeply(adf: Any, tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text('{"a":' + "[" * 900 + "]" * 900 + "}")
    result = adf("new", tmp_path / "n.adf", "--config", tmp_path / "deep.json")
    assert result.code == 2
    assert "nested too deeply" in result.err
    assert [one.name for one in tmp_path.iterdir()] == ["deep.json"]


def test_new_shows_no_raw_control_character_of_a_configuration(adf: Any, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(json.dumps({"id": "a\x1b[31m\x00"}))
    result = adf("new", tmp_path / "n.adf", "--config", tmp_path / "c.json")
    assert result.out.rstrip("\n").isprintable()


def test_every_folder_without_an_agent_is_named(adf: Any, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    result = adf("validate", tmp_path / "one", tmp_path / "two")
    assert result.code == 3
    assert result.err == (
        f"adf-format: {tmp_path / 'one'}: there is no .adf in this folder, nor in {tmp_path / 'two'}\n"
    )


def test_a_working_folder_that_is_gone_is_said(adf: Any, agent: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    result = adf("validate", agent)
    assert (result.code, result.out) == (3, "")
    assert result.err == "adf-format: the current folder is gone (change to one that exists)\n"
    assert adf("validate", "--isolated", "--jobs", "0", agent).code == 0
    for arguments in (("-o", "out.json"), ("--write-baseline", "known.json")):
        result = adf("validate", "--isolated", "--jobs", "0", agent, *arguments)
        assert result.code == 3
        assert result.err == "adf-format: the current folder is gone (change to one that exists)\n"
    assert "no file can be made there" in adf("new", "a.adf").err


def test_a_demo_that_cannot_go_on_takes_its_files_along(
    adf: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self))

    monkeypatch.setattr(Path, "write_bytes", full)
    (tmp_path / "old").mkdir()
    for folder, left in (("a/b/d", False), ("old", True)):
        result = adf("demo", "--dir", tmp_path / folder)
        assert result.code == 3
        assert "no room left on the disk" in result.err
        assert not (tmp_path / "a").exists()
        assert (tmp_path / folder).exists() == left
    assert not list((tmp_path / "old").iterdir())


ROOM = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), -1))
from adf_format.cli.main import main
del sys.argv[1]
main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what a file may grow to is set as on Linux")
@pytest.mark.parametrize(
    "arguments",
    [
        ("new", "x/new.adf"),
        ("demo", "--dir", "x/demo"),
        ("validate", "ada.adf", "-o", "x/report.json", "--format", "json"),
        ("validate", "ada.adf", "-q", "--ignore", "ALL", "--write-baseline", "x/known.json"),
        ("schema", "export", "--bundle", "x/bundle.json"),
    ],
)
@pytest.mark.parametrize("room", [0, 10, 20_000])
def test_where_there_is_no_room_nothing_is_left(agent: Path, room: int, arguments: tuple[str, ...]) -> None:
    """Whatever a command writes appears whole or not at all, and one line names it."""
    folder = agent.parent / "x"
    folder.mkdir()
    command = [sys.executable, "-c", ROOM, str(room), *arguments]
    done = subprocess.run(command, cwd=agent.parent, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        assert room == 20_000
        assert [file.stat().st_size > 50 for file in folder.iterdir()] == [True]
        return
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1].startswith("adf-format: x/")
    assert "internal" not in done.stderr
    assert not list(folder.iterdir())


def test_a_demo_in_the_place_of_a_file_is_wrong_usage(adf: Any, agent: Path) -> None:
    assert adf("demo", "--dir", agent) == (2, "", f"adf-format: {agent}: this is a file, not a folder\n")


@pytest.mark.parametrize(
    ("error", "word"),
    [(apsw.FullError("full"), "no room left on the disk"), (OSError(errno.ENOSPC, "full"), "no room left on the disk")],
)
def test_a_full_disk_is_no_matter_of_temporary_folders(
    adf: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, word: str
) -> None:
    def full(*_: object) -> None:
        raise error

    monkeypatch.setattr(sys.modules["adf_format.container.create"], "_fill", full)
    result = adf("new", tmp_path / "a.adf")
    assert result.code == 3
    assert word in result.err
    assert "TMPDIR" not in result.err
    assert not list(tmp_path.iterdir())


ON_A_TERMINAL = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from adf_format.cli.main import main
main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a terminal of the system")
def test_ctrl_c_on_a_terminal_ends_everything_at_once(agent: Path) -> None:
    """The terminal signals the whole group, the workers too: one line says so, and nobody answers for himself."""
    import pty

    for number in range(400):
        os.link(agent, agent.with_name(f"a{number:03}.adf"))
    ours, theirs = pty.openpty()
    arguments = ["validate", "--isolated", "--jobs", "2", str(agent.parent)]
    command = [sys.executable, "-c", ON_A_TERMINAL, *arguments]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    shown = os.read(ours, 1)
    os.write(ours, b"\x03")
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # the other side is closed
        pass
    os.close(ours)
    assert process.wait() == 130
    assert shown.endswith(b"adf-format: interrupted\r\n")
    assert b"Traceback" not in shown
    assert shown.count(b"valid") < 400

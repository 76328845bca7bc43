from __future__ import annotations

import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from container_support import META, beside, make, make_live, untouched

from adf_format.container import Limits, open_readonly
from adf_format.errors import (
    AdfError,
    DamagedError,
    EncryptedError,
    LimitError,
    MissingFileError,
    NotAnAdfError,
    UnreadableError,
)

NAMES = ["plain.adf", "a b.adf", "what?.adf", "x%41.adf", "#1.adf", "é☃.adf", "a\nb.adf", "a&mode=rwc.adf", "-x", "a;b"]


@pytest.mark.parametrize("journal", ["wal", "delete", "truncate", "persist"])
def test_a_resting_file_is_read_in_place(folder: Path, scratch: Path, journal: str) -> None:
    path = make(folder / "a.adf", journal=journal)
    with untouched(folder), open_readonly(path) as container:
        source = container.source
        assert container.connection.execute("SELECT count(*) FROM t").fetchall() == [(3,)]
        assert source.mode == "immutable"
        assert (source.wal_frames, source.wal_frames_ignored, source.wal_end) == (0, 0, "none")
        assert source.journal_mode == ("wal" if journal == "wal" else "delete")
        assert (source.page_size, source.encoding, source.hot_journal) == (4096, "UTF-8", False)
        assert source.page_count * source.page_size == source.size == path.stat().st_size
        assert not container.changed()
    assert not list(scratch.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_taken_literally(folder: Path, name: str) -> None:
    path = make(folder / "plain").rename(folder / name)
    with untouched(folder), open_readonly(str(path)) as container:
        assert container.connection.pragma("integrity_check") == "ok"


def test_a_name_that_is_not_utf_8(folder: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(make(folder / "plain")) + b"\xff\xfe.adf"))
    (folder / "plain").rename(path)
    with untouched(folder), open_readonly(path) as container:
        assert container.source.page_count > 0


def test_two_leading_slashes_and_relative_paths(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(folder / "a.adf")
    open_readonly(f"/{path}").close()
    monkeypatch.chdir(folder)
    open_readonly("a.adf").close()
    open_readonly("../agents/a.adf").close()


def test_a_symbolic_link_is_followed(folder: Path) -> None:
    path = make(folder / "a.adf")
    link = folder / "link.adf"
    link.symlink_to(path)
    with untouched(folder), open_readonly(link) as container:
        assert (container.source.path, container.source.real_path) == (link, path.resolve())


def test_changes_are_noticed(folder: Path) -> None:
    path = make(folder / "a.adf")
    with open_readonly(path) as container:
        assert not container.changed()
        beside(path, "-wal").touch()
        assert container.changed()
        beside(path, "-wal").unlink()
        assert not container.changed()
        os.utime(path, ns=(1, 1))
        assert container.changed()


def test_limits_are_noticed(folder: Path) -> None:
    path = make(folder / "a.adf")
    with open_readonly(path, Limits(deadline_s=0.0)) as container, pytest.raises(LimitError, match="time limit of 0 s"):
        container.check_deadline()
    with open_readonly(path) as container:
        container.check_deadline()


def _fails(path: Path, kind: type[AdfError], text: str) -> None:
    with untouched(path.parent), pytest.raises(kind) as caught:
        open_readonly(path)
    assert type(caught.value) is kind
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 3


def test_nothing_there(folder: Path) -> None:
    _fails(folder / "none.adf", MissingFileError, "no such file")
    (folder / "file").write_bytes(b"")
    with pytest.raises(MissingFileError, match="no such file"):
        open_readonly(folder / "file" / "x")
    with pytest.raises(MissingFileError, match="not a usable path"):
        open_readonly("a\0b")
    with pytest.raises(MissingFileError, match="not a usable path"):
        open_readonly("x" * 5000)


def test_links_to_nothing(folder: Path) -> None:
    (folder / "dangling").symlink_to("nowhere")
    (folder / "loop").symlink_to("loop")
    _fails(folder / "dangling", MissingFileError, "points to nothing")
    _fails(folder / "loop", MissingFileError, "form a loop")


def test_things_that_are_not_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "dir.adf").mkdir()
    os.mkfifo(folder / "pipe.adf")
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.adf")
        _fails(folder / "s.adf", MissingFileError, "a socket")
    _fails(folder / "dir.adf", MissingFileError, "a folder")
    _fails(folder / "pipe.adf", MissingFileError, "a pipe")
    with pytest.raises(MissingFileError, match="a device"):
        open_readonly("/dev/null")


SQLITE = b"SQLite format 3\0"
CONTENTS: list[tuple[bytes, type[AdfError], str]] = [
    (b"", NotAnAdfError, "empty"),
    (b"hello\n", NotAnAdfError, "plain text"),
    ("grüße ☃ ".encode() * 400, NotAnAdfError, "plain text"),
    (b'{"a": 1}', NotAnAdfError, "JSON"),
    (b"\x1f\x8b\x08\0\0\0\0\0", NotAnAdfError, "gzip"),
    (b"PK\x03\x04" + b"\0" * 600, NotAnAdfError, "zip"),
    (b"\x89PNG\r\n\x1a\n" + b"\0" * 100, NotAnAdfError, "PNG"),
    (b"\x37\x7f\x06\x82" + b"\0" * 100, NotAnAdfError, "write-ahead log"),
    (b"\0" * 4096, DamagedError, "zeros"),
    (SQLITE + b"\x10\0", DamagedError, "cut off after 18 bytes"),
    (SQLITE + b"\xff" * 4080, DamagedError, "header is damaged"),
    (b"\x01\x02\x03" * 40, NotAnAdfError, "something else"),
]


@pytest.mark.parametrize(("content", "kind", "text"), CONTENTS)
def test_files_that_are_something_else(folder: Path, content: bytes, kind: type[AdfError], text: str) -> None:
    (folder / "a.adf").write_bytes(content)
    _fails(folder / "a.adf", kind, text)


def test_random_bytes_look_encrypted(folder: Path) -> None:
    noise = b"\xf3" + os.urandom(8191)
    (folder / "a.adf").write_bytes(noise)
    _fails(folder / "a.adf", EncryptedError, "looks encrypted")
    (folder / "b.adf").write_bytes(noise + b"x")
    _fails(folder / "b.adf", NotAnAdfError, "compressed or encrypted")


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE other (x)",
        "CREATE TABLE m (key, value); CREATE VIEW adf_meta AS SELECT * FROM m",
        "CREATE VIRTUAL TABLE adf_meta USING rtree(id, a, b)",
        "CREATE TABLE m (x); CREATE INDEX adf_meta ON m (x)",
        "CREATE TABLE ADF_META (key, value)",
    ],
)
def test_a_database_without_the_table_is_no_adf(folder: Path, script: str) -> None:
    connection = sqlite3.connect(folder / "a.adf")
    connection.executescript(script)
    connection.close()
    _fails(folder / "a.adf", NotAnAdfError, "no table adf_meta")


def test_a_cut_off_file(folder: Path) -> None:
    path = make(folder / "a.adf", rows=200)
    os.truncate(path, 8192)
    _fails(path, DamagedError, "the file holds 8192 bytes")


def test_a_broken_schema(folder: Path) -> None:
    path = make(folder / "a.adf")
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA writable_schema=ON")
    connection.execute("INSERT INTO sqlite_schema VALUES ('table', 'bad', 'bad', 9999, 'CREATE TABLE bad (')")
    connection.commit()
    connection.close()
    _fails(path, DamagedError, "malformed")


AS_NOBODY = """
import os, sys
sys.path[:0] = sys.argv[3:]
from adf_format.container import open_readonly, private_copy  # imported while the package can still be read
from adf_format.errors import AdfError
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
    sys.executable = ""  # it may lie where nobody may go
os.environ["TMPDIR"] = sys.argv[2]
try:
    with open_readonly(sys.argv[1]) as container:
        print(container.source.mode, container.connection.execute("SELECT count(*) FROM t").fetchall()[0][0])
except AdfError as exc:
    print(type(exc).__name__, exc.message)
"""


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that every user can reach, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        (Path(name) / "room").mkdir()
        (Path(name) / "room").chmod(0o777)
        (Path(name) / "agents").mkdir()
        yield Path(name)
        (Path(name) / "agents").chmod(0o755)


def as_nobody(path: Path) -> str:
    command = [sys.executable, "-c", AS_NOBODY, str(path), str(path.parents[1] / "room"), *filter(None, sys.path)]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd="/").stdout.strip()


def test_a_folder_and_file_that_may_only_be_read(public: Path) -> None:
    path = make(public / "agents" / "a.adf")
    path.chmod(0o444)
    path.parent.chmod(0o555)
    with untouched(public):
        assert as_nobody(path) == "immutable 3"


def test_a_trio_that_may_only_be_read(public: Path) -> None:
    path = make_live(public / "agents" / "a.adf")
    for entry in path.parent.iterdir():
        entry.chmod(0o444)
    path.parent.chmod(0o555)
    with untouched(path.parent):
        assert as_nobody(path) == "private-copy 8"
    assert not list((public / "room").iterdir())


def test_permission_denied(public: Path) -> None:
    path = make(public / "agents" / "a.adf")
    path.chmod(0o000)
    assert as_nobody(path) == "UnreadableError permission denied"
    path.parent.chmod(0o000)
    assert as_nobody(path) == "UnreadableError permission denied"


def test_a_legacy_database_of_another_encoding(folder: Path) -> None:
    connection = sqlite3.connect(folder / "a.adf")
    connection.executescript(f"PRAGMA encoding='UTF-16le'; PRAGMA auto_vacuum=FULL; PRAGMA user_version=7; {META}")
    connection.close()
    with open_readonly(folder / "a.adf") as container:
        assert container.source.encoding == "UTF-16le"
        assert container.source.auto_vacuum
        assert container.source.user_version == 7


def test_an_empty_log_is_not_a_reason_for_a_copy(folder: Path) -> None:
    path = make(folder / "a.adf")
    beside(path, "-wal").touch()
    with untouched(folder), open_readonly(path) as container:
        assert container.source.mode == "immutable"


def test_errors_share_a_root() -> None:
    assert issubclass(MissingFileError, UnreadableError)

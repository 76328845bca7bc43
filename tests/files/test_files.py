"""The agent's own files come out of the agent as they are, and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format.container import Limits, open_readonly
from adf_format.errors import LimitError, UnreadableError
from adf_format.files import FileRow, content, find, listing
from adf_format.files.extract import Extracted, extract, unwritable
from tests.core_files import build

HOSTILE = [
    "../up.md",
    "/abs.md",
    "a/../../up.md",
    "..",
    "a//b",
    "./a",
    "a/",
    "",
    "C:evil",
    "a\\..\\b",
    "x" * 256,
]


def agent(path: Path, *files: tuple[object, object]) -> Path:
    build(path)
    connection = apsw.Connection(str(path))
    with connection:
        connection.execute("DELETE FROM adf_files")
        for name, data in files:
            connection.execute(
                "INSERT INTO adf_files (path, content, mime_type, size, protection, created_at, updated_at)"
                " VALUES (?, ?, 'text/plain', 0, 'none', 'c', 'u')",
                (name, data),
            )
    connection.close()
    return path


def extracted(path: Path, folder: Path) -> list[Extracted]:
    with open_readonly(path) as container:
        connection = container.connection
        return list(extract(listing(connection), lambda row: content(connection, row), folder))


def tree(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def test_files_come_out_byte_for_byte(tmp_path: Path) -> None:
    files = {"a.md": b"x\r\n\xff", "deep/er/b": b"", "deep/c": b"1" * 3_000_000}
    path = agent(tmp_path / "a.adf", *files.items())
    assert {one.outcome for one in extracted(path, tmp_path / "out")} == {"written"}
    assert tree(tmp_path / "out") == files
    assert not any(one.stat().st_mode & 0o111 for one in (tmp_path / "out").rglob("*") if one.is_file())


def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    path = agent(tmp_path / "a.adf", ("a", b"x"))
    extracted(path, tmp_path / "out")
    before = (tmp_path / "out" / "a").stat()
    assert [one.outcome for one in extracted(path, tmp_path / "out")] == ["same"]
    assert (tmp_path / "out" / "a").stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize("theirs", [b"other", b"y"])
def test_what_is_there_is_not_overwritten(tmp_path: Path, theirs: bytes) -> None:
    path = agent(tmp_path / "a.adf", ("a", b"x"))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_bytes(theirs)
    assert [one.outcome for one in extracted(path, tmp_path / "out")] == ["refused"]
    assert (tmp_path / "out" / "a").read_bytes() == theirs


@pytest.mark.parametrize("name", HOSTILE)
def test_paths_that_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    path = agent(tmp_path / "a.adf", (name, b"evil"), ("good", b"x"))
    (tmp_path / "room").mkdir()
    done = extracted(path, tmp_path / "room" / "out")
    assert [one.outcome for one in done] == ["refused", "written"]
    assert tree(tmp_path / "room") == {"out/good": b"x"}


@given(st.text(alphabet="ab./\\:\0~ é", max_size=12))
def test_no_path_that_passes_leads_outside(path: str) -> None:
    """What is not refused stays below the folder, as the system itself understands the path."""
    if unwritable(path) is None:
        whole = os.path.normpath(os.path.join("/room/out", path))  # noqa: PTH118
        assert whole.startswith("/room/out/")


def test_a_link_in_the_folder_is_not_followed(tmp_path: Path) -> None:
    """Neither as a folder on the way nor as the file itself, dangling or not."""
    path = agent(tmp_path / "a.adf", ("way/f", b"x"), ("file", b"x"), ("dangling", b"x"))
    outside, out = tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    out.mkdir()
    (outside / "target").write_bytes(b"theirs")
    (out / "way").symlink_to(outside)
    (out / "file").symlink_to(outside / "target")
    (out / "dangling").symlink_to(outside / "new")
    assert {one.outcome for one in extracted(path, out)} == {"refused"}
    assert tree(outside) == {"target": b"theirs"}


def test_a_file_that_is_also_a_folder(tmp_path: Path) -> None:
    path = agent(tmp_path / "a.adf", ("a", b"x"), ("a/b", b"y"), ("c/d", b"x"), ("c", b"y"))
    assert [one.outcome for one in extracted(path, tmp_path / "out")] == ["written", "refused", "written", "refused"]
    assert tree(tmp_path / "out") == {"a": b"x", "c/d": b"x"}


def test_a_file_system_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    path = agent(tmp_path / "a.adf", ("a", b"x"))
    assert [one.outcome for one in extracted(path, tmp_path / "out")] == ["written"]
    assert tree(tmp_path / "out") == {"a": b"x"}


def test_a_name_that_is_taken_in_the_last_instant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adf_format.files.extract._is_taken", lambda *_: False)
    path = agent(tmp_path / "a.adf", ("a", b"x"))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_bytes(b"theirs")
    assert [one.outcome for one in extracted(path, tmp_path / "out")] == ["refused"]
    assert tree(tmp_path / "out") == {"a": b"theirs"}


def test_errors_of_the_system_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = agent(tmp_path / "a.adf", ("a", b"x"))
    with pytest.raises(UnreadableError):
        extracted(path, tmp_path / "no" / "where")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    with pytest.raises(UnreadableError, match="No space"):
        extracted(path, tmp_path / "out")
    assert tree(tmp_path / "out") == {}

    def odd(*_: object, **__: object) -> None:
        raise OSError(84, "Invalid or incomplete multibyte or wide character")

    monkeypatch.setattr(os, "link", odd)
    assert [one.outcome for one in extracted(path, tmp_path / "out")] == ["refused"]


def test_rows_that_hold_anything(tmp_path: Path) -> None:
    """A path that is no text, a content that is text or nothing: listed, and given as bytes."""
    path = agent(tmp_path / "a.adf", (b"\xff", b"x"), ("t", "é"), ("n", ""), (5.5, b""))
    with open_readonly(path) as container:
        rows = list(listing(container.connection))
        assert [row.path for row in rows] == [None, "t", "n", "5.5"]
        assert [content(container.connection, row) for row in rows] == [b"x", "é".encode(), b"", b""]
        assert find(container.connection, "t") == rows[1]
        assert find(container.connection, "none") is None
    assert next(one.reason for one in extracted(path, tmp_path / "out")) == "its path is no text"


def test_a_file_without_the_table(tmp_path: Path) -> None:
    path = agent(tmp_path / "a.adf")
    connection = apsw.Connection(str(path))
    connection.execute("DROP TABLE adf_files")
    connection.close()
    with open_readonly(path) as container, pytest.raises(UnreadableError, match="missing"):
        list(listing(container.connection))


def test_a_content_above_the_limit(tmp_path: Path) -> None:
    path = agent(tmp_path / "a.adf", ("big", b"1" * 100_000))
    with open_readonly(path, Limits(max_value_bytes=50_000)) as container:
        row = next(listing(container.connection))
        assert row == FileRow(row.rowid, "big", 100_000, "text/plain", "none", False, "c", "u")
        with pytest.raises(LimitError):
            content(container.connection, row)

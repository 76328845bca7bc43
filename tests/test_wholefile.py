"""A report appears whole or not at all, and whoever cannot write it hears the name that was given."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from adf_format import wholefile
from adf_format.errors import UnreadableError
from adf_format.wholefile import whole_file

ROOT = Path(__file__).parents[1]
KILLED = """
import os, signal, sys
from pathlib import Path
from adf_format.wholefile import whole_file
with whole_file(Path(sys.argv[1])) as stream:
    stream.write("half of it")
    stream.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""
nameless = pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files without a name are Linux's")


@pytest.fixture(params=[True, False], ids=["nameless", "named"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Both ways obey the same laws."""
    if not request.param:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    return bool(request.param)


@pytest.mark.usefixtures("way")
def test_the_file_has_what_was_written_and_nothing_is_beside_it(tmp_path: Path) -> None:
    with whole_file(tmp_path / "out") as stream:
        stream.write("häll\ud83do")
    assert (tmp_path / "out").read_text("utf-8") == "häll\\ud83do"
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]


@pytest.mark.usefixtures("way")
def test_an_old_file_is_replaced_only_at_the_end_and_keeps_its_mode(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("old")
    out.chmod(0o640)
    with whole_file(out) as stream:
        stream.write("new")
        assert out.read_text() == "old"
    assert out.read_text() == "new"
    assert out.stat().st_mode & 0o777 == 0o640


@pytest.mark.usefixtures("way")
def test_an_error_on_the_way_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("old")
    with pytest.raises(LookupError), whole_file(tmp_path / "out") as stream:  # noqa: PT012
        stream.write("new")
        raise LookupError
    assert (tmp_path / "out").read_text() == "old"
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]


@pytest.mark.usefixtures("way")
def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with whole_file(tmp_path / "link") as stream:
        stream.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.usefixtures("way")
def test_a_place_that_cannot_be_written_is_named_as_it_was_given(tmp_path: Path) -> None:
    place = tmp_path / "gone" / "out"
    with pytest.raises(UnreadableError) as caught, whole_file(place):
        pass
    assert str(caught.value) == f"{place}: cannot be written: No such file or directory"


def test_a_full_disk_is_said_of_the_file_that_was_given(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="out: cannot be written: No space left"), whole_file(tmp_path / "out"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert not list(tmp_path.iterdir())


def test_trouble_with_another_file_keeps_its_own_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), whole_file(tmp_path / "out"):
        (tmp_path / "elsewhere").read_bytes()


@nameless
def test_a_process_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "out")], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    assert not list(tmp_path.iterdir())


def test_where_files_need_a_name_they_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems know no file without a name."""
    real = os.open

    def refuse(path: object, flags: int, *rest: int) -> int:
        if flags & getattr(os, "O_TMPFILE", 0) == getattr(os, "O_TMPFILE", 1):
            raise OSError(errno.EOPNOTSUPP, "not here")
        return real(path, flags, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(wholefile.os, "open", refuse)
    with whole_file(tmp_path / "out") as stream:
        stream.write("x")
        assert [path.suffix for path in tmp_path.iterdir()] == [".partial"]
    assert (tmp_path / "out").read_text() == "x"

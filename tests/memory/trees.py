"""Workspaces made to measure, and what they hold."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import strategies as st

from adf_format import creation

NS = 1_700_000_000_123_456_789
Tree = dict[str, tuple[bytes, int, int]]  # content, mode, time of change


def write(root: Path, files: dict[str, bytes | str], *, mode: int = 0o644) -> Path:
    """Write files below a folder; texts as UTF-8, times all alike."""
    root.mkdir(exist_ok=True)
    for number, (path, content) in enumerate(files.items()):
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        place.chmod(mode)
        os.utime(place, ns=(NS + number, NS + number))
    return root


def read(root: Path) -> Tree:
    """Return everything in a folder: files with content, mode and time; folders and links with what they are."""
    found: Tree = {}
    for folder, folders, names in os.walk(root):
        for name in folders + names:
            place = Path(folder, name)
            path = place.relative_to(root).as_posix()
            facts = place.lstat()
            if place.is_symlink():
                found[path] = (b"link " + os.readlink(place).encode(), 0, 0)  # noqa: PTH115
            elif place.is_dir():
                found[path + "/"] = (b"", 0, 0)
            else:
                found[path] = (place.read_bytes(), facts.st_mode & 0o7777, facts.st_mtime_ns)
    return found


def agent(path: Path, **options: int) -> Path:
    """Make a fresh agent."""
    creation.new(path, name="Ada", **options)  # type: ignore[arg-type]
    return path


WORKSPACE: dict[str, bytes | str] = {
    "MEMORY.md": (
        "# Long-Term Memory\n\n## Systems Built\n\n- **Pipeline**: nightly\n\n## Lessons Learned\n\n1. SQLite first\n"
        "2. Timeouts\n\n## Log\n\n- about logs\n"
    ),
    "memory/active_context.md": (
        "# Active Context\n\n## In Progress\n\n- **Login**: OAuth, 70%\n  - Next: refresh\n\n## Blocked / Waiting\n"
    ),
    "memory/2026-04-01.md": "# 2026-04-01\r\n\r\n## Tasks\r\n\r\n- one\r\n",
    "memory/pending_tasks.json": (
        '{"lastUpdated": null, "tasks": [{"id": "t1", "title": "Ship", "status": "pending", "priority": "high",'
        ' "createdAt": "2026-04-01T09:00:00Z", "note": "soon"}, {"id": "t2", "title": "Old", "status": "done",'
        ' "createdAt": "2026-03-01T09:00:00Z"}]}\n'
    ),
    "memory/distillation-state.json": '{"lastConsolidatedAt": null}\n',
    "memory/channel_context/ops.md": "# ops\n\n## Current Topics\n\n- migration\n",
    "memory/DREAMS.md": "kept\n",
}

_names = st.text(alphabet="abB1 -_.éñ日#%'\u0301", min_size=1, max_size=8).filter(
    lambda name: name.strip(".") and not name.endswith(".adf-format-draft")
)
_contents = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")),
    st.sampled_from(
        [b"", b"\xef\xbb\xbf# BOM\r\n", b"no end", b"a\r\nb\rc\n", b"\xff\xfe\x00", "NFD e\u0301".encode()]
    ),
)
_modes = st.sampled_from([0o644, 0o600, 0o755, 0o400, 0o664])
_times = st.integers(-(10**18), 4 * 10**18)
trees = st.dictionaries(
    st.one_of(
        st.just("MEMORY.md"), st.lists(_names, min_size=1, max_size=3).map(lambda way: "memory/" + "/".join(way))
    ),
    st.tuples(_contents, _modes, _times),
    min_size=1,
    max_size=8,
)

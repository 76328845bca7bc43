"""Two writers lose no line, and whoever is killed leaves the old file or the new one (MEM-053, MEM-098)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adf_format
from adf_format.memory import notes, starting, tasks, writing
from adf_format.memory.distill import commit, state
from adf_format.memory.distill import plan as planning
from adf_format.memory.distill.commit import RefusedError
from adf_format.memory.distill.due import unprocessed
from adf_format.memory.folder import Folder
from tests.memory import trees

NOW = datetime(2026, 4, 1, 10, 0, tzinfo=UTC)
NOTE, TRACKER, STATE = "memory/2026-04-01.md", "memory/pending_tasks.json", "memory/distillation-state.json"
Work = Callable[[Path, str], None]


def now() -> datetime:
    return NOW


def note(root: Path, name: str) -> None:
    notes.add_note(root, f"note {name}", now)


def task(root: Path, name: str) -> None:
    tasks.add(root, f"task {name}", now)


def distil(root: Path, name: str) -> None:
    plan, _ = planning.gather(root, NOW)
    planning.save(root, plan)
    memory = (root / "MEMORY.md").read_bytes() + f"- distilled {name}\n".encode()
    commit.commit(root, plan, NOW, memory=memory, rebase=True)


def workspace(place: Path) -> Path:
    starting.start_workspace(place / "work", NOW)
    return place / "work"


def check(root: Path, done: list[tuple[str, str]]) -> None:
    """Everything that was done is there, and what was noted is consolidated or waits."""
    lines = (root / NOTE).read_text().splitlines()
    titles = [one["title"] for one in json.loads((root / TRACKER).read_text())["tasks"]]
    memory = (root / "MEMORY.md").read_text()
    for kind, name in done:
        assert {
            "note": f"- note {name}" in lines,
            "task": f"task {name}" in titles,
            "distil": f"distilled {name}" in memory,
        }[kind]
    assert not [one for one in root.rglob("*") if writing.is_draft(one.name)]


WORKS: dict[str, Work] = {"note": note, "task": task, "distil": distil}
scripts = st.lists(st.sampled_from(list(WORKS)), min_size=1, max_size=4)


@settings(max_examples=25, deadline=None)
@given(scripts, scripts)
def test_two_writers_lose_no_line(one: list[str], other: list[str]) -> None:
    """Any interleaving of notes, tasks and commits: threads exclude each other as processes do."""
    with tempfile.TemporaryDirectory() as name:
        root = workspace(Path(name))
        done: list[tuple[str, str]] = []

        def run(who: str, script: list[str]) -> None:
            for number, kind in enumerate(script):
                try:
                    WORKS[kind](root, f"{who}{number}")
                except RefusedError:
                    continue  # both changed one line: told, and nothing written
                done.append((kind, f"{who}{number}"))

        threads = [threading.Thread(target=run, args=pair) for pair in (("a", one), ("b", other))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(kind != "distil" for kind, _ in done) == sum(kind != "distil" for kind in one + other)
        check(root, done)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from(["note", "task", "plan", "commit"]), max_size=12))
def test_any_order_of_two_writers_leaves_every_note_known(steps: list[str]) -> None:
    """MEM-097: whatever happens between plan and commit, a note is part of a plan or waits."""
    with tempfile.TemporaryDirectory() as name:
        root = workspace(Path(name))
        plan, seen = None, b""
        for number, step in enumerate(steps):
            if step == "plan":
                plan, _ = planning.gather(root, NOW)
                planning.save(root, plan)
                seen = (root / NOTE).read_bytes()
            elif step == "commit" and plan is not None:
                commit.commit(root, plan, NOW, nothing_to_keep=True)
                files = Folder(root)
                last, _ = state.last(files, UTC)
                waits = unprocessed(state.candidates(files, last, NOW), last, NOW)
                grown = (root / NOTE).read_bytes() != seen
                assert bool(waits) == (grown and b"- note" in (root / NOTE).read_bytes()) or not plan.notes
                plan = None
            elif step in ("note", "task"):
                WORKS[step](root, str(number))
        check(root, [(step, str(number)) for number, step in enumerate(steps) if step in ("note", "task")])


def test_two_processes_lose_no_line(tmp_path: Path) -> None:
    root = workspace(tmp_path)
    code = "import sys\nfrom pathlib import Path\nfrom tests.memory.test_together import note, task\n"
    code += "for n in range(15):\n    for work in (note, task):\n        work(Path(sys.argv[1]), sys.argv[2] + str(n))"
    home = str(Path(adf_format.__file__).parents[1])
    children = [
        subprocess.Popen([sys.executable, "-c", code, root, who], env={**os.environ, "PYTHONPATH": home})
        for who in "ab"
    ]
    assert [child.wait() for child in children] == [0, 0]
    check(root, [(kind, f"{who}{n}") for kind in ("note", "task") for who in "ab" for n in range(15)])


# A write is killed at each call that it makes to the system, not at a random instant: every state is seen.


def killed_at(work: Callable[[], None], number: int) -> bool:
    """Run some work in a child that kills itself before the nth call; returns whether it came that far."""
    child = os.fork()
    if child == 0:  # pragma: no cover - the child leaves no trace of coverage
        left = [number]

        def watch(event: str, _: object) -> None:
            if event in ("open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.utime", "os.chmod", "os.chown"):
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), 9)

        try:
            sys.addaudithook(watch)
            work()
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1] == 9


@pytest.mark.parametrize("kind", list(WORKS))
def test_a_kill_leaves_the_old_file_or_the_new_one(tmp_path: Path, kind: str) -> None:
    """Before every call to the system: each file is as before or as after, and the next run works."""
    pristine = workspace(tmp_path)
    note(pristine, "first")
    before = {path: content for path, (content, _, _) in trees.read(pristine).items()}
    for number in range(200):
        root = trees.write(
            tmp_path / f"w{number}", {path: content for path, content in before.items() if path[-1] != "/"}
        )
        came = killed_at(partial(WORKS[kind], root, "x"), number)
        for path, content in before.items():
            if path.endswith("/"):
                continue
            now_there = (root / path).read_bytes()
            assert now_there == content or _is_new(path, content, now_there)
        consolidated = json.loads((root / STATE).read_text())["lastConsolidatedAt"]
        if consolidated is not None:
            assert "distilled x" in (root / "MEMORY.md").read_text()
        WORKS[kind](root, "again")
        check(root, [(kind, "again")])
        if not came:
            assert number > 5
            return
    raise AssertionError


def _is_new(path: str, old: bytes, new: bytes) -> bool:
    """Whether a file is whole and holds what the work adds."""
    if path.endswith(".json"):
        return bool(json.loads(new))
    added = [line for line in new.splitlines() if line not in old.splitlines()]
    return added in ([b"- note x"], [b"- distilled x"])

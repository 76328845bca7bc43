"""Accepting a distillation: checked, with the old text kept, and the state at what was gathered (MEM-096 to MEM-099).

The order of the writes is the order of safety: the old text is kept first, the new one takes its place, and only then
the state moves on. Whatever is killed in between leaves notes unprocessed, never lost.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from adf_format.errors import EXIT_FINDINGS, AdfError
from adf_format.memory import writing
from adf_format.memory.distill import state
from adf_format.memory.distill.plan import HISTORY, Plan
from adf_format.memory.folder import Folder
from adf_format.memory.guard import suspects
from adf_format.memory.paths import MEMORY, STATE
from adf_format.memory.places import inside, make_folder

KEPT = 10  # copies of `MEMORY.md`


class RefusedError(AdfError):
    """A distillation that must not be committed as it is; nothing was written (exit code 1)."""

    exit_code = EXIT_FINDINGS


@dataclass(frozen=True)
class Committed:
    """What a commit did.

    :ivar at: what the state says now; :ivar copy: of the old text, None if it did not change
    :ivar removed, added: lines of `MEMORY.md`; :ivar delta: characters more than before
    :ivar notes: paths that count as consolidated
    """

    at: datetime
    copy: str | None
    removed: tuple[str, ...]
    added: tuple[str, ...]
    delta: int
    notes: tuple[str, ...]


def commit(
    root: Path,
    plan: Plan,
    now: datetime,
    *,
    memory: bytes | None = None,
    nothing_to_keep: bool = False,
    rebase: bool = False,
) -> Committed:
    """Accept a distillation.

    :param memory: the new `MEMORY.md`; left out if the file was edited in place
    :param nothing_to_keep: the notes held nothing for the long term
    :param rebase: with `memory`: if somebody else changed the file since the plan, bring both changes together
    :raises RefusedError: see MEM-098
    """
    with writing.locked(root):
        files = Folder(root)
        base = writing.read(inside(root, f"{HISTORY}/plan-{plan.id}.md"))
        current = files.read(MEMORY)
        new = _merged(plan, base, current, memory, rebase)
        _check(files, plan, new, now, nothing_to_keep)
        old = base if memory is None else current
        copy = _keep(root, old, now) if old is not None and old != new else None
        if memory is not None and new != current:
            writing.edit(inside(root, MEMORY), lambda seen: _unless_changed(seen, current, new))
        noted = [(path.removeprefix("memory/").removesuffix(".md"), one) for path, one in plan.notes.items()]
        writing.edit(inside(root, STATE), lambda content: state.encoded(content, plan.at, noted))
        for name in (f"plan-{plan.id}.json", f"plan-{plan.id}.md"):
            inside(root, f"{HISTORY}/{name}").unlink(missing_ok=True)
    return _told(plan, old or b"", new, copy)


def _unless_changed(seen: bytes | None, expected: bytes | None, new: bytes) -> bytes:
    if seen != expected:
        raise RefusedError(f"{MEMORY} was changed meanwhile", hint="commit again, with --rebase")
    return new


def _check(files: Folder, plan: Plan, new: bytes, now: datetime, nothing_to_keep: bool) -> None:
    last, problem = state.last(files, now.tzinfo or UTC)
    if problem is not None and last.at is None:
        raise RefusedError(f"the state of the distillation is wrong: {problem}", hint=f"mend {STATE} first")
    if plan.at > now or (last.at is not None and plan.at.replace(microsecond=0) < last.at):
        raise RefusedError(
            "the plan is older than the last distillation, or lies in the future", hint="make a new plan"
        )
    same = hashlib.sha256(new).hexdigest() == plan.memory_sha256 or (plan.memory_sha256 is None and not new)
    if same and not nothing_to_keep:
        hint = "say --nothing-to-keep if the notes hold nothing for the long term"
        raise RefusedError(f"{MEMORY} is as it was: nothing was consolidated", hint=hint)
    for path, recorded in plan.notes.items():
        content = files.read(path)
        if content is None or len(content) < recorded.size:
            raise RefusedError(f"{path} is shorter than when it was gathered", hint="bring it back, or make a new plan")
    for path in (MEMORY, *plan.notes):
        found = suspects(path, new if path == MEMORY else files.read(path) or b"")
        if found:
            line, column, kind = found[0]
            raise RefusedError(
                f"{path}:{line}:{column} looks like a secret ({kind})", hint="name the file that holds it"
            )


def _merged(plan: Plan, base: bytes | None, current: bytes | None, memory: bytes | None, rebase: bool) -> bytes:
    if memory is None:
        return current or b""
    seen = hashlib.sha256(current).hexdigest() if current is not None else None
    if seen == plan.memory_sha256:
        return memory
    if not rebase:
        raise RefusedError(f"somebody else changed {MEMORY} since the plan", hint="look at it, or say --rebase")
    return merge(base or b"", current or b"", memory)


def merge(base: bytes, theirs: bytes, ours: bytes) -> bytes:
    """Bring two changes of one text together, line by line.

    :raises RefusedError: both changed the same lines
    """
    lines = base.splitlines(keepends=True)
    changes = sorted(
        {*_hunks(lines, theirs.splitlines(keepends=True)), *_hunks(lines, ours.splitlines(keepends=True))},
        key=lambda hunk: hunk[:2],
    )
    merged: list[bytes] = []
    at = 0
    for number, (start, end, new) in enumerate(changes):
        before = changes[number - 1] if number else None
        if before is not None and (start < at or before[:2] == (start, end)):
            raise RefusedError(f"both changes touch line {start + 1} of {MEMORY}", hint="bring them together by hand")
        merged += [*lines[at:start], *new]
        at = end
    return b"".join([*merged, *lines[at:]])


def _hunks(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[tuple[int, int, tuple[bytes, ...]]]:
    for tag, start, end, first, after in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield start, end, tuple(new[first:after])


def _keep(root: Path, old: bytes, now: datetime) -> str:
    """Keep a copy of the old text, and the newest ten of all copies (MEM-099)."""
    make_folder(root, HISTORY)
    stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    path, number = f"{HISTORY}/MEMORY-{stamp}.md", 2
    while not writing.create(inside(root, path), old) and writing.read(inside(root, path)) != old:
        path, number = f"{HISTORY}/MEMORY-{stamp}-{number}.md", number + 1
    copies = sorted(one for one in (root / HISTORY).iterdir() if one.name.startswith("MEMORY-") and one.suffix == ".md")
    for one in copies[:-KEPT]:
        one.unlink(missing_ok=True)
    return path


def _told(plan: Plan, old: bytes, new: bytes, copy: str | None) -> Committed:
    before, after = (one.decode("utf-8", "replace") for one in (old, new))
    changes = list(difflib.ndiff(before.splitlines(), after.splitlines())) if old != new else []
    removed = tuple(line[2:] for line in changes if line.startswith("- "))
    added = tuple(line[2:] for line in changes if line.startswith("+ "))
    return Committed(plan.at, copy, removed, added, len(after) - len(before), tuple(plan.notes))

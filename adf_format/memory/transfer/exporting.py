"""An agent's memory into a workspace: originals as they were, and copies of what the agent made (MEM-184 to MEM-187).

Each file is written whole or not at all, nothing that is there is replaced unless that was asked for, and a transfer
that was interrupted is completed by running it again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path

from adf_format.container import Container, Limits, open_readonly, stored_version
from adf_format.container.version import refuse_newer
from adf_format.creation.agent import iso
from adf_format.errors import MissingFileError, UnreadableError, VerificationError
from adf_format.memory import writing
from adf_format.memory.agentfiles import AgentFiles
from adf_format.memory.places import inside, make_folder
from adf_format.memory.transfer import citations, manifest, mindcopy, retold
from adf_format.memory.transfer.importing import free, plan_of
from adf_format.memory.transfer.manifest import Manifest
from adf_format.memory.transfer.outcome import Action, Options, Outcome, Step, suspects
from adf_format.memory.transfer.tree import COPIES, Original, leaves, refuse_collisions
from adf_format.schemas import LATEST

HISTORY = "memory/.history"
_LIMITS = Limits(max_value_bytes=1_000_000_000)
_MODE = 0o644


@dataclass(frozen=True)
class _Write:
    """One file to be written.

    :ivar mode, mtime_ns: as they were, None for now
    :ivar change: adds to what is there; runs again on what somebody else wrote meanwhile
    """

    content: Callable[[], bytes]
    mode: int = _MODE
    mtime_ns: int | None = None
    replace: bool = False
    change: retold.Change | None = None


@dataclass
class _Plan:
    agent: AgentFiles
    root: Path
    options: Options
    steps: list[Step] = field(default_factory=list)
    writes: dict[str, _Write] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)

    def step(self, action: Action, path: str, target: str, size: int = 0, note: str | None = None) -> None:
        self.steps.append(Step(action, path, target, size, note))

    def there(self, path: str) -> bytes | None:
        """Return what is in the place of a file."""
        return writing.read(inside(self.root, path))


def export_workspace(agent: str | Path, root: Path, options: Options, *, dry_run: bool = False) -> Outcome:
    """Bring an agent's memory into a workspace, which is made if it is not there.

    :raises MissingFileError: the agent has no memory
    :raises UnreadableError: a file cannot be read or written, or names collide
    """
    with open_readonly(agent, _LIMITS) as container:
        version = stored_version(container.connection)
        refuse_newer(version, LATEST, Path(agent))
        if dry_run or not root.exists():
            outcome = _outcome(_plan(container, root, options), container, Path(agent), dry_run)
            if dry_run or outcome.blocked:
                return outcome
            _make_root(root)
        with writing.locked(root):
            plan = _plan(container, root, options)
            outcome = _outcome(plan, container, Path(agent), False)
            backup = None if outcome.blocked else _apply(plan)
    return Outcome(**{**vars(outcome), "backup": backup})


def _make_root(root: Path) -> None:
    try:
        root.mkdir()
    except OSError as exc:
        raise writing.translate(exc, root) from exc


def _outcome(plan: _Plan, container: Container, agent: Path, dry_run: bool) -> Outcome:
    found = suspects(plan.options, ((path, write.content()) for path, write in plan.writes.items()))
    container.check_deadline()
    return Outcome(agent, plan.root, dry_run, tuple(plan.steps), found, plan.options.allow_secrets)


def _plan(container: Container, root: Path, options: Options) -> _Plan:
    plan = _Plan(AgentFiles(container.connection, None), root, options)
    stored = plan.agent.read(manifest.PATH)
    copies: dict[str, bytes] = {}
    if stored is not None:
        copies = _originals(plan, manifest.parse(stored))
    else:
        paths = ["mind.md", *plan.agent.paths("mind/"), *(["soul.md"] if options.soul else [])]
        copies = {path: plan.agent.read(path) or b"" for path in paths if path in plan.agent}
        if not copies:
            raise MissingFileError("this agent has no memory to export")
        if options.derive:
            _retell(plan, copies)
    _copies(plan, copies)
    if options.citations:
        _new(plan, mindcopy.CITATIONS, citations.lines(container, plan.agent), "the cited messages")
    refuse_collisions(root, plan.writes)
    return plan


def _originals(plan: _Plan, record: Manifest) -> dict[str, bytes]:
    """Plan the originals; returns rows that are no longer what was imported or derived."""
    drifted: dict[str, bytes] = {}
    refuse_collisions(plan.root, [*(one.path for one in record.files), *(one.path for one in record.links)])
    for one in record.files:
        row = record.row(one.path)
        content = plan.agent.read(row)
        if content is None:
            plan.step("gone", row, one.path, one.size, "the agent no longer has it")
        elif hashlib.sha256(content).hexdigest() != one.sha256:
            drifted[row] = content
            plan.step("drift", row, one.path, len(content), f"edited inside the agent; a copy goes to {COPIES}")
        else:
            _original(plan, one, row)
    for derived in record.derived:
        content = plan.agent.read(derived.path)
        if content is None:
            plan.step("gone", derived.path, derived.path, note="a page that was made on import; the agent removed it")
        elif hashlib.sha256(content).hexdigest() != derived.sha256:
            drifted[derived.path] = content
            plan.step("drift", derived.path, derived.path, len(content), f"edited; a copy goes to {COPIES}")
    own = [path for path in plan.agent.paths("mind/") if path not in {one.path for one in record.derived}]
    for path in own if not plan.options.soul else []:
        if path != "mind/log.md":
            plan.step("keep", path, path, note="a page of the agent's own, which belongs to no file of the workspace")
    _links(plan, record)
    return drifted


def _original(plan: _Plan, one: Original, row: str) -> None:
    target, there = one.path, plan.there(one.path)
    action = plan_of(there, one.sha256, plan.options)
    if action == "rename":
        target = free(one.path, lambda path: os.path.lexists(plan.root / path))
    note = "something else is there already; --on-conflict says what to do" if action == "conflict" else None
    plan.step(action, row, target, one.size, note)
    if action in ("add", "rename", "replace"):
        plan.writes[target] = _Write(
            lambda: plan.agent.read(row) or b"", one.mode & 0o777, one.mtime_ns, action == "replace"
        )


def _links(plan: _Plan, record: Manifest) -> None:
    for link in record.links:
        if leaves(link.path, link.target):
            raise UnreadableError("a link in the manifest leads out of the workspace", place=link.path)
        place = plan.root / link.path
        if place.is_symlink() and os.readlink(place) == link.target:  # noqa: PTH115 - the text, as it is
            plan.step("same", link.path, link.path)
        elif os.path.lexists(place):
            plan.step("conflict" if plan.options.on_conflict == "fail" else "keep", link.path, link.path)
        else:
            plan.links[link.path] = link.target
            plan.step("add", link.path, link.path, note=f"a link to {link.target}")
    plan.folders = [path for path in record.empty if not (plan.root / path).is_dir()]


def _copies(plan: _Plan, copies: dict[str, bytes]) -> None:
    """Plan byte-identical copies of rows, with a manifest that says what their rows say (MEM-185, MEM-186)."""
    for path, content in copies.items():
        _new(plan, f"{COPIES}/{path}", content, None)
    if copies:
        rows = [(row, content) for path, content in copies.items() if (row := plan.agent.row(path)) is not None]
        there = plan.there(mindcopy.MANIFEST)
        record = mindcopy.encoded(rows, iso(plan.options.now))
        if there is None or mindcopy.files_of(there) != mindcopy.files_of(record):
            _new(plan, mindcopy.MANIFEST, record, None, ours=True)


def _new(plan: _Plan, path: str, content: bytes, note: str | None, *, ours: bool = False) -> None:
    """Plan a file that is ours to make; `ours`: also to renew."""
    digest = hashlib.sha256(content).hexdigest()
    action = plan_of(plan.there(path), digest, plan.options)
    if ours and action not in ("add", "same"):
        action = "update"
    target = free(path, lambda name: os.path.lexists(plan.root / name)) if action == "rename" else path
    plan.step(action, path.removeprefix(f"{COPIES}/"), target, len(content), note)
    if action in ("add", "rename", "replace", "update"):
        plan.writes[target] = _Write(lambda: content, replace=action in ("replace", "update"))


def _retell(plan: _Plan, copies: dict[str, bytes]) -> None:
    """Plan what a reader of the workspace is told of the mind: added to files, nothing of them replaced (MEM-186)."""
    for path, change in retold.changes(copies, plan.options):
        before = plan.there(path)
        after = change(before)
        if after == (before or b""):
            plan.step("same", path, path)
            continue
        plan.step("insert" if before is not None else "add", path, path, len(after) - len(before or b""))
        plan.writes[path] = _added(after, change)


def _added(after: bytes, change: retold.Change) -> _Write:
    return _Write(lambda: after, change=change)


def _apply(plan: _Plan) -> Path | None:
    backup: Path | None = None
    for path in plan.folders:
        make_folder(plan.root, path)
    for path, write in plan.writes.items():
        folder = path.rpartition("/")[0]
        if folder:
            make_folder(plan.root, folder)
        if write.replace:
            backup = _saved(plan, path) or backup
        _write(inside(plan.root, path), write)
    for path, target in plan.links.items():
        make_folder(plan.root, path.rpartition("/")[0] or "memory")
        os.symlink(target, plan.root / path)  # noqa: PTH211 - the text, as it is
    return backup


def _write(place: Path, write: _Write) -> None:
    """Write one file, and look whether it is there.

    :raises VerificationError: it is not
    """
    content = write.content()
    if write.change is not None:
        content = writing.edit(place, write.change).after
    elif write.mtime_ns is not None:
        writing.put(place, content, mode=write.mode, mtime_ns=write.mtime_ns, replace=write.replace)
    elif write.replace:
        writing.edit(place, lambda _: content)
    elif not writing.create(place, content):
        raise UnreadableError("somebody else made this file meanwhile", place, hint="run it again")
    if writing.read(place) != content:
        raise VerificationError("the file is not what was written", place)


def _saved(plan: _Plan, path: str) -> Path | None:
    """Copy a file that is about to be replaced (MEM-188)."""
    there = plan.there(path)
    if there is None or path.startswith(f"{COPIES}/manifest"):
        return None
    stamp = plan.options.now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    folder = f"{HISTORY}/before-export-{stamp}"
    target = f"{folder}/{path}"
    make_folder(plan.root, target.rpartition("/")[0])
    writing.create(inside(plan.root, target), there)
    return plan.root / folder

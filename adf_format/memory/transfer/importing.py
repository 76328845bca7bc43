"""A workspace into an `.adf`: originals byte for byte, a manifest, and pages made from them (MEM-181 to MEM-183).

One transaction, with a backup before and a check of every hash after it. What is in the agent already is never
replaced unless that was asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from adf_format.container import Change, Container, open_for_change, open_readonly, stored_version
from adf_format.container.version import refuse_newer
from adf_format.creation.agent import iso
from adf_format.errors import MissingFileError, VerificationError
from adf_format.memory import writing
from adf_format.memory.agentfiles import MARKDOWN, AgentFiles
from adf_format.memory.transfer import catalog, manifest, mindcopy, tree
from adf_format.memory.transfer.derive import Page, focus, pages
from adf_format.memory.transfer.manifest import PREFIX, Derived, Manifest
from adf_format.memory.transfer.outcome import Action, Options, Outcome, Step, suspects
from adf_format.memory.transfer.tree import Original, Tree
from adf_format.schemas import LATEST

_MIME = {".md": MARKDOWN, ".json": "application/json", ".jsonl": "application/jsonl", ".txt": "text/plain"}
Content = Callable[[], bytes]


@dataclass(frozen=True)
class _Write:
    """What is written into a row: content, MIME type of a new one, and what the row says besides (MEM-186)."""

    content: Content
    mime: str
    metadata: mindcopy.Metadata | None = None


@dataclass
class _Plan:
    """Work to be done: steps to show, rows to write, and the manifest as it will be."""

    agent: AgentFiles
    tree: Tree
    options: Options
    before: Manifest | None
    steps: list[Step] = field(default_factory=list)
    writes: dict[str, _Write] = field(default_factory=dict)
    derived: list[Derived] = field(default_factory=list)
    added: list[Page] = field(default_factory=list)
    updated: list[Page] = field(default_factory=list)
    restored: set[str] = field(default_factory=set)

    def step(self, action: Action, path: str, target: str, size: int = 0, note: str | None = None) -> None:
        self.steps.append(Step(action, path, target, size, note))

    def write(self, row: str, content: Content, mime: str, metadata: mindcopy.Metadata | None = None) -> None:
        self.writes[row] = _Write(content, mime, metadata)

    def current(self, row: str) -> bytes | None:
        """Return what a row will hold as far as is planned."""
        return self.writes[row].content() if row in self.writes else self.agent.read(row)


def import_workspace(
    root: Path, agent: str | Path, options: Options, *, dry_run: bool = False, backup: bool = True
) -> Outcome:
    """Bring a workspace into an agent.

    :param backup: keep the copy of the file from before
    :raises MissingFileError: there is no workspace
    :raises LockedError: the agent is running, or another one changes the workspace
    :raises UnreadableError: something cannot be carried, or a file cannot be read or changed
    """
    with writing.locked(root):
        found = tree.read(root)
        if not found.originals and not mindcopy.is_there(root):
            raise MissingFileError("there is no memory in this folder", root, hint="`adf-format memory init` makes one")
        if dry_run:
            with open_readonly(agent) as container:
                version = stored_version(container.connection)
                refuse_newer(version, LATEST, Path(agent))
                return _outcome(_plan(AgentFiles(container.connection, version), found, options), Path(agent), True)
        with open_for_change(agent, backup=True) as change:
            outcome = _apply(change, found, Path(agent), options)
        if backup or change.backup is None:
            return replace(outcome, backup=change.backup)
        change.discard_backup()
        return outcome


def _apply(change: Change, found: Tree, path: Path, options: Options) -> Outcome:
    plan = _plan(AgentFiles(change.connection, change.version), found, options)
    outcome = _outcome(plan, path, False)
    if outcome.blocked or not plan.writes:
        return outcome
    with change.transaction():
        for row, write in plan.writes.items():
            plan.agent.write(row, write.content(), options.now, mime=write.mime)
            if write.metadata is not None:
                plan.agent.describe(row, write.metadata)
    expected = {row: hashlib.sha256(write.content()).hexdigest() for row, write in plan.writes.items()}
    change.checks.append(lambda container: _verify(container, expected))
    return outcome


def _verify(container: Container, expected: dict[str, str]) -> None:
    files = AgentFiles(container.connection, None)
    for row, digest in expected.items():
        if hashlib.sha256(files.read(row) or b"").hexdigest() != digest:
            raise VerificationError("a file is not what was written", place=row)


def _outcome(plan: _Plan, agent: Path, dry_run: bool) -> Outcome:
    texts = ((one.path, plan.tree.content(one)) for one in plan.tree.originals)
    found = suspects(plan.options, [*texts, *mindcopy.texts(plan.tree.root)])
    return Outcome(agent, plan.tree.root, dry_run, tuple(plan.steps), found, plan.options.allow_secrets)


def _plan(agent: AgentFiles, found: Tree, options: Options) -> _Plan:
    stored = agent.read(manifest.PATH)
    plan = _Plan(agent, found, options, manifest.parse(stored) if stored is not None else None)
    _restore(plan)
    if found.originals:
        rows: dict[str, str] = {}
        kept = tuple(_original(plan, one, rows) for one in found.originals)
        _gone(plan)
        if options.derive:
            for page in pages(found, plan.tree.content, options):
                _page(plan, page)
            _gone_pages(plan)
            _index(plan)
        _record(plan, kept, rows)
    return plan


def _original(plan: _Plan, one: Original, rows: dict[str, str]) -> Original:
    """Plan one original; returns what the manifest will say of it."""
    row = plan.before.row(one.path) if plan.before else PREFIX + one.path
    if row != PREFIX + one.path:
        rows[one.path] = row
    stored = plan.agent.read(row)
    action = plan_of(stored, one.sha256, plan.options)
    if action == "rename":
        row = rows[one.path] = free(row, plan.agent.__contains__)
    plan.step(action, one.path, row, one.size, _hint(action))
    if action in ("add", "rename", "replace"):
        plan.write(row, lambda: plan.tree.content(one), _mime(one))
    if stored is None or action != "keep":
        return one
    before = {entry.path: entry for entry in plan.before.files} if plan.before else {}
    entry = before.get(one.path, one)
    digest = hashlib.sha256(stored).hexdigest()
    return replace(entry, sha256=digest, size=len(stored), encoding=tree.encoding_of(stored))


def plan_of(stored: bytes | None, sha256: str, options: Options) -> Action:
    """Return what happens to a file whose place may be taken (MEM-188)."""
    if stored is None:
        return "add"
    if hashlib.sha256(stored).hexdigest() == sha256:
        return "same"
    return "conflict" if options.on_conflict == "fail" else options.on_conflict


def free(path: str, taken: Callable[[str], bool]) -> str:
    """Return a path that is not taken: `a.md`, then `a-2.md` and so on."""
    folder, slash, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".") if "." in name[1:] else (name, "", "")
    number = 2
    while taken(found := f"{folder}{slash}{stem}-{number}{dot}{suffix}"):
        number += 1
    return found


def _hint(action: Action) -> str | None:
    return "something else is there already; --on-conflict says what to do" if action == "conflict" else None


def _gone(plan: _Plan) -> None:
    there = {one.path for one in plan.tree.originals}
    for one in plan.before.files if plan.before else ():
        if one.path not in there:
            note = "no longer in the workspace; what was imported stays"
            plan.step("gone", one.path, plan.before.row(one.path) if plan.before else "", one.size, note)


def _gone_pages(plan: _Plan) -> None:
    """Name pages of an earlier import whose source has gone; they stay."""
    there = {step.path for step in plan.steps}
    for one in plan.before.derived if plan.before else ():
        if one.path not in there and one.path in plan.agent:
            plan.step("gone", one.path, one.path, note="its source is no longer in the workspace; the page stays")


def _restore(plan: _Plan) -> None:
    """Plan the way back of copies of a mind (MEM-186); what the agent has of its own stays (MEM-189)."""
    for copy, content in mindcopy.read(plan.tree.root):
        stored, source = plan.agent.read(copy.path), f"{tree.COPIES}/{copy.path}"
        digest = hashlib.sha256(content).hexdigest()
        action, note = plan_of(stored, digest, plan.options), None
        if stored is not None and mindcopy.is_seed(copy.path, stored) and action != "same":
            action = "update"
        elif action == "replace" and copy.path in ("mind.md", "mind/log.md", "soul.md"):
            action, note = "keep", "the agent has its own, which is never replaced"
        target = free(copy.path, plan.agent.__contains__) if action == "rename" else copy.path
        if action in ("add", "update", "replace", "rename"):
            metadata = copy.metadata if digest == copy.sha256 else copy.metadata | {"updated_at": iso(plan.options.now)}
            plan.write(target, lambda content=content: content, MARKDOWN, metadata)  # type: ignore[misc]
        plan.restored.add(target)
        plan.step(action, source, target, len(content), note or _hint(action))


def _page(plan: _Plan, page: Page) -> None:
    before = next((one for one in plan.before.derived if one.path == page.path), None) if plan.before else None
    stored = plan.current(page.path)
    mine = Derived(page.path, page.sources, page.sha256)
    if stored is None:
        action: Action = "add"
        plan.added.append(page)
    elif page.path in plan.restored:
        action = "same" if stored == page.content else "drift"
    elif before is not None and hashlib.sha256(stored).hexdigest() != before.sha256:
        action = "replace" if plan.options.on_conflict == "replace" else "drift"
        mine = mine if action == "replace" else before
    elif before is not None and _unchanged(plan, page):
        action, mine = "same", before
    elif before is not None:
        action = "same" if stored == page.content else "update"
    else:
        action = plan_of(stored, page.sha256, plan.options)
    if action == "rename":
        page = replace(page, path=free(page.path, plan.agent.__contains__))
        mine = replace(mine, path=page.path)
        plan.added.append(page)
    if action in ("update", "replace"):
        plan.updated.append(page)
    if action in ("add", "update", "replace", "rename"):
        plan.write(page.path, lambda: page.content, MARKDOWN)
    if action not in ("keep", "conflict"):
        plan.derived.append(mine)
    note = "edited since it was made; it stays" if action == "drift" else _hint(action)
    plan.step(action, page.path, page.path, len(page.content), note)


def _unchanged(plan: _Plan, page: Page) -> bool:
    """Whether the originals of a page are those of the last import: then it stays, whatever day it is."""
    then = {one.path: one.sha256 for one in plan.before.files} if plan.before else {}
    now = {one.path: one.sha256 for one in plan.tree.originals}
    return all(then.get(path) == now.get(path) for path in page.sources)


def _index(plan: _Plan) -> None:
    """Insert lines for pages into the index and the log; nothing of them is rewritten (MEM-189)."""
    day = plan.options.now.date().isoformat()
    line = focus(plan.tree, plan.tree.content) if plan.options.always else None
    _insert(plan, catalog.INDEX, lambda text: catalog.with_lines(text, plan.added, line))
    _insert(plan, catalog.LOG, lambda text: catalog.with_entries(text, day, plan.added, plan.updated))


def _insert(plan: _Plan, path: str, change: Callable[[bytes | None], bytes]) -> None:
    before = plan.current(path)
    after = change(before)
    if after != (before or b""):
        metadata = plan.writes[path].metadata if path in plan.writes else None
        plan.write(path, lambda: after, MARKDOWN, metadata)
        plan.step("insert" if before is not None else "add", path, path, len(after) - len(before or b""))


def _record(plan: _Plan, kept: Iterable[Original], rows: dict[str, str]) -> None:
    found, options = plan.tree, plan.options
    made = Manifest(
        iso(options.now), options.zone, tuple(kept), found.links, found.empty, tuple(plan.derived), rows,
        options.allow_secrets and bool(suspects(options, ((one.path, found.content(one)) for one in found.originals))),
    )  # fmt: skip
    if not options.derive and plan.before is not None:
        made = replace(made, derived=plan.before.derived)
    if plan.before is not None and made.same_as(plan.before):
        return
    content = made.encoded()
    plan.write(manifest.PATH, lambda: content, "application/json")
    plan.step("add" if plan.before is None else "update", manifest.PATH, manifest.PATH, len(content))


def _mime(one: Original) -> str:
    suffix = Path(one.path).suffix.lower()
    return _MIME.get(suffix, "text/plain" if one.encoding == "utf-8" else "application/octet-stream")

"""Making what is missing of a memory, and touching nothing that is there (MEM-060 to MEM-064, MEM-112)."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from adf_format.container import open_for_change, open_readonly, stored_version
from adf_format.container.version import refuse_newer
from adf_format.creation import seeds
from adf_format.errors import UnreadableError
from adf_format.memory import writing
from adf_format.memory.agentfiles import AgentFiles
from adf_format.memory.blocks import put_block
from adf_format.memory.notes import DAILY
from adf_format.memory.places import inside
from adf_format.memory.placing import text_of
from adf_format.schemas import LATEST

FOLDERS = ("memory", "memory/channel_context")
AGENTS = "AGENTS.md"
LOAD_ORDER = """\
Before you answer anything in a new session, read:

1. memory/active_context.md
2. memory/YYYY-MM-DD.md of today, then of yesterday
3. MEMORY.md, in main and private sessions only
4. memory/channel_context/<channel>.md, if the session belongs to a channel
5. memory/pending_tasks.json

Write down what must outlast this session. Never write a secret into these files: name the file that holds it."""
_SECTIONS = "\n".join(f"## {title}\n" for title in DAILY)
_TEXTS = {
    "MEMORY.md": "# Long-Term Memory\n\n## Systems Built\n\n## Lessons Learned\n\n## Key Decisions\n",
    "memory/active_context.md": "# Active Context\n\n## In Progress\n\n## Blocked / Waiting\n\n## Recently Completed\n",
    "memory/{day}.md": "# {day}\n\n" + _SECTIONS,
    "memory/pending_tasks.json": '{\n  "lastUpdated": null,\n  "tasks": []\n}\n',
    "memory/distillation-state.json": '{\n  "lastConsolidatedAt": null\n}\n',
}


@dataclass
class Started:
    """What was made, what was there, and what was in the way; paths in the order of the work.

    :ivar errors: `path: reason`; nothing after the first is made
    """

    created: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """Return the result as JSON (MEM-063)."""
        return {"created": self.created, "skipped": self.skipped, "errors": self.errors}


def start_workspace(root: Path, now: datetime, *, dry_run: bool = False, agents: bool = False) -> Started:
    """Make a workspace in a folder, or what is missing of it.

    :param now: a time in the zone of the workspace, which names today's note
    :param agents: also put the order of loading into `AGENTS.md`
    :raises UnreadableError: the folder cannot be made or written
    """
    done = Started()
    day = now.date().isoformat()
    wanted = {path.replace("{day}", day): text.replace("{day}", day) for path, text in _TEXTS.items()}
    if not root.exists() and not dry_run:
        try:
            root.mkdir()
        except OSError as exc:
            raise writing.translate(exc, root) from exc
    if root.exists() and not root.is_dir():
        raise UnreadableError("this is not a folder", root)
    with contextlib.nullcontext() if dry_run else writing.locked(root):
        for path in FOLDERS:
            _folder(root, path, done, dry_run)
        for path, text in wanted.items():
            _file(root, path, text, done, dry_run)
        if agents and not done.errors:
            _agents(root, done, dry_run)
    return done


def _folder(root: Path, path: str, done: Started, dry_run: bool) -> None:
    if done.errors:
        return
    place = inside(root, path)
    if place.is_dir():
        done.skipped.append(f"{path}/")
    elif place.exists() or place.is_symlink():
        done.errors.append(f"{path}: a file is in the place of a folder")
    else:
        if not dry_run:
            try:
                place.mkdir(exist_ok=True)
            except OSError as exc:
                raise writing.translate(exc, place) from exc
        done.created.append(f"{path}/")


def _file(root: Path, path: str, text: str, done: Started, dry_run: bool) -> None:
    if done.errors:
        return
    place = inside(root, path)
    if place.is_dir():
        done.errors.append(f"{path}: a folder is in the place of a file")
    elif place.exists() or place.is_symlink() or (not dry_run and not writing.create(place, text.encode())):
        done.skipped.append(path)
    else:
        done.created.append(path)


def _agents(root: Path, done: Started, dry_run: bool) -> None:
    """Put the order of loading between our markers; what stands around them stays (MEM-064)."""

    def change(content: bytes | None) -> bytes:
        return put_block(text_of(content or b"", AGENTS), "memory", LOAD_ORDER).encode()

    if dry_run:
        before = writing.read(inside(root, AGENTS))
        changed = change(before) != before
    else:
        changed = writing.edit(inside(root, AGENTS), change).changed
    (done.created if changed else done.skipped).append(AGENTS)


def start_mind(path: Path, now: datetime, *, dry_run: bool = False, backup: bool = True) -> Started:
    """Seed what is missing of the mind of an agent: an absent or empty index, an absent log (MEM-112).

    :raises UnreadableError: the file cannot be read or changed
    """
    with open_readonly(path) as container:
        version = stored_version(container.connection)
        refuse_newer(version, LATEST, path)
        done, missing = _mind(AgentFiles(container.connection, version))
    if dry_run or not missing:
        return done
    with open_for_change(path) as change:
        files = AgentFiles(change.connection, change.version)
        done, missing = _mind(files)
        if missing:
            with change.transaction():
                for name, text in missing.items():
                    files.write(name, text.encode(), now)
    if not backup:
        change.discard_backup()
    return done


def _mind(files: AgentFiles) -> tuple[Started, dict[str, str]]:
    done, missing = Started(), {}
    for path, text in (("mind.md", seeds.MIND), ("mind/log.md", seeds.MIND_LOG)):
        content = files.read(path)
        blank = content is not None and not content.decode("utf-8", "replace").strip("\ufeff \t\r\n")
        if content is None or (blank and path == "mind.md"):
            missing[path] = text
            done.created.append(path)
        else:
            done.skipped.append(path)
    return done, missing

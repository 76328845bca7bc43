"""Adding to daily notes and channel files (MEM-010 to MEM-014, MEM-040 to MEM-042)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from adf_format.errors import UnreadableError, UsageError
from adf_format.memory import writing
from adf_format.memory.folder import channel_file
from adf_format.memory.guard import refuse_secrets
from adf_format.memory.paths import CHANNELS
from adf_format.memory.places import inside, make_folder
from adf_format.memory.placing import BOM, append_to_section, bullet, outline, text_of

DAILY = ("Tasks", "Decisions", "Learned", "Blockers")
CHANNEL = ("Current Topics", "Recent Decisions", "Unresolved")


@dataclass(frozen=True)
class Added:
    """What was added, and where.

    :ivar path: of the workspace; :ivar line: of the item, from 1
    :ivar created: whether the file is new
    """

    path: str
    section: str
    line: int
    created: bool


def add_note(
    root: Path, text: str, now: Callable[[], datetime], *, section: str = "Tasks", day: date | None = None
) -> Added:
    """Add an item to a daily note; file and section are made if they are not there, no other byte changes.

    :param now: the time in the zone of the workspace, asked for when the file is locked, so that midnight is no trap
    :param day: of the note, today if left out
    :raises UsageError: no text, a secret, or a day in the future
    :raises UnreadableError: the note cannot be read or written
    """
    item = bullet(text)
    refuse_secrets(text)
    _demand_title(section)
    with writing.locked(root):
        today = now().date()
        if day is not None and day > today:
            raise UsageError(f"{day} lies in the future; today is {today}")
        chosen = (day or today).isoformat()
        return _add(root, f"memory/{chosen}.md", f"# {chosen}", section, item, DAILY)


def add_to_channel(root: Path, name: str, text: str, now: Callable[[], datetime], *, section: str) -> Added:
    """Add an item to a channel's file; a decision gets the date in parentheses (MEM-040).

    :raises UsageError: no text, a secret, or no name of a channel
    :raises UnreadableError: another channel has this file (MEM-042), or it cannot be read or written
    """
    item = bullet(text)
    refuse_secrets(text)
    _demand_title(section)
    path = f"{CHANNELS}/{channel_file(name)}"
    title = name.strip().removeprefix("#").strip()
    with writing.locked(root):
        if section == "Recent Decisions":
            first, *more = item.split("\n")
            item = "\n".join([f"{first} ({now().date()})", *more])
        _refuse_clash(root, path, title)
        return _add(root, path, f"# {title}", section, item, CHANNEL)


def _refuse_clash(root: Path, path: str, title: str) -> None:
    content = writing.read(inside(root, path))
    seen = outline(text_of(content, path)) if content is not None else None
    first = next((one for one in seen.headings if one.level == 1), None) if seen else None
    if (
        first is not None
        and channel_file(first.title or "-x") == path.rpartition("/")[2]
        and _differ(first.title, title)
    ):
        raise UnreadableError(f"this is the file of the channel {first.title!a:.80}, not of {title!a:.80}", root / path)


def _differ(one: str, other: str) -> bool:
    return one.strip().removeprefix("#").strip().casefold() != other.casefold()


def _add(root: Path, path: str, title: str, section: str, item: str, order: tuple[str, ...]) -> Added:
    make_folder(root, path.rpartition("/")[0])
    lines = [0]

    def change(content: bytes | None) -> bytes:
        before = text_of(content, path) if content is not None else ""
        text = before if before.strip(BOM + " \t\r\n") else f"{before}{title}\n"
        after = append_to_section(text, section, item, order, path)
        lines[0] = _line_of_change(text, after, item)
        return after.encode()

    done = writing.edit(inside(root, path), change)
    return Added(path, section, lines[0], done.before is None)


def _line_of_change(before: str, after: str, item: str) -> int:
    """Return the line of the item, which is the first of its lines after what both texts begin with."""
    old, new = before.splitlines(), after.splitlines()
    first = item.split("\n", maxsplit=1)[0]
    same = next((number for number, line in enumerate(new) if number >= len(old) or old[number] != line), len(new))
    return next((number for number in range(same, len(new)) if new[number] == first), same) + 1


def _demand_title(section: str) -> None:
    if not section.strip() or any(char in section for char in "\r\n\0"):
        raise UsageError("a section needs a title on one line")

"""Where a path of a workspace really leads (MEM-006)."""

from __future__ import annotations

from pathlib import Path

from adf_format.errors import UnreadableError
from adf_format.files.extract import unwritable


def inside(root: Path, path: str) -> Path:
    """Return the place of a path in a workspace; its folders are made by `make_folder`.

    :raises UnreadableError: it leads out of the workspace, by its name or by a link on the way
    """
    if why := unwritable(path):
        raise UnreadableError(f"a path that cannot be used: {why}", root / path.replace("\0", "?"))
    place = root / path
    home, real = root.resolve(), place.parent.resolve()
    if real != home and home not in real.parents:
        raise UnreadableError("a link on the way leads out of the workspace", place)
    if place.is_symlink() and home not in place.resolve().parents:
        raise UnreadableError("a link that leads out of the workspace", place)
    return place


def make_folder(root: Path, path: str) -> None:
    """Make a folder of a workspace and those above it.

    :raises UnreadableError: something else is in its place, or the system refused
    """
    place = root
    for part in path.split("/"):
        place = place / part
        inside(root, place.relative_to(root).as_posix())
        try:
            place.mkdir()
        except FileExistsError:
            if not place.is_dir():
                raise UnreadableError("a file is in the place of a folder", place) from None
        except OSError as exc:
            raise UnreadableError(exc.strerror or str(exc), place) from exc

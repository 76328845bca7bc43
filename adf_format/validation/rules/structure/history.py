"""In which storage versions a table, column or index exists."""

from __future__ import annotations

from functools import cache

from adf_format.schemas import LATEST, OLDEST, storage_version


@cache
def tables() -> dict[str, list[int]]:
    """Return the storage versions of each table."""
    found: dict[str, list[int]] = {}
    for number in range(OLDEST, LATEST + 1):
        for name in storage_version(number).tables:
            found.setdefault(name, []).append(number)
    return found


@cache
def columns() -> dict[tuple[str, str], list[int]]:
    """Return the storage versions of each `(table, column)`."""
    found: dict[tuple[str, str], list[int]] = {}
    for number in range(OLDEST, LATEST + 1):
        for table in storage_version(number).tables.values():
            for column in table.columns:
                found.setdefault((table.name, column.name), []).append(number)
    return found


@cache
def indexes() -> dict[str, list[int]]:
    """Return the storage versions of each index."""
    found: dict[str, list[int]] = {}
    for number in range(OLDEST, LATEST + 1):
        for table in storage_version(number).tables.values():
            for index in table.indexes:
                found.setdefault(index.name, []).append(number)
    return found


def arrived(versions: list[int]) -> str:
    """Return a clause for a missing thing: since when it exists, if it was not always there."""
    return f"; it came with storage version {versions[0]}" if versions[0] > OLDEST else ""


def belongs(versions: list[int]) -> str:
    """Name the storage versions of a thing that is out of place."""
    if versions[-1] == LATEST:
        return f"storage version {versions[0]}"
    return f"storage versions up to {versions[-1]}"

"""SQLite's own check of a file, made to survive damage and tables that it cannot judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import apsw

from .failures import translate
from .reader import Container

MOST = 100  # complaints after which SQLite stops
STOPPED = "the check stops at a damaged page"
Ask = Callable[[], Iterable[Any]]


@dataclass(frozen=True)
class Integrity:
    """What `PRAGMA integrity_check` says.

    :ivar complaints: what SQLite says, at most as many lines as asked for
    :ivar whole: whether the file was checked in one go; else table by table, and nothing says what lies outside them
    :ivar stopped: tables in which the check stopped at damage; `""` stands for the whole file
    :ivar unchecked: tables that could not be judged, each with the reason: an index or a CHECK of theirs
        uses a function or a collation that only the agent's own program knows
    """

    complaints: tuple[str, ...] = ()
    whole: bool = True
    stopped: tuple[str, ...] = ()
    unchecked: tuple[tuple[str, str], ...] = ()

    @property
    def findings(self) -> tuple[str, ...]:
        """Everything that is wrong, one line each."""
        stops = (f"{STOPPED} of {table}" if table else STOPPED for table in self.stopped)
        return (*self.complaints, *stops)


def statement(*, quick: bool = False, most: int = MOST) -> str:
    """The SQL of the check of a whole file: see `check_integrity`."""
    return f"PRAGMA {_pragma(quick=quick)}({int(most)})"


def check_integrity(
    container: Container, *, quick: bool = False, most: int = MOST, ask: Ask | None = None
) -> Integrity:
    """Run the check (STO-006); virtual tables whose module is missing are passed over by SQLite (STO-020).

    :param quick: `quick_check`, which leaves out whether indexes match their tables
    :param most: stop after so many complaints
    :param ask: gives the rows of `statement()` if they are being worked out elsewhere
    :raises LimitError, UnreadableError: the check could not be run to its end
    """
    connection, pragma = container.connection, _pragma(quick=quick)
    first = ask or partial(connection.execute, statement(quick=quick, most=most))
    try:
        try:
            return Integrity(tuple(_lines(first())))
        except apsw.CorruptError:
            return _table_by_table(connection, pragma, most, ("",))
        except (apsw.SQLError, apsw.AuthError):
            return _table_by_table(connection, pragma, most, ())
    except apsw.Error as exc:
        raise translate(exc, container.source.path, pragma) from exc


def _pragma(*, quick: bool) -> str:
    return "quick_check" if quick else "integrity_check"


def _table_by_table(connection: apsw.Connection, pragma: str, most: int, stopped: tuple[str, ...]) -> Integrity:
    complaints: list[str] = []
    unchecked: list[tuple[str, str]] = []
    for name in _tables(connection):
        quoted = name.replace('"', '""')
        try:
            complaints += _lines(connection.execute(f'PRAGMA {pragma}("{quoted}")'))
        except apsw.CorruptError:
            stopped = (*stopped, name)
        except (apsw.SQLError, apsw.AuthError) as exc:
            unchecked.append((name, " ".join(str(exc).split())))
    return Integrity(tuple(complaints[:most]), False, stopped, tuple(unchecked))


def _tables(connection: apsw.Connection) -> list[str]:
    query = "SELECT name FROM sqlite_schema WHERE type='table' AND rootpage>0 ORDER BY name"
    try:
        return [str(name) for (name,) in connection.execute(query)]
    except apsw.CorruptError:  # the catalogue itself: there is nothing to go by
        return []


def _lines(found: Iterable[Any]) -> list[str]:
    return [str(row[0]) for row in found if row[0] != "ok"]

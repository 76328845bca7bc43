"""SQLite's own check of a file, made to survive tables it cannot judge."""

from __future__ import annotations

from dataclasses import dataclass

import apsw

from .failures import translate
from .reader import Container


@dataclass(frozen=True)
class Integrity:
    """What `PRAGMA integrity_check` says.

    :ivar findings: SQLite's complaints, at most as many as asked for
    :ivar unchecked: tables that could not be judged, each with the reason: an index or a CHECK of theirs
        uses a function or a collation that only the agent's own program knows. Then the list of free pages
        has not been checked either.
    """

    findings: tuple[str, ...] = ()
    unchecked: tuple[tuple[str, str], ...] = ()


def check_integrity(container: Container, *, quick: bool = False, most: int = 100) -> Integrity:
    """Run the check (STO-006); virtual tables whose module is missing are passed over by SQLite (STO-020).

    :param quick: `quick_check`, which leaves out whether indexes match their tables
    :param most: stop after so many complaints
    :raises LimitError, UnreadableError: the check could not be run to its end
    """
    pragma = "quick_check" if quick else "integrity_check"
    try:
        return Integrity(_ask(container.connection, f"PRAGMA {pragma}({int(most)})"))
    except apsw.SQLError:
        return _table_by_table(container, pragma, most)
    except apsw.Error as exc:
        raise translate(exc, container.source.path, pragma) from exc


def _table_by_table(container: Container, pragma: str, most: int) -> Integrity:
    findings: list[str] = []
    unchecked: list[tuple[str, str]] = []
    try:
        names = container.connection.execute(
            "SELECT name FROM sqlite_schema WHERE type='table' AND rootpage>0 ORDER BY name"
        ).fetchall()
        for (name,) in names:
            quoted = str(name).replace('"', '""')
            try:
                findings.extend(_ask(container.connection, f'PRAGMA {pragma}("{quoted}")'))
            except apsw.SQLError as exc:
                unchecked.append((str(name), " ".join(str(exc).split())))
    except apsw.Error as exc:
        raise translate(exc, container.source.path, pragma) from exc
    return Integrity(tuple(findings[:most]), tuple(unchecked))


def _ask(connection: apsw.Connection, sql: str) -> tuple[str, ...]:
    lines: list[str] = []
    try:
        lines.extend(line for (line,) in connection.execute(sql) if line != "ok")
    except apsw.CorruptError as exc:  # damage so bad that the check itself stops
        lines.append(f"the check stopped: {exc}")
    return tuple(lines)

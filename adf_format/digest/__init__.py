"""The logical digest: one hash of what an agent is, whatever way its file is laid out.

It does not change with page size, VACUUM, the write-ahead log, the place of rows whose key is a text, the order of
columns, columns that hold only NULL, the quality of compression, or the order of keys in JSON. It changes with every
value. Left out: the marker of a clean close, which changes on every opening (STO-005); virtual tables and the tables
they keep their data in (STO-020); indexes, triggers, views and what SQLite keeps about statistics.

A digest has a version (`ALGORITHM`), which changes with the way it is made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import apsw

from adf_format.container import Container
from adf_format.digest.canonical import NotCanonicalError, canonical
from adf_format.digest.sorting import sorted_hashes
from adf_format.digest.tables import VIRTUAL, Contents, contents, encoded, encoded_twice, layout

ALGORITHM = "adf-digest-1"
__all__ = [
    "ALGORITHM",
    "Digest",
    "NotCanonicalError",
    "TableDigest",
    "canonical",
    "digest",
    "digest_both",
    "table_digest",
]


@dataclass(frozen=True)
class TableDigest:
    """The digest of one table.

    :ivar rows: how many rows it covers
    :ivar sha256: 64 hexadecimal digits
    """

    rows: int
    sha256: str


@dataclass(frozen=True)
class Digest:
    """The digest of an agent.

    :ivar sha256: of the whole: names and digests of all tables, and the names of what is left out
    :ivar tables: digest of each table by its name
    :ivar left_out: tables that are not covered, with the reason
    """

    sha256: str
    tables: dict[str, TableDigest]
    left_out: dict[str, str] = field(default_factory=dict)

    def differing(self, other: Digest) -> list[str]:
        """Return the names of the tables that differ, or that only one of the two has, sorted."""
        names = self.tables.keys() | other.tables.keys()
        differ = {name for name in names if self.tables.get(name) != other.tables.get(name)}
        return sorted(differ | (set(self.virtual) ^ set(other.virtual)))

    @property
    def virtual(self) -> list[str]:
        """The virtual tables: their names count, their contents do not."""
        return sorted(name for name, reason in self.left_out.items() if reason == VIRTUAL)


def digest(source: apsw.Connection | Container, *, omit: Mapping[str, frozenset[str]] | None = None) -> Digest:
    """Compute the digest of an open agent; memory stays flat.

    On a connection that may see writes of others, begin a transaction first.

    :param omit: columns to leave out, by table
    :raises LimitError: a value above the length limit, or the deadline of a `Container` passed
    :raises apsw.Error: the file is damaged; see `adf_format.container.translate`
    """
    connection, check = _opened(source)
    return _whole(
        contents(connection), lambda name: _table(connection, name, (omit or {}).get(name, frozenset()), check)
    )


def _whole(found: Contents, table: Callable[[str], TableDigest]) -> Digest:
    tables = {name: table(name) for name in found.tables}
    whole = _hash(ALGORITHM)
    for name, one in tables.items():
        whole.update(b"%d:%b%d:%b" % (len(name.encode()), name.encode(), one.rows, bytes.fromhex(one.sha256)))
    result = Digest("", tables, found.left_out)
    for name in result.virtual:
        whole.update(b"-%d:%b" % (len(name.encode()), name.encode()))
    return replace(result, sha256=whole.hexdigest())


def table_digest(source: apsw.Connection | Container, table: str, *, omit: frozenset[str] = frozenset()) -> TableDigest:
    """Compute the digest of one table; as `digest`."""
    connection, check = _opened(source)
    return _table(connection, table, omit, check)


def digest_both(
    source: apsw.Connection | Container, without: Mapping[str, frozenset[str]]
) -> tuple[Digest, dict[str, TableDigest]]:
    """Compute the digest of an agent, and in the same pass those of some tables without some columns; as `digest`.

    :param without: columns to leave out, by table; tables that are not there are passed over
    """
    connection, check = _opened(source)
    fewer: dict[str, TableDigest] = {}

    def one(name: str) -> TableDigest:
        if name not in without:
            return _table(connection, name, frozenset(), check)
        full, fewer[name] = _table_both(connection, name, without[name], check)
        return full

    return _whole(contents(connection), one), fewer


def _opened(source: apsw.Connection | Container) -> tuple[apsw.Connection, Callable[[], None]]:
    if isinstance(source, Container):
        return source.connection, source.check_deadline
    return source, lambda: None


def _table(connection: apsw.Connection, table: str, omit: frozenset[str], check: Callable[[], None]) -> TableDigest:
    how = layout(connection, table)
    columns = tuple(name for name in how.columns if name not in omit)
    pieces = encoded(connection, how, columns)
    found = _Rows()
    for piece in pieces if how.ordered else sorted_hashes(pieces):
        found.add(piece)
        if found.count % 1024 == 0:
            check()
    return found.digest()


def _table_both(
    connection: apsw.Connection, table: str, without: frozenset[str], check: Callable[[], None]
) -> tuple[TableDigest, TableDigest]:
    how = layout(connection, table)
    if not how.ordered:  # the rows have to be sorted for each of the two
        return _table(connection, table, frozenset(), check), _table(connection, table, without, check)
    full, fewer = _Rows(), _Rows()
    for piece, less in encoded_twice(connection, how, how.columns, without):
        full.add(piece)
        fewer.add(less)
        if full.count % 1024 == 0:
            check()
    return full.digest(), fewer.digest()


class _Rows:
    """The digest of a table, row by row."""

    def __init__(self) -> None:
        self._hash = _hash(ALGORITHM)
        self.count = 0

    def add(self, piece: bytes) -> None:
        self._hash.update(b"%d;%b" % (len(piece), piece))
        self.count += 1

    def digest(self) -> TableDigest:
        return TableDigest(self.count, self._hash.hexdigest())


def _hash(domain: str) -> hashlib._Hash:
    return hashlib.sha256(domain.encode() + b"\n")

"""What a rule may look at: the open file, the schemas that apply, and facts read once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import IntEnum
from functools import cached_property
from typing import Any, Protocol

from adf_format import rows
from adf_format.container import Container
from adf_format.errors import JsonTextError
from adf_format.jsontext import Decoded, decode_column
from adf_format.schemas import LATEST, OLDEST, StorageVersion
from adf_format.structure import Structure
from adf_format.validation.findings import Collector
from adf_format.validation.report import Stats
from adf_format.validation.rule import Rule


class Depth(IntEnum):
    """How deep to look. A pass of a higher depth is skipped, and named under `not_checked`."""

    QUICK = 0
    DEFAULT = 1
    DEEP = 2


@dataclass(frozen=True)
class Meta:
    """One row of `adf_meta`."""

    rowid: int
    value: Any
    protection: Any


@dataclass
class Context:
    """One validation of one file.

    :ivar stored: the storage version written in the file, None if it is missing or not a number
    :ivar version: the described version whose rules are applied (the nearest one, for older and newer files)
    :ivar today: the day it is
    :ivar faults: internal errors of checks, one sentence each
    :ivar waiting: what runs beside the other checks, as `(what, finish, give up)`
    """

    container: Container
    structure: Structure
    stored: int | None
    version: StorageVersion
    collector: Collector
    stats: Stats
    depth: Depth = Depth.DEFAULT
    today: date = field(default_factory=lambda: datetime.now(UTC).date())
    faults: list[str] = field(default_factory=list)
    waiting: list[tuple[str, Callable[[], None], Callable[[], None]]] = field(default_factory=list)

    @property
    def undescribed(self) -> str | None:
        """Why the rules of the nearest version say little: the file's own is older or newer than any described."""
        if self.stored is None or OLDEST <= self.stored <= LATEST:
            return None
        return f"storage version {self.stored} is not described"

    @property
    def report(self) -> Callable[..., None]:
        """Report a finding: see `Collector.report`."""
        return self.collector.report

    def not_checked(self, what: str, why: str) -> None:
        """Record that something was left unchecked."""
        entry = {"what": what, "why": why}
        if entry not in self.stats.not_checked:
            self.stats.not_checked.append(entry)

    def has(self, table: str, *columns: str) -> bool:
        """Whether the file has an ordinary table with these columns."""
        found = self.structure.tables.get(table)
        return found is not None and all(column in found.columns for column in columns)

    @cached_property
    def meta(self) -> dict[Any, Meta]:
        """Rows of `adf_meta` by key; keys that are not text are kept as they are."""
        if not self.has("adf_meta", "key", "value"):
            return {}
        columns = ["key", "value"] + (["protection"] if self.has("adf_meta", "protection") else [])
        found = rows.scan(self.container.connection, "adf_meta", columns)
        return {row[1]: Meta(row[0], row[2], row[3] if len(row) > 3 else None) for row in found}

    @cached_property
    def config_text(self) -> Any:
        """`config_json` of the row with id 1 as stored, None without such a row."""
        if not self.has("adf_config", "id", "config_json"):
            return None
        rowid = rows.rowid_of(self.container.connection, "adf_config")
        found = self.container.connection.execute(f"SELECT {rowid} FROM adf_config WHERE id = 1").get
        return None if found is None else rows.value(self.container.connection, "adf_config", "config_json", found)

    @cached_property
    def config_decoded(self) -> Decoded | JsonTextError | None:
        """The decoded configuration, the error that decoding raised, or None without a text."""
        if not isinstance(self.config_text, str):
            return None
        try:
            return decode_column(self.config_text)
        except JsonTextError as error:
            return error

    @property
    def config(self) -> dict[str, Any]:
        """The configuration as an object; empty if there is none that can be read."""
        decoded = self.config_decoded
        return decoded.value if isinstance(decoded, Decoded) and isinstance(decoded.value, dict) else {}

    @cached_property
    def declared_loops(self) -> frozenset[str]:
        """Names of the inner loops that the configuration declares, `main` left out."""
        loops = self.config.get("loops")
        entries = loops if isinstance(loops, list) else []
        names = (entry.get("name") for entry in entries if isinstance(entry, dict))
        return frozenset(name for name in names if isinstance(name, str) and name != "main")


@dataclass(frozen=True)
class Pass:
    """A check that reads what it needs by itself.

    :ivar name: what it checks, in words for `not_checked`
    :ivar rules: rules it may report
    :ivar tables: tables without which it cannot run
    :ivar structural: it looks at declarations and the storage version only, so that files which share these share
        its result
    """

    name: str
    rules: tuple[Rule, ...]
    run: Callable[[Context], None]
    tables: tuple[str, ...] = ()
    depth: Depth = Depth.DEFAULT
    structural: bool = False


@dataclass
class Batch:
    """Some consecutive rows of one table.

    :ivar rows: `(rowid, *columns)` each
    :ivar columns: the same, column by column
    :ivar make_json: makes `json`, which few checks need for rows without anything odd
    :ivar values: by name, the decoded texts of a JSON column in all of these rows, if none of them has anything odd
        about it (no repeated keys, no number that was rounded)
    """

    rows: list[rows.Row]
    columns: list[tuple[Any, ...]]
    make_json: Callable[[], list[dict[str, Any]]]
    values: dict[str, list[Any]]

    @cached_property
    def json(self) -> list[dict[str, Any]]:
        """Per row, `Decoded` or `JsonTextError` by name, for the JSON columns that hold text."""
        return self.make_json()

    def whole(self, name: str) -> list[Any] | None:
        """Return the decoded texts of a JSON column, one per row; None if a row has none or anything is odd."""
        values = self.values.get(name)
        return values if values is not None and len(values) == len(self.rows) else None


class RowVisitor(Protocol):
    """Looks at each row of one table during the one scan of that table.

    A visitor that judges each row by itself may also have `batch(batch) -> bool`: True says that it has nothing to
    report on any of these rows, so that they need not be shown to it one by one.
    """

    def row(self, rowid: int, values: rows.Row, json: dict[str, Any]) -> None:
        """Look at one row.

        :param values: `(rowid, *columns)`; positions come from `Columns`
        :param json: `Decoded` or `JsonTextError` by name, for the JSON columns that hold text
        """

    def finish(self) -> None:
        """Report what only the whole table shows."""


@dataclass(frozen=True)
class Columns:
    """Which column stands where in the rows of a scan.

    :ivar position: index into `values` by column name
    """

    table: str
    position: Mapping[str, int]


@dataclass(frozen=True)
class Visit:
    """A check that rides on the one scan of a table.

    :ivar columns: columns without which it cannot run
    """

    name: str
    rules: tuple[Rule, ...]
    table: str
    make: Callable[[Context, Columns], RowVisitor]
    columns: tuple[str, ...] = ()
    depth: Depth = Depth.DEFAULT

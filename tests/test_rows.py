"""Every row of a table is yielded exactly once, in rowid order, whatever a hostile file holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format import rows
from adf_format.errors import UnreadableError
from adf_format.rows import InvalidText, Oversize

LIMIT = 10_000  # above the page size


@pytest.fixture
def connection() -> Iterator[apsw.Connection]:
    opened = apsw.Connection(":memory:")
    opened.execute("CREATE TABLE t (seq INTEGER PRIMARY KEY, a TEXT, b TEXT, c BLOB)")
    yield opened
    opened.close()


def insert(connection: apsw.Connection, *values: tuple[Any, ...]) -> None:
    """Insert rows; bytes in `a` and `b` become TEXT as they are, UTF-8 or not."""
    sql = "INSERT INTO t VALUES (?, CAST(? AS TEXT), CAST(? AS TEXT), ?)"
    connection.executemany(sql, values)
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, LIMIT)


def scan(connection: apsw.Connection, *columns: str, **options: Any) -> list[rows.Row]:
    return list(rows.scan(connection, "t", columns or ("seq", "a", "b", "c"), **options))


def test_an_empty_table_has_no_rows(connection: apsw.Connection) -> None:
    assert scan(connection) == []


def test_rows_come_in_rowid_order_with_the_columns_asked_for(connection: apsw.Connection) -> None:
    insert(connection, (7, "x", "y", b"z"), (-3, None, "", b""), (2, "p", "q", None))
    assert scan(connection, "b", "a") == [(-3, "", None), (2, "q", "p"), (7, "y", "x")]


@pytest.mark.parametrize("at", [1, 2, 3])
def test_text_that_is_not_utf8_becomes_a_marker_wherever_it_stands(connection: apsw.Connection, at: int) -> None:
    insert(connection, *((n, b"h\xe4llo" if n == at else "fine", "b", b"\xff") for n in (1, 2, 3)))
    expected = [(n, n, InvalidText(5) if n == at else "fine", "b", b"\xff") for n in (1, 2, 3)]
    assert scan(connection) == expected


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_value_above_the_limit_becomes_a_marker_wherever_it_stands(connection: apsw.Connection, at: int) -> None:
    insert(connection, *((n, "x" * (LIMIT * 3 if n == at else 3), "b", b"") for n in (1, 2, 3)))
    found = scan(connection)
    assert [row[0] for row in found] == [1, 2, 3]
    assert found[at - 1] == (at, at, Oversize(3 * LIMIT), "b", b"")


def test_several_faults_of_one_row_are_told_apart(connection: apsw.Connection) -> None:
    insert(connection, (1, b"\xff\xfe", "y" * 2 * LIMIT, b"z" * 3 * LIMIT))
    assert scan(connection) == [(1, 1, InvalidText(2), Oversize(2 * LIMIT), Oversize(3 * LIMIT))]


def test_every_row_may_be_at_fault(connection: apsw.Connection) -> None:
    insert(connection, *((n, b"\x80", None, None) for n in range(300)))
    assert [row[2] for row in scan(connection)] == [InvalidText(1)] * 300


def test_of_a_column_in_sizes_only_the_bytes_are_counted(connection: apsw.Connection) -> None:
    insert(connection, (1, "ä", b"\xff", b"z" * 5 * LIMIT), (2, "b", "b", None))
    assert scan(connection, "a", "c", sizes=("c", "a")) == [(1, 2, 5 * LIMIT), (2, 1, None)]


def test_sizes_are_kept_in_a_row_that_is_read_carefully(connection: apsw.Connection) -> None:
    insert(connection, (1, b"\xff", "b", b"z" * 5 * LIMIT))
    assert scan(connection, "a", "c", sizes=("c",)) == [(1, InvalidText(1), 5 * LIMIT)]


def test_rowids_at_both_ends_of_their_range_are_yielded(connection: apsw.Connection) -> None:
    ends = (-(2**63), 0, 2**63 - 1)
    insert(connection, *((n, b"\xff", "b", b"") for n in ends))
    assert [row[0] for row in scan(connection)] == list(ends)


VALUE = st.sampled_from(["fine", b"bad\xff", "x" * (LIMIT + 1), None, "", "häh", b"\x00"])


@given(st.dictionaries(st.integers(-50, 50), st.tuples(VALUE, VALUE), max_size=30))
def test_each_row_is_yielded_exactly_once_in_order(stored: dict[int, tuple[Any, Any]]) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE t (seq INTEGER PRIMARY KEY, a TEXT, b TEXT, c BLOB)")
    insert(connection, *((key, a, b, b"") for key, (a, b) in stored.items()))
    expected = [(key, marked(a), marked(b)) for key, (a, b) in sorted(stored.items())]
    assert scan(connection, "a", "b") == expected


def marked(value: Any) -> Any:
    """What a value should be read as."""
    if isinstance(value, bytes):
        return InvalidText(len(value)) if b"\xff" in value else value.decode()
    return Oversize(len(value)) if value and len(value) > LIMIT else value


def test_a_table_and_columns_with_hostile_names_are_read() -> None:
    connection = apsw.Connection(":memory:")
    connection.execute('CREATE TABLE "a""b; DROP TABLE x" ("select ""from" TEXT)')
    connection.execute("INSERT INTO \"a\"\"b; DROP TABLE x\" VALUES (CAST(x'ff' AS TEXT)), ('v')")
    assert list(rows.scan(connection, 'a"b; DROP TABLE x', ['select "from'])) == [(1, InvalidText(1)), (2, "v")]


@pytest.mark.parametrize("taken", [("rowid",), ("ROWID", "_rowid_")])
def test_a_column_that_takes_the_name_of_the_rowid_hides_no_rows(taken: tuple[str, ...]) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(f"CREATE TABLE t (v TEXT, {', '.join(f'{name} TEXT' for name in taken)})")
    connection.execute("INSERT INTO t (v) VALUES ('a'), (CAST(x'ff' AS TEXT)), ('c')")
    assert list(rows.scan(connection, "t", ["v"])) == [(1, "a"), (2, InvalidText(1)), (3, "c")]


def test_columns_that_take_all_names_of_the_rowid_are_refused() -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE t (v TEXT, rowid TEXT, _rowid_ TEXT, oid TEXT)")
    with pytest.raises(UnreadableError, match="hide the rowid"):
        list(rows.scan(connection, "t", ["v"]))


def test_a_row_that_goes_away_after_it_failed_ends_the_scan(connection: apsw.Connection) -> None:
    insert(connection, (1, "a", "b", None), (2, b"\xff", "b", None))
    found = rows.scan(connection, "t", ("a",))
    assert next(found) == (1, "a")
    connection.execute("DELETE FROM t WHERE seq = 2")
    assert list(found) == []


def test_of_a_value_above_a_limit_below_the_page_size_the_limit_is_told(connection: apsw.Connection) -> None:
    insert(connection, (1, "a", "y" * 2000, b"z"))
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, 1000)
    assert scan(connection, "a", "b") == [(1, "a", Oversize(1000))]
    assert scan(connection, "b", sizes=("b",)) == [(1, 1000)]


def test_one_value_can_be_fetched_by_itself(connection: apsw.Connection) -> None:
    insert(connection, (5, b"\xff", "b", b"12"))
    assert rows.value(connection, "t", "b", 5) == "b"
    assert rows.value(connection, "t", "a", 5) == InvalidText(1)
    assert rows.value(connection, "t", "c", 5, size=True) == 2

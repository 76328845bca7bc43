"""The bytes of one BLOB, whatever the table is."""

from __future__ import annotations

import apsw
import pytest

from adf_format.audit import Blob
from adf_format.audit.blob import CHUNK

DATA = bytes(range(256)) * 1000


@pytest.mark.parametrize("more", ["", ", n AS (length(data)) VIRTUAL"], ids=["plain", "generated column"])
@pytest.mark.parametrize("value", [DATA, DATA[:1], b"", "text"])
def test_a_value_comes_in_pieces_and_as_it_is(more: str, value: bytes | str) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(f"CREATE TABLE t (id INTEGER PRIMARY KEY, data{more})")
    connection.execute("INSERT INTO t (id, data) VALUES (7, ?)", (value,))
    pieces = list(Blob(connection, "t", "data", 7))
    assert b"".join(pieces) == (value.encode() if isinstance(value, str) else value)
    assert max(map(len, pieces), default=0) <= CHUNK


@pytest.mark.parametrize("more", ["", ", n AS (length(data)) VIRTUAL"], ids=["plain", "generated column"])
@pytest.mark.parametrize("value", [None, 1, 1.5])
def test_what_is_no_bytes_and_what_is_not_there_is_an_error(more: str, value: float | None) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(f"CREATE TABLE t (id INTEGER PRIMARY KEY, data{more})")
    connection.execute("INSERT INTO t (id, data) VALUES (7, ?)", (value,))
    for number in (7, 8):
        with pytest.raises(apsw.SQLError):
            list(Blob(connection, "t", "data", number))

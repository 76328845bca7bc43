"""A place to run a migration where nothing counts: a temporary database that only SQLite knows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Self

import apsw

from adf_format.container import Container
from adf_format.container.clock import Clock
from adf_format.container.model import Limits
from adf_format.container.policy import authorize_writing, secure


class Rehearsal:
    """A copy of an open file in a temporary database; it vanishes with `close()`."""

    def __init__(self, container: Container) -> None:
        """Copy the file.

        :raises apsw.Error: no room, or the file is damaged
        """
        self.connection = apsw.Connection("")
        with self.connection.backup("main", container.connection, "main") as copying:
            while not copying.done:
                copying.step(1000)
        self.connection.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF").fetchall()
        self.connection.execute("PRAGMA journal_mode=MEMORY").fetchall()
        secure(self.connection, Limits(max_value_bytes=1_000_000_000), Clock(container.source.path, None))
        self.connection.authorizer = authorize_writing

    @contextlib.contextmanager
    def transaction(self) -> Iterator[apsw.Connection]:
        """One transaction."""
        with self.connection:
            yield self.connection

    @contextlib.contextmanager
    def ddl(self) -> Iterator[None]:
        """A stretch in which the schema may be changed."""
        self.connection.authorizer = None
        try:
            yield
        finally:
            self.connection.authorizer = authorize_writing

    def close(self) -> None:
        """End it."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

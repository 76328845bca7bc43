"""The parts of a database file that tell which SQLite wrote it."""

from __future__ import annotations

VALID_FOR, WRITER = slice(92, 96), slice(96, 100)
CHANGES = slice(24, 28)
WRITER_VERSION = 3_050_000  # any fixed one


def normalised(database: bytes) -> bytes:
    """Return a database with a fixed SQLite version in its header, so that its bytes depend on its content alone."""
    made = bytearray(database)
    made[VALID_FOR] = made[CHANGES]
    made[WRITER] = WRITER_VERSION.to_bytes(4)
    return bytes(made)

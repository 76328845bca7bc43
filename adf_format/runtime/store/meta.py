"""`adf_meta`: one value per key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from adf_format.runtime.store.store import Store

Protection = Literal["none", "readonly", "increment"]


class Meta:
    """Keys and values; who may write what is decided by the tools."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, key: str) -> str | None:
        """Return a value, None if there is none that is a text."""
        value = self._store.connection.execute("SELECT value FROM adf_meta WHERE key = ?", (key,)).get
        return value if isinstance(value, str) else None

    def protection(self, key: str) -> str | None:
        """Return the protection of a key, None if there is no such key."""
        found = self._store.connection.execute("SELECT protection FROM adf_meta WHERE key = ?", (key,)).get
        return found if isinstance(found, str) else None

    def set(self, key: str, value: str, protection: Protection | None = None) -> None:
        """Write a value.

        :param protection: of the key from now on; None keeps what it has
        """
        sql = "INSERT INTO adf_meta (key, value, protection) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = ?"
        given = protection or "none"
        bindings: tuple[str, ...] = (key, value, given, value)
        if protection is not None:
            sql += ", protection = ?"
            bindings += (protection,)
        self._store.connection.execute(sql, bindings)

    def delete(self, key: str) -> bool:
        """Delete a key; False if there was none."""
        self._store.connection.execute("DELETE FROM adf_meta WHERE key = ?", (key,))
        return self._store.connection.changes() > 0

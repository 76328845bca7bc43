"""`adf_config`: the configuration of the agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adf_format.audit import javascript_json
from adf_format.errors import AdfError, UnreadableError
from adf_format.jsontext import decode_column

if TYPE_CHECKING:
    from adf_format.runtime.store.store import Store


class ConfigTable:
    """The one row."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self) -> dict[str, Any]:
        """Read the configuration.

        :raises UnreadableError: there is none, or it is no JSON object
        """
        text = self._store.connection.execute("SELECT config_json FROM adf_config WHERE id = 1").get
        try:
            value = decode_column(text).value if isinstance(text, str) else None
        except AdfError as error:
            reason = f"the configuration is not JSON: {error.message}"
            raise UnreadableError(reason, self._store.path, "adf_config") from error
        if not isinstance(value, dict):
            raise UnreadableError("there is no configuration", self._store.path, "adf_config")
        return value

    def write(self, config: Mapping[str, Any]) -> None:
        """Write it, as it is."""
        sql = "UPDATE adf_config SET config_json = ?, updated_at = ? WHERE id = 1"
        self._store.connection.execute(sql, (javascript_json(dict(config), exact=True), self._store.iso()))

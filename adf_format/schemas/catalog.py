"""Which schema of each thing applies at a storage version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from adf_format.errors import UsageError
from adf_format.schemas import tables
from adf_format.schemas.store import document

CATALOG = "urn:adf-format:catalog"
OLDEST = 21
LATEST = 32


@dataclass(frozen=True)
class StorageVersion:
    """One storage version of the format: versions are data.

    :ivar number: the decimal number in `adf_meta.adf_schema_version`
    :ivar entry: its entry in the catalogue
    """

    number: int
    entry: Mapping[str, Any] = field(repr=False)

    @cached_property
    def tables(self) -> dict[str, tables.Table]:
        """Tables by name, in the order in which a fresh file creates them."""
        return {name: tables.load(urn) for name, urn in self.entry["tables"].items()}

    @property
    def agent_config(self) -> str:
        """URN of the schema of `adf_config.config_json`."""
        return str(self.entry["config"]["agent-config"])

    @property
    def loop_config(self) -> str | None:
        """URN of the schema of one inner loop, None before schema 29."""
        urn = self.entry["config"]["loop-config"]
        return str(urn) if urn else None

    @cached_property
    def audit_sources(self) -> list[dict[str, Any]]:
        """Audit sources that may occur at this version (see `meta/audit-sources.json`)."""
        sources: list[dict[str, Any]] = document(self.entry["audit"]["sources"])["sources"]
        return sources

    def value(self, name: str) -> str:
        """Return the URN of a value schema (`content`, `tokens`, …)."""
        return str(self.entry["values"][name])

    def audit_format(self, name: str) -> str:
        """Return the URN of a snapshot format (`loop-snapshot`, …)."""
        return str(self.entry["audit"]["formats"][name])


@cache
def storage_version(number: int) -> StorageVersion:
    """Return one described storage version.

    :raises UsageError: not between `OLDEST` and `LATEST`
    """
    entry = document(CATALOG)["versions"].get(str(number))
    if entry is None:
        raise UsageError(f"storage version {number} is not described", hint=f"known are {OLDEST} to {LATEST}")
    return StorageVersion(number, entry)

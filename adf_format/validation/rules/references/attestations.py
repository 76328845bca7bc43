"""Attestations: the columns are copies of the signed JSON."""

from __future__ import annotations

from typing import Any

from adf_format.jsontext import Decoded
from adf_format.rows import Row
from adf_format.validation.context import Columns, Context, Visit
from adf_format.validation.rule import Severity, rule

COPIES = ("issuer", "subject", "role", "issued_at", "expires_at", "scope", "signature")

COPY = rule(
    "ADF730",
    "attestation-copy-differs",
    Severity.WARNING,
    what="The columns of an attestation equal the fields of `raw_json`.",
    why="Verification uses `raw_json`, lists and filters use the columns: they would speak of two attestations.",
    source=("CFG 4.6",),
    since=24,
    fires="UPDATE adf_attestations SET role = 'clone' WHERE id = 1",
    silent="UPDATE adf_attestations SET raw_json = json_set(raw_json, '$.note', 'unsigned') WHERE id = 1",
    fix="copy the field from raw_json",
)


class Copies:
    """Columns against the signed JSON."""

    def __init__(self, context: Context, columns: Columns) -> None:
        self._report = context.report
        self._positions = {name: columns.position[name] for name in COPIES if name in columns.position}

    def row(self, rowid: int, values: Row, json: dict[str, Any]) -> None:
        """Compare one attestation; an absent optional field is NULL."""
        decoded = json.get("raw_json")
        if not isinstance(decoded, Decoded) or not isinstance(decoded.value, dict):
            return
        for name, position in self._positions.items():
            if values[position] != decoded.value.get(name):
                text = f"{name} differs from the signed field"
                self._report(COPY, text, table="adf_attestations", rowid=rowid, column=name)

    def finish(self) -> None:
        """Nothing more."""


VISITS = (Visit("copies in attestations", (COPY,), "adf_attestations", Copies, ("raw_json",)),)

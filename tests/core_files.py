"""Small `.adf` files for the tests of the core rooms, made from the DDL and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import apsw

from adf_format.schemas import ddl, storage_version
from adf_format.validation.engine import Options, validate_file
from adf_format.validation.report import FileReport

CREATED = "2026-01-01T00:00:00.000Z"


def build(path: Path, *statements: str, version: int = 32, prepare: str = "") -> Path:
    """Write an empty agent of a storage version, then run statements on it.

    :param prepare: statements run before any table exists, such as a page size
    """
    connection = apsw.Connection(str(path))
    connection.create_scalar_function("value_of", lambda urn: json.dumps(example(urn)))
    if prepare:
        connection.execute(prepare)
    with connection:
        for statement in ddl(version):
            connection.execute(statement)
        _fill(connection, version)
        for statement in statements:
            connection.execute(statement)
    connection.close()
    return path


def _fill(connection: apsw.Connection, version: int) -> None:
    keys = {"adf_version": "0.2", "adf_schema_version": str(version), "adf_created_at": CREATED}
    connection.executemany("INSERT INTO adf_meta (key, value, protection) VALUES (?, ?, 'readonly')", keys.items())
    config = json.dumps(example(storage_version(version).agent_config))
    connection.execute("INSERT INTO adf_config (id, config_json, updated_at) VALUES (1, ?, ?)", (config, CREATED))


def example(urn: str) -> Any:
    """The first example of a schema."""
    from adf_format.schemas import document

    return document(urn)["examples"][0]


def findings(report: FileReport, prefix: str = "ADF") -> list[str]:
    """Ids of the rules that reported, once per group."""
    return [one.rule for one in report.findings if one.rule.startswith(prefix)]


def check(path: Path, rules: Iterable[str] | None = None, **options: Any) -> FileReport:
    """Validate a file, with some rules or all of them."""
    wanted = None if rules is None else frozenset(rules)
    return validate_file(path, Options(wanted=wanted, **options))

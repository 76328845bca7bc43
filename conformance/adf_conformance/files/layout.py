"""Tables and indexes of a storage version, from the schema documents."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from adf_conformance.format_data import catalog, document

Document = dict[str, Any]
_NOTHING = object()


@cache
def tables(version: int) -> dict[str, Document]:
    """Return the table schemas of a storage version by table."""
    return {name: document(urn) for name, urn in catalog()["versions"][str(version)]["tables"].items()}


def columns(table: Document) -> dict[str, Document]:
    """Return what is declared about each column."""
    return {name: about["x-adf-column"] for name, about in table["properties"].items()}


def quoted(name: str) -> str:
    """Quote the name of a table or column."""
    return '"' + name.replace('"', '""') + '"'


def create_table(name: str, version: int) -> str:
    """Return the CREATE TABLE statement of a table."""
    schema = tables(version)[name]
    autoincrement = bool(schema["x-adf-table"].get("autoincrement"))
    lines = [_column(column, about, autoincrement) for column, about in columns(schema).items()]
    return f"CREATE TABLE {quoted(name)} ({', '.join(lines)})"


def _column(name: str, about: Document, autoincrement: bool) -> str:
    parts = [quoted(name), about["type"]]
    if about.get("primaryKey"):
        parts.append("PRIMARY KEY AUTOINCREMENT" if autoincrement else "PRIMARY KEY")
    parts += ["NOT NULL"] if about.get("notNull") else []
    parts += [f"DEFAULT {about['default']}"] if "default" in about else []
    parts += [f"CHECK ({about['check']})"] if "check" in about else []
    return " ".join(parts)


def create_indexes(name: str, version: int) -> Iterator[str]:
    """Yield the CREATE INDEX statements of a table."""
    schema = tables(version)[name]
    for index in schema["x-adf-table"].get("indexes", []):
        keys = (quoted(key) if key in schema["properties"] else key for key in index["columns"])
        yield f"CREATE INDEX {quoted(index['name'])} ON {quoted(name)}({', '.join(keys)})"


def index_names(version: int) -> set[str]:
    """Return the names of all indexes of a storage version."""
    return {index["name"] for table in tables(version).values() for index in table["x-adf-table"].get("indexes", [])}


@cache
def default_config(version: int) -> Document:
    """Return the configuration of a fresh file, from the annotations `x-adf-create`; do not change it."""
    built = _created(document(catalog()["versions"][str(version)]["config"]["agent-config"]))
    return dict(built)


def _created(schema: Document) -> Any:
    if "x-adf-create" in schema:
        return schema["x-adf-create"]
    if "$ref" in schema:
        return _created(document(schema["$ref"]))
    built = {key: _created(child) for key, child in schema.get("properties", {}).items()}
    return {key: value for key, value in built.items() if value is not _NOTHING} or _NOTHING


def example(name: str, version: int) -> Document:
    """Return the example row of a table schema."""
    return dict(tables(version)[name]["examples"][0])

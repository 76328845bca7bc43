"""`docs/schema.md`: the format as a reference page."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from adf_format.schemas import LATEST, OLDEST, Table, document, storage_version, urns
from adf_format.schemas.catalog import CATALOG
from adf_format.schemas.metakeys import REGISTRY
from adf_format.schemas.tables import load
from tools.docpages.keys import Key, changes, given, merged, must, since, started
from tools.docpages.markdown import code, link, prose, table, value

INTRODUCTION = f"""\
# The format

What an `.adf` file stores, at storage version {LATEST}, with the history of everything back to version {OLDEST}. An
`.adf` file is one SQLite database; its version stands in `adf_meta` under `adf_schema_version`. This page is a reading
of the JSON Schemas in [schemas/](../schemas/README.md), which say the same to programs.

Unknown keys, columns, tables and values of open sets are legal everywhere: a reader accepts them, a writer keeps them.
Where a constraint names a severity in brackets, its violation is only a warning or an info; without one it is an error.

"""
CONTENTS = ("Storage versions", "Tables", "Values in columns", "Audit", "Keys of adf_meta", "Configuration")


def page() -> str:
    """Return the page."""
    parts = (_versions(), _tables(), _values(), _audit(), _meta(), _config())
    lines = [*INTRODUCTION.rstrip("\n").split("\n"), ""]
    lines += [f"- {link(heading)}" for heading in CONTENTS] + [""]
    for heading, part in zip(CONTENTS, parts, strict=True):
        lines += [f"## {heading}", "", *part]
    return "\n".join(lines).rstrip() + "\n"


def _versions() -> Iterator[str]:
    entries = document(CATALOG)["versions"]
    rows = [
        (number, ", ".join(entry["releases"]) or "none", prose(entry["notes"])) for number, entry in entries.items()
    ]
    yield from table(("version", "releases that create it", "what is new"), rows)


# --- tables


def _tables() -> Iterator[str]:
    for name, one in storage_version(LATEST).tables.items():
        yield from _table(name, one)


def _table(name: str, one: Table) -> Iterator[str]:
    history = _documents("tables", name)
    yield from [f"### {name}", "", prose(document(history[-1])["description"]), ""]
    rows = [_column(one, position, history) for position in range(len(one.columns))]
    yield from table(("column", "declared", "value", "since", "what"), rows)
    for index in one.indexes:
        first = next(urn for urn in history if index.name in {known.name for known in load(urn).indexes})
        yield f"- Index {code(index.name)} on {code(', '.join(index.columns))}, since {_number(first)}"
    yield from _removed_indexes(history)
    yield ""
    yield from _history(history)


def _column(one: Table, position: int, history: list[str]) -> tuple[str, str, str, str, str]:
    column = one.columns[position]
    first = next(urn for urn in history if column.name in load(urn).column)
    schema = dict(column.schema)
    unit = {"epoch-ms": "epoch milliseconds", "iso-8601": "ISO 8601 text", "boolean": "0 or 1"}.get(column.unit or "")
    words = must(Key(column.name, {key: item for key, item in schema.items() if key != "type"}))
    words = words if column.unit != "boolean" else ""
    target = storage_version(LATEST).agent_config if column.name == "config_json" else column.content
    content = f"JSON: {_link(target)}" if target else "JSON" if column.is_json else ""
    said = "; ".join(part for part in (unit or "", content, words) if part)
    return code(column.name), _declared(one, position), said, str(_number(first)), prose(column.schema["description"])


def _declared(one: Table, position: int) -> str:
    column = one.columns[position]
    parts = [column.type]
    if column.primary_key:
        parts.append("PRIMARY KEY AUTOINCREMENT" if one.autoincrement else "PRIMARY KEY")
    parts += ["NOT NULL"] if column.not_null else []
    parts += [f"DEFAULT {column.default}"] if column.default is not None else []
    parts += [f"CHECK ({column.check})"] if column.check else []
    return code(" ".join(parts))


def _removed_indexes(history: list[str]) -> Iterator[str]:
    for older, newer in pairwise(history):
        now = {index.name for index in load(newer).indexes}
        for index in load(older).indexes:
            if index.name not in now:
                yield f"- Until {_number(newer) - 1}: index {code(index.name)} on {code(', '.join(index.columns))}"


# --- values, audit, meta keys


def _values() -> Iterator[str]:
    entry = document(CATALOG)["versions"][str(LATEST)]["values"]
    past = document(CATALOG)["versions"][str(OLDEST)]["values"]
    for urn in (entry | {name: urn for name, urn in past.items() if name not in entry}).values():
        yield from _section(urn)


def _audit() -> Iterator[str]:
    sources = storage_version(LATEST).audit_sources
    yield from [document(f"urn:adf-format:audit:sources:{_last('audit', 'sources')}")["description"], ""]
    rows = [
        (
            code(one.get("source") or one["pattern"]),
            _link(one["format"]),
            one["locator"],
            one["policy"],
            _span(one["written_from"], one["written_until"]),
            prose(one["description"]),
        )
        for one in sources
    ]
    yield from table(("source", "snapshot", "found by", "switch", "written at", "what"), rows)
    yield from [f"Up to version 27, {code('start_at')} and {code('end_at')} stood in place of the locators.", ""]
    for urn in document(CATALOG)["versions"][str(LATEST)]["audit"]["formats"].values():
        yield from _section(urn)


def _meta() -> Iterator[str]:
    yield from [document(REGISTRY)["description"], ""]
    rows = []
    for entry in document(REGISTRY)["keys"]:
        name = entry["name"] + ("…" if entry.get("prefix") else "") + ("[:loop]" if entry["perLoop"] else "")
        schema = entry["value"]["schema"]
        said = f"JSON: {_link(schema)}" if isinstance(schema, str) else must(Key(name, schema))
        rows.append(
            (
                code(name) + (" (required)" if entry["required"] else ""),
                entry["protection"] or "any",
                said,
                _span(entry["since"], entry["until"]),
                prose(entry["description"]),
            )
        )
    yield from table(("key", "protection", "value", "versions", "what"), rows)


# --- configuration


def _config() -> Iterator[str]:
    entry = document(CATALOG)["versions"][str(LATEST)]["config"]
    first = ("agent-config", "loop-config")
    yield from [
        "`adf_config.config_json` holds one object, [agent-config](#agent-config). A default is the value in effect",
        "when a key is missing; a created value is what a fresh file holds. Since `>28` means: written by builds after",
        "v0.4.2, whatever the storage version.",
        "",
    ]
    for name in (*first, *(name for name in entry if name not in first)):
        if entry[name]:
            yield from _section(entry[name])


def _section(urn: str) -> Iterator[str]:
    """One document: what it is, its keys, and its history."""
    schema = document(urn)
    area, name = urn.split(":")[2:4]
    yield from [f"### {name}", "", prose(schema["description"]), ""]
    root = must(Key("", {key: item for key, item in schema.items() if key != "properties"}))
    if root not in {"object", ""}:
        yield from [f"The value: {root}{_reference(Key('', schema))}.", ""]
    history = _documents(area, name)
    listed = merged(started(history))
    rows = [_key(one) for one in listed]
    if any(row[2] or row[3] for row in rows):
        yield from table(("key", "must be", "default", "created", "since", "what"), rows)
    else:
        yield from table(("key", "must be", "since", "what"), [(*row[:2], *row[4:]) for row in rows])
    if any(one.path.startswith("*.") for one in listed) and "additionalProperties" not in schema:
        yield from [f"{code('*')} stands for every key of this object that is not described otherwise.", ""]
    yield from _created(schema)
    yield from _known(schema)
    yield from _history(history)


def _key(one: Key) -> tuple[str, ...]:
    said = "; ".join(part for part in (must(one), _reference(one).removeprefix(" ")) if part)
    created = given(one, "x-adf-create")
    return code(one.path), said, given(one, "default"), created, since(one), one.condition + _described(one)


def _described(one: Key) -> str:
    own = one.schema.get("description")
    return prose(own or (document(one.other)["description"] if one.other else ""))


def _reference(one: Key) -> str:
    if one.other:
        return f" {_link(one.other)}"
    return f" each {_link(one.items)}" if one.items else ""


def _created(schema: dict[str, Any]) -> Iterator[str]:
    """A long list of a fresh file, as a table."""
    created = schema.get("x-adf-create")
    if not isinstance(created, list) or not created or not isinstance(created[0], dict):
        return
    names = list(dict.fromkeys(key for one in created for key in one))
    yield from ["A fresh file holds:", ""]
    yield from table(names, [[value(one[name]) if name in one else "" for name in names] for one in created])


def _known(schema: dict[str, Any]) -> Iterator[str]:
    known = schema.get("x-adf-known", [])
    if known:
        yield from ["Known so far: " + ", ".join(code(one) for one in known) + ".", ""]


# --- documents and their versions


def _documents(area: str, name: str) -> list[str]:
    """URNs of all versions of a document, the oldest first."""
    prefix = f"urn:adf-format:{area}:{name}:"
    return sorted((urn for urn in urns() if urn.startswith(prefix)), key=_number)


def _number(urn: str) -> int:
    return int(urn.rpartition(":")[2])


def _last(area: str, name: str) -> int:
    return _number(_documents(area, name)[-1])


def _link(urn: str) -> str:
    return link(urn.split(":")[3])


def _span(start: int | str, end: int | None) -> str:
    return f"{start} to {end}" if end else f"from {start}"


def _history(history: list[str]) -> Iterator[str]:
    first = _number(history[0])
    lines = [f"- {first}: new"] if first > OLDEST else []
    lines += [f"- {_number(newer)}: {'; '.join(changes(older, newer))}" for older, newer in pairwise(history)]
    if lines:
        yield from ["History:", *lines, ""]

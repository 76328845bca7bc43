"""Where the schema documents are, and how one is loaded by its URN."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from adf_format.errors import SchemaError, UsageError

if TYPE_CHECKING:
    from referencing import Registry

PREFIX = "urn:adf-format:"


@cache
def root() -> Path:
    """Return the folder of the schema documents: package data of a wheel, or the checkout of an editable install.

    :raises SchemaError: neither is there (a broken installation)
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "_data" / "schemas", package.parent / "schemas"):
        if (folder / "catalog.json").is_file():
            return folder
    raise SchemaError("the schema documents are missing", file=package, hint="install adf-format again")


@cache
def urns() -> tuple[str, ...]:
    """Return the URNs of all documents, sorted."""
    files = (path.relative_to(root()).with_suffix("") for path in root().rglob("*.json"))
    return tuple(sorted(PREFIX + ":".join(file.parts) for file in files))


@cache
def document(urn: str) -> dict[str, Any]:
    """Load one document by its URN (`urn:adf-format:tables:adf_loop:28`).

    :raises UsageError: no such document
    """
    if urn not in urns():
        raise UsageError(f"no schema {urn!r}", hint="`adf-format schema list` shows them")
    path = root().joinpath(*urn.removeprefix(PREFIX).split(":"))
    loaded: dict[str, Any] = orjson.loads(path.with_name(path.name + ".json").read_bytes())
    return loaded


def resolve(schema: dict[str, Any]) -> dict[str, Any]:
    """Follow `$ref` (a whole URN, with or without a JSON pointer fragment) until a schema without one."""
    while "$ref" in schema:
        urn, _, fragment = schema["$ref"].partition("#")
        target: Any = document(urn)
        for part in fragment.split("/")[1:]:
            target = target[part.replace("~1", "/").replace("~0", "~")]
        schema = target
    return schema


@cache
def registry() -> Registry[Any]:
    """Return a registry of all our schemas, for the `jsonschema` package.

    It is crawled once: a registry that retrieves on demand crawls a document again for every reference. Schemas
    come without `$schema`, which would make jsonschema leave the validator class it was started with.
    """
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    documents = ((urn, document(urn)) for urn in urns())
    bare = ((urn, {key: value for key, value in found.items() if key != "$schema"}) for urn, found in documents)
    resources = ((urn, DRAFT202012.create_resource(content)) for urn, content in bare)
    found: Registry[Any] = Registry().with_resources(resources)
    return found.crawl()

"""`adf-format schema`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from adf_format import __version__
from adf_format.cli.options import Output, common, nearest, new_file
from adf_format.errors import EXIT_OK, UnreadableError, UsageError
from adf_format.schemas import LATEST, OLDEST, document, storage_version, urns
from adf_format.schemas import ddl as ddl_of
from adf_format.schemas.store import PREFIX, root
from adf_format.terminal import harmless_json, table

LIST_SCHEMA = "urn:adf-format:output:schema-list:1"
DDL_SCHEMA = "urn:adf-format:output:ddl:1"
BUNDLE_ID = "urn:adf-format:bundle"
DIALECT = "https://json-schema.org/draft/2020-12/schema"

HELP = """The format itself, as JSON Schemas (draft 2020-12) and SQL.

\b
  adf-format schema list                        all schemas
  adf-format schema list --schema-version 28    those that apply at storage version 28
  adf-format schema show tables/adf_loop/29     one of them; a URN does as well
  adf-format schema ddl 32                      the CREATE statements of a fresh file
  adf-format schema export schemas/             copy all of them to a folder
  adf-format schema export --bundle adf.json    all of them in one document

Exit codes: 0 done; 2 no such schema or version; 3 a file could not be written.
"""


@click.group(help=HELP, no_args_is_help=True)
def schema() -> None:
    """Group of the schema commands."""


@schema.command("list")
@click.option("--schema-version", type=int, metavar="N", help="Only what applies at storage version N.")
@common("human", "json")
def list_schemas(schema_version: int | None, out: Output) -> int:
    """List the schemas: name and title. Exit codes: 0 done; 2 no such storage version."""
    wanted = list(urns()) if schema_version is None else sorted(set(_of_version(schema_version)))
    entries = [{"urn": urn, "title": document(urn).get("title", "")} for urn in wanted]
    if out.format == "json":
        out.json({"$schema": LIST_SCHEMA, "schema_version": schema_version, "schemas": entries})
        return EXIT_OK
    for line in table([(_short(entry["urn"]), entry["title"]) for entry in entries]):
        out.line(line)
    return EXIT_OK


@schema.command()
@click.argument("name")
@common("json")
def show(name: str, out: Output) -> int:
    """Print one schema, by its URN or short path (tables/adf_loop/29). Exit codes: 0 done; 2 no such schema."""
    out.line(harmless_json(json.dumps(document(_urn(name)), ensure_ascii=False, indent=2)))
    return EXIT_OK


@schema.command()
@click.argument("version", type=int)
@common("sql", "json")
def ddl(version: int, out: Output) -> int:
    """Print the CREATE statements of a fresh file. Exit codes: 0 done; 2 no such storage version."""
    statements = ddl_of(version)
    if out.format == "json":
        out.json({"$schema": DDL_SCHEMA, "schema_version": version, "statements": statements})
    else:
        for statement in statements:
            out.line(f"{statement};")
    return EXIT_OK


@schema.command()
@click.argument("folder", required=False, metavar="[DIR]", type=click.Path(path_type=Path))
@click.option("--bundle", metavar="FILE", type=click.Path(path_type=Path), help="One document with all schemas.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr.")
def export(folder: Path | None, bundle: Path | None, quiet: bool) -> int:
    """Write the schemas to a folder, or to one document that other languages can load.

    The bundle is one JSON Schema with every document under `$defs`, each with its `$id`, so that a validator for
    draft 2020-12 resolves all references by itself. Existing schema files in DIR are replaced, others are left alone.

    Exit codes: 0 done; 2 neither DIR nor --bundle; 3 a file could not be written.
    """
    if folder is None and bundle is None:
        raise UsageError("where to?", hint="give a folder, or --bundle FILE")
    if folder is not None:
        try:
            shutil.copytree(root(), folder, dirs_exist_ok=True, copy_function=shutil.copyfile)
        except shutil.Error as error:  # of every file; one tells enough
            raise UnreadableError(f"not all schemas could be written: {error.args[0][0][2]}", file=folder) from error
        _note(f"{len(urns())} schemas written to {folder}", quiet)
    if bundle is not None:
        bundle.parent.mkdir(parents=True, exist_ok=True)
        with new_file(bundle) as stream:
            stream.write(json.dumps(bundled(), ensure_ascii=False, indent=1) + "\n")
        _note(f"{len(urns())} schemas written to {bundle}", quiet)
    return EXIT_OK


def bundled() -> dict[str, Any]:
    """Return all documents in one compound schema document (JSON Schema core, section 9.3)."""
    return {
        "$schema": DIALECT,
        "$id": BUNDLE_ID,
        "title": "The .adf format",
        "description": f"All schema documents of adf-format {__version__}, by their $id.",
        "$defs": {urn: document(urn) for urn in urns()},
    }


def _note(text: str, quiet: bool) -> None:
    if not quiet:
        click.echo(text, err=True)


def _short(urn: str) -> str:
    return urn.removeprefix(PREFIX).replace(":", "/")


def _urn(name: str) -> str:
    """Return the URN that a name means.

    :raises UsageError: no such document; the nearest one is suggested
    """
    short = name.removeprefix(PREFIX).removesuffix(".json").strip("/").replace(":", "/")
    known = {_short(urn): urn for urn in urns()}
    if short not in known:
        raise UsageError(f"no schema {name!r}{nearest(short, known)}", hint="`adf-format schema list` shows them")
    return known[short]


def _of_version(number: int) -> Iterator[str]:
    """Yield the URNs that the catalogue names for a storage version, and what they refer to."""
    if not OLDEST <= number <= LATEST:
        storage_version(number)
    waiting, seen = list(_references(storage_version(number).entry)), set[str]()
    while waiting:
        urn = waiting.pop()
        if urn not in seen and urn in urns():
            seen.add(urn)
            yield urn
            waiting.extend(_references(document(urn)))


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in ("$id", "$schema"):
                yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)
    elif isinstance(value, str) and value.startswith(PREFIX):
        yield value.partition("#")[0]

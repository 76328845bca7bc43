"""`adf-format new`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from adf_format import creation, identity
from adf_format.cli.options import Output, common, same_place
from adf_format.errors import EXIT_OK, AdfError, UsageError
from adf_format.jsontext import decode
from adf_format.schemas import LATEST, OLDEST
from adf_format.smallfile import MAX_BYTES, read_small
from adf_format.terminal import visible

SCHEMA = "urn:adf-format:output:new:1"

HELP = f"""Create a fresh, valid file: every table and index of the storage version, the default configuration, and the
files that an agent starts with. It appears complete or not at all; an existing file is never touched.

\b
  adf-format new ada.adf
  adf-format new ada.adf --name "Ada Lovelace" --schema-version 28
  adf-format new ada.adf --config settings.json --identity

--config takes a JSON object that is merged over the defaults: objects key by key, arrays as a whole. A name is made
from the file's name when --name is left out. Storage versions are {OLDEST} to {LATEST}.

Exit codes: 0 done; 2 wrong usage, an existing file, or a configuration that the format forbids; 3 it could not be
written.
"""


@click.command(help=HELP)
@click.argument("path", metavar="FILE", type=click.Path(readable=False, path_type=Path))
@click.option("--name", help="Name of the agent.")
@click.option("--handle", help="Address name; made from the name when left out.")
@click.option("--config", metavar="FILE", help="JSON object to merge over the defaults; - is stdin.")
@click.option("--schema-version", type=int, metavar="N", default=LATEST, show_default=True, help="Storage version.")
@click.option("--identity", "with_identity", is_flag=True, help="Give it a signing key and a DID, in plain form.")
@common("human", "json")
def new(
    path: Path,
    name: str | None,
    handle: str | None,
    config: str | None,
    schema_version: int,
    with_identity: bool,
    out: Output,
) -> int:
    """Create the file and say what it is."""
    if out.path is not None and same_place(out.path, path):
        raise UsageError("--output is the file to create", file=path)
    key = identity.generate() if with_identity else None
    changes = _config(config) if config else None
    chosen = name or _name(changes) or path.stem
    try:
        agent = creation.new(
            path, name=chosen, schema_version=schema_version, config=changes, handle=handle, identity=key
        )
    except RecursionError as error:
        raise UsageError("the configuration is nested too deeply", file=Path(config or path)) from error
    made = {
        "path": str(path),
        "schema_version": agent.version,
        "name": chosen,
        "id": agent.config["id"],
        "did": key.did if key else None,
    }
    if out.format == "json":
        out.json({"$schema": SCHEMA, **made})
        return EXIT_OK
    did = f", {key.did}" if key else ""
    out.line(
        f"{visible(str(path))}: {visible(chosen)}, storage version {agent.version}, id {visible(str(made['id']))}{did}"
    )
    return EXIT_OK


def _name(changes: dict[str, Any] | None) -> str | None:
    name = (changes or {}).get("name")
    return name if isinstance(name, str) else None


def _config(source: str) -> dict[str, Any]:
    """Read the configuration to merge.

    :raises UsageError: it cannot be read, or is not a JSON object
    """
    place = Path(source)
    try:
        text = sys.stdin.read(MAX_BYTES) if source == "-" else read_small(place)
        value = decode(text).value
    except OSError as error:
        raise UsageError(f"the configuration cannot be read: {error.strerror}", file=place) from error
    except (UnicodeError, AdfError) as error:
        raise UsageError(f"the configuration is not JSON: {error}", file=place) from error
    if not isinstance(value, dict):
        raise UsageError("the configuration is not a JSON object", file=place)
    return value

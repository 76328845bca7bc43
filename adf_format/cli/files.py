"""`adf-format files`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from adf_format.cli.history import reading, stream
from adf_format.cli.options import Output, common
from adf_format.errors import EXIT_FINDINGS, EXIT_OK
from adf_format.files import FileRow, content, find, listing
from adf_format.terminal import table, visible

LS = "urn:adf-format:output:files-ls:1"
EXTRACT = "urn:adf-format:output:files-extract:1"

HELP = """The agent's own files, in the table adf_files.

\b
  adf-format files ls agent.adf                    all of them
  adf-format files cat agent.adf mind.md           one of them
  adf-format files extract agent.adf out           all of them, into the folder `out`
  adf-format files extract agent.adf out mind/     those below mind/

Exit codes: 0 done; 1 there is no such file, or one was refused; 2 wrong usage; 3 the file could not be read.
"""


@click.group(help=HELP, no_args_is_help=True)
def files() -> None:
    """Group of the commands on files."""


@files.command()
@click.argument("path", metavar="FILE", type=click.Path())
@common("human", "json")
def ls(path: str, out: Output) -> int:
    """List the agent's files. Exit codes: 0 done; 3 the file could not be read."""
    with reading(path, out) as container:
        if out.format == "json":
            stream(out, {"$schema": LS, "path": path}, "files", map(row_json, listing(container.connection)))
            return EXIT_OK
        rows = [("size", "protection", "changed", "path")]
        rows += [
            (f"{row.size:,}", row.protection or "?", (row.updated_at or "?")[:19], _path(row))
            for row in sorted(listing(container.connection), key=lambda row: row.path or "")
        ]
        for line in table([tuple(map(visible, row)) for row in rows] if len(rows) > 1 else [("no files",)]):
            out.line(line)
    return EXIT_OK


@files.command()
@click.argument("path", metavar="FILE", type=click.Path())
@click.argument("name", metavar="PATH")
@common("raw")
def cat(path: str, name: str, out: Output) -> int:
    """Write one of the agent's files, byte for byte; on a terminal, as harmless text.

    Exit codes: 0 done; 1 there is no such file; 3 the file could not be read.
    """
    with reading(path, out) as container:
        row = find(container.connection, name)
        if row is None:
            out.note(f"there is no file {visible(name)} (`adf-format files ls` lists them)")
            return EXIT_FINDINGS
        data = content(container.connection, row)
    if out.stream.isatty():
        out.write(visible(data.decode("utf-8", "replace"), lines=True))
        return EXIT_OK
    out.stream.flush()
    binary = out.stream.buffer
    binary.write(data)
    binary.flush()
    return EXIT_OK


@files.command()
@click.argument("path", metavar="FILE", type=click.Path())
@click.argument("folder", metavar="DEST", type=click.Path())
@click.argument("names", metavar="[PATH]...", nargs=-1)
@common("human", "json")
def extract(path: str, folder: str, names: tuple[str, ...], out: Output) -> int:
    """Write the agent's files below the folder DEST; each PATH is one of them, or with a `/` at its end a folder.

    Nothing is ever written outside DEST, nothing that is there is overwritten, and no file is made executable. A file
    whose path leads outside, or whose place is taken, is refused and named.

    Exit codes: 0 done; 1 a file was refused, or a PATH names none; 3 the file or the folder could not be used.
    """
    from adf_format.files.extract import extract as write

    with reading(path, out) as container:
        rows = list(listing(container.connection))
        wanted = [row for row in rows if not names or any(_named(row, name) for name in names)]
        absent = [name for name in names if not any(_named(row, name) for row in rows)]
        done = list(write(wanted, lambda row: content(container.connection, row), Path(folder)))
    found = [{"path": one.row.path, "outcome": one.outcome, "reason": one.reason} for one in done]
    if out.format == "json":
        out.json({"$schema": EXTRACT, "path": path, "folder": folder, "files": found, "absent": absent})
    else:
        _tell(out, found, absent)
    return EXIT_FINDINGS if absent or any(one.outcome == "refused" for one in done) else EXIT_OK


def row_json(row: FileRow) -> dict[str, Any]:
    """Return a file as our JSON shows it."""
    return {
        "path": row.path,
        "size": row.size,
        "mime_type": row.mime_type,
        "protection": row.protection,
        "authorized": row.authorized,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }


def _named(row: FileRow, name: str) -> bool:
    return row.path == name or (name.endswith("/") and row.path is not None and row.path.startswith(name))


def _path(row: FileRow) -> str:
    return row.path if row.path is not None else f"(row {row.rowid}: a path that is no text)"


def _tell(out: Output, found: Sequence[dict[str, Any]], absent: Sequence[str]) -> None:
    for one in found:
        reason = f": {one['reason']}" if one["reason"] else ""
        out.line(visible(f"{one['outcome']:<8} {one['path']}{reason}"))
    for name in absent:
        out.line(visible(f"absent   {name}"))
    if not found and not absent:
        out.line("no files")

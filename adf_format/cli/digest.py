"""`adf-format digest`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import apsw
import click

from adf_format.cli.options import Output, common
from adf_format.cli.paths import agent_files
from adf_format.container import Limits, open_readonly, translate
from adf_format.digest import ALGORITHM, Digest, digest
from adf_format.errors import EXIT_FINDINGS, EXIT_OK, AdfError, UsageError
from adf_format.terminal import table, visible

SCHEMA = "urn:adf-format:output:digest:1"
LIMITS = Limits(max_value_bytes=1_000_000_000)

HELP = """Print one hash per agent: equal for two files that hold the same agent, whatever way they are laid out.

It does not change with page size, VACUUM, the write-ahead log, order of columns, quality of compression, or key order
and spacing in JSON; it changes with every value. Not covered: the marker of a clean close, which changes on every
opening; virtual tables and the tables they keep their data in; indexes, triggers and views. Files are only read.

\b
  adf-format digest agent.adf copy.adf
  adf-format digest agent.adf --tables
  adf-format digest agent.adf --check copy.adf

Exit codes: 0 done, and equal; 1 --check found a difference; 2 wrong usage; 3 a file could not be read.
"""


@click.command("digest", help=HELP)
@click.argument("paths", nargs=-1, required=True, metavar="FILE...", type=click.Path())
@click.option("--tables", is_flag=True, help="Also the hash of each table.")
@click.option("--check", metavar="FILE", help="Compare with FILE, and say which tables differ.")
@common("human", "json")
def digest_command(paths: tuple[str, ...], tables: bool, check: str | None, out: Output) -> int:
    """Compute the digests and show them, or compare two."""
    if check is not None:
        if len(paths) != 1:
            raise UsageError("--check compares one file with another one")
        return _compare(paths[0], check, out)
    return _show(paths, tables, out)


def digest_of(path: str) -> Digest:
    """Compute the digest of a file; of a private copy, if somebody writes meanwhile.

    :raises AdfError: it cannot be read
    """
    try:
        with open_readonly(path, LIMITS) as container:
            found = digest(container)
            if not container.changed():
                return found
        with open_readonly(path, LIMITS, private=True) as container:
            return digest(container)
    except apsw.Error as exc:
        raise translate(exc, container.source.path) from exc


def _show(paths: Iterable[str], tables: bool, out: Output) -> int:
    code, files = EXIT_OK, []
    for path in agent_files(list(paths)):
        try:
            found = digest_of(path)
        except AdfError as error:
            click.echo(f"adf-format: {visible(str(error))}", err=True)
            code = error.exit_code
            files.append({"path": path, "error": str(error)})
            continue
        files.append(_document(path, found))
        if out.format == "human":
            _lines(path, found, tables, out)
    if out.format == "json":
        out.json({"$schema": SCHEMA, "algorithm": ALGORITHM, "files": files})
    return code


def _document(path: str, found: Digest) -> dict[str, Any]:
    tables = {name: {"rows": one.rows, "sha256": one.sha256} for name, one in found.tables.items()}
    return {"path": path, "sha256": found.sha256, "tables": tables, "left_out": found.left_out}


def _lines(path: str, found: Digest, tables: bool, out: Output) -> None:
    out.line(f"{found.sha256}  {visible(path)}")
    if not tables:
        return
    for name, one in found.tables.items():
        out.line(f"  {one.sha256}  {visible(name)} ({one.rows:,} {'row' if one.rows == 1 else 'rows'})")
    for name, reason in found.left_out.items():
        out.line(f"  {'not covered':<64}  {visible(name)} ({visible(reason)})")


def _compare(path: str, other: str, out: Output) -> int:
    first, second = digest_of(path), digest_of(other)
    names = first.differing(second)
    equal = first.sha256 == second.sha256
    if out.format == "json":
        files = [_document(path, first), _document(other, second)]
        out.json({"$schema": SCHEMA, "algorithm": ALGORITHM, "files": files, "equal": equal, "differing": names})
    elif equal:
        out.line(f"equal: {visible(path)} and {visible(other)} hold the same agent ({first.sha256})")
        _warn_left_out(first, out)
    else:
        out.line(f"different: {visible(path)} and {visible(other)}")
        rows = [(f"  {visible(name)}", _count(first, name), "->", _count(second, name)) for name in names]
        for line in table(rows):
            out.line(line)
    return EXIT_OK if equal else EXIT_FINDINGS


def _warn_left_out(found: Digest, out: Output) -> None:
    if found.left_out:
        out.note(f"not compared: {', '.join(visible(name) for name in found.left_out)}")


def _count(found: Digest, name: str) -> str:
    one = found.tables.get(name)
    if one is None:
        return "not covered" if name in found.left_out else "none"
    return f"{one.rows:,} {'row' if one.rows == 1 else 'rows'}"

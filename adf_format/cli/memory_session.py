"""`adf-format memory status` and `context`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from adf_format.cli.history import reading
from adf_format.cli.memory import Clock, is_agent, timed
from adf_format.cli.options import Output, common
from adf_format.errors import EXIT_OK, UnreadableError
from adf_format.terminal import table, visible

STATUS = "urn:adf-format:output:memory-status:1"
CONTEXT = "urn:adf-format:output:memory-context:1"
ROOT = click.argument("root", metavar="ROOT", type=click.Path())


@click.command()
@ROOT
@timed
@common("human", "json")
def status(root: str, clock: Clock, out: Output) -> int:
    """Say how a memory is: files and ages, unprocessed notes, whether a distillation is due, overdue tasks, channels,
    what a session start would load and what it costs. Reads only, on a read-only disk too.

    Exit codes: 0 done; 3 there is no memory, or it cannot be read.
    """
    document = _agent(root, clock, out) if is_agent(root) else _workspace(root, clock)
    if out.format == "json":
        out.json({"$schema": STATUS, **document})
        return EXIT_OK
    from adf_format.memory import mindstatus
    from adf_format.memory import status as of_workspace

    mind = "pages" in document
    lines = list(mindstatus.lines(document) if mind else of_workspace.lines(document))
    if mind and document["workspace"]:
        lines += [("", ""), *of_workspace.lines(document["workspace"])]
    for line in table([(visible(name), visible(value)) for name, value in lines]):
        out.line(line.rstrip())
    return EXIT_OK


def _workspace(root: str, clock: Clock) -> dict[str, Any]:
    from adf_format.memory.folder import Folder
    from adf_format.memory.status import status as find

    document = find(Folder(Path(root)), root, clock())
    if document["kind"] == "none":
        raise UnreadableError(
            "there is no memory in this folder", Path(root), hint="`adf-format memory init` makes one"
        )
    return document


def _agent(root: str, clock: Clock, out: Output) -> dict[str, Any]:
    from adf_format.history.snapshots import file_of
    from adf_format.memory.agentfiles import AgentFiles
    from adf_format.memory.mindstatus import status_of_mind

    with reading(root, out) as container:
        files = AgentFiles(container.connection, None)
        return status_of_mind(files, file_of(container).config, root, clock())


@click.command()
@ROOT
@click.option(
    "--kind",
    type=click.Choice(["main", "private", "shared", "subagent", "cron", "unknown"]),
    default="unknown",
    show_default=True,
    help="Kind of session; MEMORY.md is for main and private ones only.",
)
@click.option("--channel", metavar="NAME", help="The channel that the session is held in.")
@click.option("--per-file", type=int, default=12_000, show_default=True, help="Characters of one file.")
@click.option("--total", type=int, default=60_000, show_default=True, help="Characters of all files.")
@click.option("--shared-exclude", multiple=True, metavar="PATH", help="A file that shared sessions do not see either.")
@timed
@common("human", "json")
def context(
    root: str,
    kind: str,
    channel: str | None,
    per_file: int,
    total: int,
    shared_exclude: tuple[str, ...],
    clock: Clock,
    out: Output,
) -> int:
    """Write what a session loads before it answers: active context, today and yesterday, long-term memory for main and
    private sessions, the channel, the tasks. What is over budget is cut with a visible mark; lines that look like a
    secret are withheld. For an .adf: the workspace that was imported into it, or else its mind.

    \b
      adf-format memory context . --kind main --channel ops

    Exit codes: 0 done; 3 a file cannot be read.
    """
    from adf_format.memory.pack import Request

    request = Request(clock(), kind, channel, per_file, total, shared_exclude)
    pack = _pack_of_agent(root, request, out) if is_agent(root) else _pack(root, request)
    if out.format == "json":
        out.json({"$schema": CONTEXT, "root": root, "kind": kind, **_document(pack)})
        return EXIT_OK
    out.write(visible(pack.text, lines=True) if out.stream.isatty() else pack.text)
    for part in pack.parts:
        if part.truncated:
            out.note(f"{part.path}: {part.kept:,} of {part.lines:,} lines are loaded")
    return EXIT_OK


def _pack(root: str, request: Any) -> Any:
    from adf_format.memory.folder import Folder
    from adf_format.memory.guard import withheld
    from adf_format.memory.pack import build

    return build(Folder(Path(root)), request, withheld)


def _pack_of_agent(root: str, request: Any, out: Output) -> Any:
    from adf_format.memory.agentfiles import AgentFiles
    from adf_format.memory.folder import Imported
    from adf_format.memory.guard import withheld
    from adf_format.memory.pack import build, build_of_mind
    from adf_format.memory.transfer.manifest import PATH, PREFIX

    with reading(root, out) as container:
        files = AgentFiles(container.connection, None)
        if PATH in files:
            return build(Imported(files, PREFIX), request, withheld)
        return build_of_mind(files.read, request, withheld)


def _document(pack: Any) -> dict[str, Any]:
    names = ("path", "role", "chars", "tokens", "size", "lines", "kept", "truncated", "withheld")
    return {
        "chars": len(pack.text),
        "estTokens": pack.tokens,
        "files": [{name: getattr(part, name) for name in names} for part in pack.parts],
        "missing": list(pack.missing),
        "excluded": list(pack.excluded),
        "text": pack.text,
    }

"""The command itself: subcommands are imported when they are invoked, errors become one line and an exit code."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click

from adf_format import __version__
from adf_format.cli.lazy import LazyGroup
from adf_format.errors import EXIT_INTERRUPTED, EXIT_OK, EXIT_UNREADABLE, EXIT_USAGE, AdfError
from adf_format.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "validate": ("adf_format.cli.validate:validate", "Check files and folders against the rules of the format."),
    "inspect": ("adf_format.cli.inspect:inspect", "Show what is in a file, on one screen."),
    "view": ("adf_format.cli.view:view", "Show an agent as one page: transcripts, memory, files, messages."),
    "rules": ("adf_format.cli.rules:rules", "List the rules, or explain some."),
    "schema": ("adf_format.cli.schema:schema", "The format itself: schemas, DDL, a bundle for other languages."),
    "loop": ("adf_format.cli.loop:loop", "Loops and their transcripts, archived rows included."),
    "audit": ("adf_format.cli.audit:audit", "The archived past: list, decode, verify, find a cited row, export."),
    "files": ("adf_format.cli.files:files", "The agent's own files: list them, read one, bring them out safely."),
    "trace": ("adf_format.cli.trace:trace", "What became of one row of a transcript."),
    "new": ("adf_format.cli.new:new", "Create a fresh, valid file."),
    "digest": (
        "adf_format.cli.digest:digest_command",
        "One hash of an agent, independent of how its file is laid out.",
    ),
    "migrate": ("adf_format.cli.migrate:migrate", "Bring files to a newer storage version; backup, receipt, way back."),
    "clear": ("adf_format.cli.clear:clear", "Clear transcript, mind or inbox, archived as the agent is configured."),
    "repair": ("adf_format.cli.repair:repair", "Mend what has a known fix; show every change, and how to undo it."),
    "memory": ("adf_format.cli.memory:memory", "What an agent keeps: start, note, load, distil, carry it over."),
    "run": ("adf_format.cli.run:run", "Run the agent in a file, and talk to it."),
    "demo": ("adf_format.cli.demo:demo", "Build a sample agent, damage a copy, and look at both."),
}

_COMPLETE = "_ADF_FORMAT_COMPLETE"

EPILOG = """
\b
Try it:
  adf-format demo                     see what this toolkit does, in a few seconds
  adf-format validate agent.adf       is this file all right?
  adf-format inspect agent.adf        what is in it?
  adf-format rules ADF501             what does this finding mean?

Exit codes: 0 done, nothing found; 1 done, with findings or a verdict of "no"; 2 wrong usage; 3 an input could not
be read or processed; 130 interrupted.

\b
Every option can be set in the environment, as ADF_FORMAT_<COMMAND>_<OPTION>; settings of `validate` also stand in
adf-format.toml or in [tool.adf-format] of pyproject.toml.
Completion for bash (zsh and fish alike):
  eval "$(_ADF_FORMAT_COMPLETE=bash_source adf-format)"
"""


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    invoke_without_command=True,
    no_args_is_help=True,
    epilog=EPILOG,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "auto_envvar_prefix": "ADF_FORMAT",
        "max_content_width": 100,
    },
)
@click.option("--version", is_flag=True, help="Print the version and the storage versions it knows.")
@click.option("--verbose", is_flag=True, help="With --version: also the versions of SQLite and the libraries.")
@click.pass_context
def cli(ctx: click.Context, version: bool, verbose: bool) -> None:
    """Toolkit for .adf files (Agent Document Format): one SQLite database that holds one AI agent.

    Files are only ever read, except by commands whose name says otherwise, and nothing is left beside them.
    """
    if version:
        click.echo(_versions(verbose))
        ctx.exit(EXIT_OK)
    if ctx.invoked_subcommand is None:
        raise click.UsageError("which command?", ctx)


def _versions(verbose: bool) -> str:
    from adf_format.schemas.catalog import LATEST, OLDEST

    lines = [f"adf-format {__version__} (storage versions {OLDEST} to {LATEST})"]
    if verbose:
        import platform
        from importlib.metadata import version

        import apsw

        names = ("apsw", "brotli", "click", "cryptography", "jsonschema", "jsonschema-rs", "orjson")
        lines += [f"{'Python':<14}{platform.python_version()}", f"{'SQLite':<14}{apsw.sqlite_lib_version()}"]
        lines += [f"{name:<14}{version(name)}" for name in names]
    return "\n".join(lines)


def main() -> NoReturn:
    """Run the command with the arguments of the process, and exit."""
    _open_standard_streams()
    _catch_signals()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        code = _output_lost()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code. Never raises: what goes wrong is said in one line on stderr."""
    try:
        code = invoke(arguments)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001
        return _explained(error)
    return code


def invoke(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code; whatever goes wrong is raised.

    Not `click.Group.main`, which gives the exit code of a lost pipe and the words of an interrupt a meaning of its own.
    """
    if os.environ.get(_COMPLETE):
        cli.main(list(arguments), prog_name=_program(), complete_var=_COMPLETE)
    try:
        with cli.make_context(_program(), list(arguments)) as ctx:
            code = cli.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code
    return code if isinstance(code, int) else EXIT_OK


def _explained(error: BaseException) -> int:
    """Say in one line what went wrong, and return the exit code of its kind."""
    match error:
        case click.ClickException():
            return _usage(error)
        case click.Abort() | KeyboardInterrupt():
            return _say("interrupted", EXIT_INTERRUPTED)
        case AdfError():
            return _say(str(error), error.exit_code)
        case BrokenPipeError():
            return _output_lost()
        case OSError():
            return _say(_of_system(error), EXIT_UNREADABLE)
    return _internal(error)


def _of_system(error: OSError) -> str:
    if error.filename is None and error.errno == errno.ENOENT and _folder_is_gone():
        return "the current folder is gone (change to one that exists)"
    return f"{error.strerror or error}: {error.filename}" if error.filename else str(error.strerror or error)


def _folder_is_gone() -> bool:
    try:
        os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        return True
    return False


def _program() -> str:
    name = os.path.basename(sys.argv[0])  # noqa: PTH119
    return name if name in ("adf-format", "adff") else "adf-format"


def _say(text: str, code: int) -> int:
    with contextlib.suppress(OSError):
        print(f"adf-format: {visible(text)}", file=sys.stderr)  # noqa: T201
    return code


def _usage(error: click.ClickException) -> int:
    if not isinstance(error, click.UsageError):
        return _say(error.format_message(), EXIT_UNREADABLE)
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return EXIT_USAGE
    command = error.ctx.command_path if error.ctx else "adf-format"
    return _say(f"{error.format_message().rstrip('.')} (`{command} --help` says more)", EXIT_USAGE)


def _internal(error: BaseException) -> int:
    if os.environ.get("ADF_FORMAT_DEBUG"):
        import traceback

        traceback.print_exception(error)
    text = f"internal error: {type(error).__name__}: {error}"
    return _say(f"{text} (please report it; ADF_FORMAT_DEBUG=1 shows where)", EXIT_UNREADABLE)


def _output_lost() -> int:
    """Nobody reads on, or the disk is full: leave without a word from the interpreter's own last flush."""
    null = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(null, sys.stdout.fileno())
    return EXIT_UNREADABLE


def _open_standard_streams() -> None:
    """Give a stream that the caller closed (`>&-`) a place: Python has None for it, and its number would be reused."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
    for name, number in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115


def _catch_signals() -> None:
    """Make a polite kill unwind like Ctrl-C, so that private copies and workers go."""
    import signal

    def stop(*_: Any) -> NoReturn:
        raise KeyboardInterrupt

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is not signal.SIG_IGN:  # as under nohup
            signal.signal(getattr(signal, name), stop)

"""`adf-format demo`."""

from __future__ import annotations

import contextlib
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from adf_format.cli.options import Output, common
from adf_format.errors import EXIT_FINDINGS, EXIT_OK, AdfError, UsageError
from adf_format.terminal import visible

HELP = """Show what this toolkit does, in a few seconds: build a sample agent, look at it, damage a copy on purpose,
validate both, explain a finding, account for the agent's past, and bring an old file up to date with a receipt. Every
step is a command that you can run yourself, and is shown as one.
validate both, explain a finding. Then run another agent with a scripted model and look at its file: loops that wake
each other, a compaction, the removal of a loop, all of it archived. Every step is a command that you can run
yourself, and is shown as one.

\b
  adf-format demo                 the files go away at the end
  adf-format demo --dir demo      the files stay in a new folder

It needs no network and no model, and opens nothing.
It needs no network and no real model, and opens nothing.

Exit codes: 0 done; 2 the folder is not empty; 3 something could not be written, or did not go as announced.
"""

DAMAGE = {
    "the last bytes of an archived transcript are lost": (
        "UPDATE adf_audit SET data = substr(data, 1, length(data) - 8) WHERE id = 1"
    ),
    "the JSON of a transcript row is cut": (
        "UPDATE adf_loop SET content_json = substr(content_json, 1, 20) WHERE seq = 11"
    ),
    "a timer has no schedule": "UPDATE adf_timers SET schedule_json = '{}' WHERE id = 2",
    "a message tries to clear your screen": (
        "UPDATE adf_inbox SET subject = char(27) || '[2J' || char(8238) WHERE id = 'inbox00001'"
    ),
}
EXPLAINED = "ADF502"


@click.command(help=HELP)
@click.option("--dir", "folder", metavar="DIR", type=click.Path(path_type=Path), help="Keep the files in DIR.")
@click.option("--keep", is_flag=True, help="Keep the files in a temporary folder.")
@common("human")
def demo(folder: Path | None, keep: bool, out: Output) -> int:
    """Run the steps."""
    with _place(folder, keep) as (place, kept):
        _steps(place, out)
        out.line(f"The files are in {visible(str(place))}" if kept else "The files are gone; --dir DIR keeps them.")
    return EXIT_OK


@contextlib.contextmanager
def _place(folder: Path | None, keep: bool) -> Iterator[tuple[Path, bool]]:
    """Give a folder, and whether it stays."""
    if folder is not None:
        with _new_or_empty(folder):
            yield folder, True
    elif keep:
        yield Path(tempfile.mkdtemp(prefix="adf-format-demo-")), True
    else:
        with tempfile.TemporaryDirectory(prefix="adf-format-demo-") as name:
            yield Path(name), False


@contextlib.contextmanager
def _new_or_empty(folder: Path) -> Iterator[None]:
    """Make a folder, and take away what was made if the work in it fails.

    :raises UsageError: there is a file, or a folder that is not empty
    """
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    if folder.exists() and not folder.is_dir():
        raise UsageError("this is a file, not a folder", file=folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError("the folder is not empty", file=folder, hint="--dir takes a new or an empty one")
        try:
            yield
        except BaseException:
            for file in folder.iterdir():  # the folder was empty before
                file.unlink(missing_ok=True)
            raise
    except BaseException:
        with contextlib.suppress(OSError):
            for one in made:
                one.rmdir()
        raise


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[Path]:
    """Say in one line of ours why a file cannot be written."""
    import apsw

    from adf_format.container import translate_writing

    try:
        yield path
    except (OSError, apsw.Error) as error:
        raise translate_writing(error, path) from error


def _steps(place: Path, out: Output) -> None:
    from adf_format import sample

    ada, broken, report = place / "ada.adf", place / "broken.adf", place / "broken.json"
    _title(out, "1. A sample agent: Ada keeps a garden diary, with loops, an archive, timers, messages and files")
    with _writing(ada):
        sample.build(ada, 32)
    _run(out, ["inspect", str(ada)])
    _title(out, "2. Is her file valid?")
    _run(out, ["validate", "--isolated", str(ada)])
    _title(out, "3. A copy of it, damaged on purpose")
    with _writing(broken):
        broken.write_bytes(ada.read_bytes())
        _damage(broken)
    for what in DAMAGE:
        out.line(f"   - {what}")
    out.line()
    _run(out, ["validate", "--isolated", str(broken)], EXIT_FINDINGS)
    _title(out, "4. What does a finding mean?")
    _run(out, ["rules", EXPLAINED])
    _title(out, "5. The same for programs: JSON here; SARIF, JUnit and GitHub annotations likewise")
    _run(out, ["validate", "--isolated", str(broken), "--format", "json", "-o", str(report)], EXIT_FINDINGS)
    out.line(f"{visible(str(report))}: {report.stat().st_size:,} bytes, its schema is urn:adf-format:output:validate:1")
    out.line()
    _past(place, ada, out)
    _running(place, out)


def _running(place: Path, out: Output) -> None:
    """Run an agent, and look at its file afterwards."""
    from adf_format.cli import demo_agent

    flora, config, script = place / "flora.adf", place / "flora.json", place / "answers.json"
    demo_agent.write(config, script)
    _title(out, "8. An agent at work: Flora, a gardener loop and a reviewer loop; her model answers from a script")
    _run(out, ["new", str(flora), "--name", "Flora", "--config", str(config)])
    _run(out, ["run", str(flora), "--model", f"scripted:{script}", "--message", demo_agent.MESSAGE])
    _title(out, "9. What her file says afterwards: nothing is lost, what was condensed or removed is in the archive")
    _run(out, ["loop", "ls", str(flora)])
    _run(out, ["audit", "ls", str(flora)])
    _run(out, ["trace", str(flora), demo_agent.CITED])
    _run(out, ["validate", "--isolated", str(flora)])


def _past(place: Path, ada: Path, out: Output) -> None:
    from adf_format import sample
    from adf_format.schemas import OLDEST

    old, receipt = place / "old.adf", place / "receipt.json"
    _title(out, "6. Where is her past? Every row she ever had is live, archived, or gone for a reason")
    _run(out, ["audit", "verify", str(ada)])
    _run(out, ["audit", "resolve", str(ada), "S3"])
    _title(out, f"7. A file of storage version {OLDEST}, brought up to date, with a receipt that proves what happened")
    with _writing(old):
        sample.build(old, OLDEST)
    _run(out, ["migrate", str(old), "--report", str(receipt)])
    _run(out, ["migrate", "--check-receipt", str(receipt)])
    _run(out, ["validate", "--isolated", str(old)])


def _damage(path: Path) -> None:
    import apsw

    connection = apsw.Connection(str(path))
    try:
        for sql in DAMAGE.values():
            connection.execute(sql)
    finally:
        connection.close()


def _title(out: Output, text: str) -> None:
    out.line(out.screen.paint(text, "bold"))


def _run(out: Output, arguments: list[str], expected: int = EXIT_OK) -> None:
    """Show a command and run it.

    :raises AdfError: it ended in another way than announced
    """
    from adf_format.cli.main import invoke

    out.line(out.screen.paint(visible(f"$ adf-format {shlex.join(arguments)}"), "cyan"))
    out.stream.flush()
    code = invoke(arguments)
    if code != expected:
        raise AdfError(f"`adf-format {arguments[0]}` ended with {code} where {expected} was announced")
    out.line()

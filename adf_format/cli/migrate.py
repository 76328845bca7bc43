"""`adf-format migrate`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from adf_format import __version__, migration
from adf_format.cli.migrate_text import described, lines, undone
from adf_format.cli.options import Output, opened, refuse_database
from adf_format.cli.paths import agent_files
from adf_format.errors import EXIT_FINDINGS, EXIT_OK, AdfError, UsageError
from adf_format.migration import checking, receipt
from adf_format.migration.journal import SUFFIX as PART
from adf_format.migration.journal import Journal
from adf_format.migration.undo import undo
from adf_format.schemas import LATEST
from adf_format.terminal import visible

SCHEMA = "urn:adf-format:output:migrate:1"
CHECK_SCHEMA = "urn:adf-format:output:receipt-check:1"

HELP = f"""Bring files to a newer storage version, step by step; the newest is {LATEST}.

A folder means every *.adf in it and below. The old file stays beside the new one as FILE.bak (FILE.bak.<time> if
that name is taken). A file that an agent has open is refused, and so is one that is newer than this tool knows. Each
step is one transaction: whatever happens, the file is the old one or that of a completed step, and running the
command again goes on from there. In the end both files are compared value by value on a fresh connection; if
anything differs that no rule asks for, the old file comes back.

\b
  adf-format migrate agents/ --dry-run
  adf-format migrate agent.adf --output new.adf --to 28
  adf-format migrate agent.adf --report receipt.json
  adf-format migrate --check-receipt receipt.json
  adf-format migrate agent.adf --undo

A receipt is written file by file: after a kill, the same command goes on, and the receipt tells the whole. One that
is there already is added to.

--undo puts the newest backup in the place of the file, byte for byte, and the migrated file aside as FILE.undone.
With --check-receipt everything that the receipt says is worked out again from the files.

Exit codes: 0 done; 1 the receipt does not hold; 2 wrong usage; 3 a file could not be migrated. Of several files the
worst code counts.
"""


@click.command(help=HELP)
@click.argument("paths", nargs=-1, metavar="FILE...", type=click.Path())
@click.option("--to", "target", type=int, metavar="N", default=LATEST, show_default=True, help="Storage version.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and write nothing.")
@click.option("--in-place", is_flag=True, help="Migrate the file itself, with a backup; this is the default.")
@click.option("--output", metavar="COPY", help="Migrate into a new file (or folder, for several) instead.")
@click.option("--report", metavar="FILE", help="Write a receipt: every change with its rule, hashes of everything.")
@click.option("--split-batches", is_flag=True, help="Also turn old batches of archived messages into single ones.")
@click.option("--check-receipt", "to_check", metavar="RECEIPT", help="Check a receipt against the files.")
@click.option("--undo", "undoing", is_flag=True, help="Bring back the file from before the migration.")
@click.option("--backup", metavar="FILE", help="With --undo: the backup to take.")
@click.option("--format", "format_name", type=click.Choice(["human", "json"]), default="human", show_default=True)
@click.option("-q", "--quiet", is_flag=True, help="No notes and no progress on stderr.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
def migrate(paths: tuple[str, ...], format_name: str, quiet: bool, color: str, **given: Any) -> int:
    """Sort out what is wanted, and do it."""
    wanted = Wanted(**given)
    wanted.demand_consistent(paths)
    with opened(format_name, None, quiet, color) as out:
        if wanted.to_check:
            return _check(out, wanted.to_check, paths)
        session = Session(out, wanted)
        if wanted.undoing:
            return session.run(paths, session.undo)
        if wanted.report is None:
            return session.run(paths, session.migrate)
        if wanted.report == "-":
            try:
                return session.run(paths, session.migrate)
            finally:
                out.line("".join(receipt.text(session.receipts)).rstrip())
        with Journal(Path(wanted.report)) as session.journal:
            return session.run(paths, session.migrate)


@dataclass(frozen=True)
class Wanted:
    """The options."""

    target: int
    dry_run: bool
    in_place: bool
    output: str | None
    report: str | None
    split_batches: bool
    to_check: str | None
    undoing: bool
    backup: str | None

    def demand_consistent(self, paths: Sequence[str]) -> None:
        """Refuse options that contradict each other, before anything is done.

        :raises UsageError: they do
        """
        modes = {
            "--dry-run": self.dry_run,
            "--in-place": self.in_place,
            "--output": self.output is not None,
            "--check-receipt": self.to_check is not None,
            "--undo": self.undoing,
        }
        given = [name for name, is_given in modes.items() if is_given]
        if len(given) > 1:
            raise UsageError(f"{given[0]} and {given[1]} exclude each other")
        if not paths and not self.to_check:
            raise UsageError("which file?", hint="adf-format migrate FILE...")
        if len(paths) > 1 and (self.to_check or self.backup):
            raise UsageError("give one file")
        if self.backup and not self.undoing:
            raise UsageError("--backup goes with --undo")
        if self.report and given and given[0] not in ("--in-place", "--output"):
            raise UsageError(f"{given[0]} writes no receipt")
        if self.split_batches and not (self.report or self.dry_run):
            raise UsageError("--split-batches needs --report FILE", hint="the receipt keeps the originals")
        if self.report:
            refuse_database(Path(self.report))
            refuse_database(Path(f"{self.report}{PART}"))


@dataclass
class Session:
    """One run over several files.

    :ivar receipts: entries of the receipt, one for each migrated file, where it is written to stdout
    :ivar journal: the receipt where it is written to a file
    """

    out: Output
    wanted: Wanted
    receipts: list[dict[str, Any]] = field(default_factory=list)
    journal: Journal | None = None
    results: list[dict[str, Any]] = field(default_factory=list)
    code: int = EXIT_OK

    def run(self, paths: Sequence[str], work: Callable[[Path], dict[str, Any]]) -> int:
        """Do something to each file; an error stops none but its own."""
        many = len(paths) > 1 or any(Path(path).is_dir() for path in paths)
        if many and self.wanted.output is not None and not Path(self.wanted.output).is_dir():
            raise UsageError("several files need a folder to go to", Path(self.wanted.output))
        for path in self._files(paths):
            try:
                self._add(work(path))
            except AdfError as error:
                error.file = error.file or path
                self._fail(path, error)
        if self.out.format == "json":
            tool = {"name": "adf-format", "version": __version__}
            self.out.json({"$schema": SCHEMA, "tool": tool, "files": self.results})
        return self.code

    def migrate(self, path: Path) -> dict[str, Any]:
        """Migrate one file, or say what migrating it would do."""
        wanted = self.wanted
        order = migration.Order(wanted.target, split=wanted.split_batches, hashing=wanted.report is not None)
        target = None if wanted.output is None else self._target(path)
        if self.journal is not None:
            order = self.journal.order(order, path, target)
        progress = Progress(self.out, path)
        try:
            if wanted.dry_run:
                outcome = migration.rehearse(path, order)
            elif target is not None:
                outcome = (self.journal and self.journal.recover(path, target)) or migration.migrate_copy(
                    path, target, order, progress
                )
            else:
                outcome = migration.migrate(path, order, progress)
            self._receive(outcome, path, progress)
        finally:
            progress.clear()
        return described(outcome, dry_run=wanted.dry_run)

    def _receive(self, outcome: migration.Outcome, path: Path, progress: Progress) -> None:
        """Add what was done to the receipt, at once: the next file may never be reached."""
        if self.wanted.report is not None:
            progress("receipt", 0)
        if self.journal is not None:
            self.journal.finish(outcome)
        elif self.wanted.report is not None and (outcome.backup or outcome.output):
            self.receipts.append(receipt.entry(outcome, outcome.backup or path))

    def undo(self, path: Path) -> dict[str, Any]:
        """Bring one file back."""
        return undone(undo(path, backup=self.wanted.backup))

    def _files(self, paths: Sequence[str]) -> Iterator[Path]:
        try:
            yield from map(Path, agent_files(paths))
        except AdfError as error:
            self._fail(error.file or Path(), error)

    def _target(self, path: Path) -> Path:
        output = Path(self.wanted.output or "")
        return output / path.name if output.is_dir() else output

    def _add(self, result: dict[str, Any]) -> None:
        self.results.append(result)
        if self.out.format == "human":
            for line in lines(result):
                self.out.line(line)
            self.out.stream.flush()

    def _fail(self, path: Path, error: AdfError) -> None:
        self.code = max(self.code, error.exit_code)
        self.results.append({"path": str(path), "status": "failed", "error": str(error)})
        click.echo(f"adf-format: {visible(str(error))}", err=True)


class Progress:
    """A line on stderr that comes and goes, on a terminal only."""

    def __init__(self, out: Output, path: Path) -> None:
        """Show what is done to a file."""
        self._on = not out.quiet and out.notes.width is not None
        self._name = path.name
        self._last = time.monotonic()
        self._shown = False

    def __call__(self, what: str, done: int) -> None:
        """Show a step; at most ten times a second, and not in the first half second."""
        if self._on and time.monotonic() - self._last > (0.1 if self._shown else 0.5):
            self._last, self._shown = time.monotonic(), True
            click.echo(f"\r\x1b[K{visible(self._name)}: {what}{f' {done}' if done else ''}", err=True, nl=False)

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)


def _check(out: Output, path: str, files: Sequence[str]) -> int:
    """Check a receipt, and say yes or no."""
    document = checking.load(path)
    results = [{"path": path, "answers": [checking.is_sealed(document)]}]
    given = Path(files[0]) if files else None
    entries = [one for one in document["files"] if given is None or _names(one, given)]
    if given is not None and not entries:
        entries = document["files"] if len(document["files"]) == 1 else []
    if given is not None and not entries:
        raise UsageError("the receipt does not speak of this file", given)
    for entry in entries:
        answers = list(checking.check(entry, file=given))
        results.append({"path": str(given or entry["output"] or entry["file"]), "answers": answers})
    holds = all(answer.holds is not False for one in results for answer in one["answers"])  # type: ignore[attr-defined]
    holds = holds and all(one["answers"][0].holds for one in results)  # type: ignore[attr-defined]
    _tell(out, path, results, holds=holds)
    return EXIT_OK if holds else EXIT_FINDINGS


def _names(entry: dict[str, Any], file: Path) -> bool:
    names = {entry["file"], entry["output"]}
    return str(file) in names or file.name in {Path(name).name for name in names if name}


def _tell(out: Output, path: str, results: Sequence[dict[str, Any]], *, holds: bool) -> None:
    if out.format == "json":
        files = [{"path": one["path"], "answers": [vars_of(answer) for answer in one["answers"]]} for one in results]
        out.json({"$schema": CHECK_SCHEMA, "receipt": path, "holds": holds, "files": files})
        return
    for one in results:
        out.line(visible(one["path"]))
        for answer in one["answers"]:
            word = {True: "yes", False: "NO", None: "?"}[answer.holds]
            detail = f" ({answer.detail})" if answer.detail else ""
            out.line(f"  {word:<4}{visible(answer.question)}{visible(detail)}")
    out.line("the receipt holds" if holds else "the receipt does NOT hold")


def vars_of(answer: checking.Answer) -> dict[str, Any]:
    """Return an answer for a JSON document."""
    return {"question": answer.question, "holds": answer.holds, "detail": answer.detail}

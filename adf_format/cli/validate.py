"""`adf-format validate`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from adf_format.cli.options import Output, common, new_file, same_place
from adf_format.cli.paths import agent_files
from adf_format.errors import EXIT_FINDINGS, EXIT_OK, EXIT_UNREADABLE, AdfError, UnreadableError, UsageError
from adf_format.terminal import visible
from adf_format.validation import baseline as baselines
from adf_format.validation import settings as settings_files
from adf_format.validation.baseline import Baseline
from adf_format.validation.batch import Job, Resources, available_cpus, validate_many
from adf_format.validation.formats import NAMES, Run, format_class
from adf_format.validation.formats.base import counted
from adf_format.validation.report import FileReport
from adf_format.validation.rule import Severity, all_rules
from adf_format.validation.settings import MAX_MEGABYTES, MAX_SECONDS, Settings

HELP = """Check files and folders against the rules of the format.

A folder means every *.adf in it and below. Files are only read: nothing is written to them or left beside them, and
a file in use is read consistently. Each file is checked in a process of its own, with a time and a memory limit.

\b
  adf-format validate agent.adf
  adf-format validate agents/ --jobs 8 --format sarif -o report.sarif
  adf-format validate agent.adf --deep --select ADF5,ADF6
  adf-format validate agents/ --write-baseline known.json
  adf-format validate agents/ --baseline known.json --fail-on warning

RULE is an id (ADF501), the start of one (ADF5), a name (snapshot-not-brotli) or ALL; several are joined by commas.
`adf-format rules` lists them. Settings also stand in adf-format.toml or in [tool.adf-format] of pyproject.toml: the
nearest one from the current folder upwards counts.

Exit codes: 0 no finding from --fail-on up; 1 findings; 2 wrong usage; 3 a file could not be read or checked. Of
several files the worst code counts.
"""


def _words(ctx: click.Context, param: click.Parameter, value: Sequence[str]) -> tuple[str, ...]:  # noqa: ARG001
    return tuple(word.strip() for text in value for word in text.split(",") if word.strip())


def _pairs(ctx: click.Context, param: click.Parameter, value: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for word in _words(ctx, param, value):
        pattern, equals, severity = word.partition("=")
        if not equals:
            raise click.BadParameter(f"{word!r} is not RULE=SEVERITY", ctx, param)
        pairs[pattern] = str(Severity.of(severity))
    return pairs


class Seconds(click.FloatRange):
    """A number of seconds; `nan` lies in every range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        number = float(super().convert(value, param, ctx))
        if number != number:  # noqa: PLR0124
            self.fail("nan is no number of seconds", param, ctx)
        return number


@click.command(help=HELP)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(readable=False))
@common(*NAMES)
@click.option("--quick", "depth", flag_value="quick", help="Only the container, the schema and the configuration.")
@click.option("--deep", "depth", flag_value="deep", help="Also what takes long.")
@click.option("--select", multiple=True, callback=_words, metavar="RULE", help="Look at these rules only.")
@click.option("--ignore", multiple=True, callback=_words, metavar="RULE", help="Leave these rules out.")
@click.option(
    "--severity",
    multiple=True,
    callback=_pairs,
    metavar="RULE=LEVEL",
    help="Let a rule count as error, warning or info.",
)
@click.option("--preset", metavar="NAME", help="Ready-made severities: strict or legacy.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "info", "never"]),
    help="Severity from which a finding gives exit code 1.  [default: error]",
)
@click.option("--baseline", metavar="FILE", help="Leave out the findings that FILE knows.")
@click.option("--write-baseline", metavar="FILE", help="Write the findings to FILE, as known ones.")
@click.option("--statistics", is_flag=True, help="Also say what was looked at.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(0),
    metavar="N",
    help="Files checked at once; 0: unprotected, in this process.  [default: processors]",
)
@click.option(
    "--timeout",
    type=Seconds(0, MAX_SECONDS, min_open=True),
    metavar="SECONDS",
    help="Time for one file.  [default: 300]",
)
@click.option(
    "--memory",
    type=click.IntRange(64, MAX_MEGABYTES),
    metavar="MB",
    help="Memory for one worker, on Linux.  [default: 1024]",
)
@click.option("--config", metavar="FILE", help="Read the settings from FILE.")
@click.option("--isolated", is_flag=True, help="Read no settings file.")
def validate(
    paths: tuple[str, ...],
    out: Output,
    write_baseline: str | None,
    statistics: bool,
    config: str | None,
    isolated: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    severity: dict[str, str],
    **given: Any,
) -> int:
    """Collect what is asked for, and run it."""
    if "" in paths:
        raise UsageError("an empty text names no file")
    found = _settings(config, isolated)
    changes = {key: value for key, value in given.items() if value is not None}
    settings = replace(
        found,
        select=select or found.select,
        ignore=found.ignore + ignore,
        severity={**found.severity, **severity},
        **changes,
    )
    options = settings.options()
    threshold = settings.threshold()
    wanted = options.wanted or frozenset()
    run = Run(all_rules(), wanted, threshold, statistics, out.quiet)
    known = baselines.load(Path(settings.baseline)) if settings.baseline else None
    learned = Baseline(Path(write_baseline)) if write_baseline else None
    if learned is not None and out.path is not None and same_place(out.path, learned.path):
        raise UsageError("--output and --write-baseline name the same file", file=learned.path)
    session = Session(out, settings, run, known, learned)
    code = session.validate(paths)
    if learned is not None:
        with new_file(learned.path) as stream:
            stream.write(learned.text())
        out.note(f"{visible(str(learned.path))} now knows the findings of {counted(len(learned.known), 'file')}")
    return code


def _settings(config: str | None, isolated: bool) -> Settings:
    if config and isolated:
        raise UsageError("--config and --isolated exclude each other")
    if isolated:
        return Settings()
    path = Path(config) if config else settings_files.find(_here())
    return settings_files.load(path) if path else Settings()


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise UnreadableError("the current folder is gone", hint="change to one that exists") from error


@dataclass
class Session:
    """One run of the command."""

    out: Output
    settings: Settings
    run: Run
    known: Baseline | None
    learned: Baseline | None
    code: int = EXIT_OK
    checked: int = 0
    _trouble: list[AdfError] = field(default_factory=list)

    def validate(self, paths: Sequence[str]) -> int:
        """Validate the files, write the report as they come, and return the exit code."""
        writer = format_class(self.out.format)(self.out.write, self.out.screen, self.run)
        progress = Progress(self.out)
        writer.begin()
        with closing(validate_many(self._jobs(paths), self._resources(paths))) as reports:  # type: ignore[type-var]
            for report in reports:
                progress.clear()
                taken = self._apply_baselines(report)
                writer.add(report, taken)
                self._count(report)
                self.out.stream.flush()
                progress.show(f"{writer.totals['files']} checked")
        progress.clear()
        writer.end()
        for error in self._trouble:
            click.echo(f"adf-format: {visible(str(error))}", err=True)
            self.code = EXIT_UNREADABLE
        self._tell_stale()
        return self.code

    def _jobs(self, paths: Sequence[str]) -> Iterator[Job]:
        options = self.settings.options()
        try:
            for path in agent_files(paths):
                yield Job(path, self.settings.options_for(path, options))
        except AdfError as error:
            self._trouble.append(error)

    def _resources(self, paths: Sequence[str]) -> Resources:
        jobs = self.settings.jobs
        if jobs is None:
            jobs = available_cpus()
        if jobs and len(paths) == 1 and not Path(paths[0]).is_dir():
            jobs = 1
        return Resources(jobs, self.settings.timeout, self.settings.memory)

    def _apply_baselines(self, report: FileReport) -> list[Any]:
        if self.learned is not None:
            self.learned.add(report)
        return self.known.apply(report, self.run.wanted) if self.known is not None else []

    def _count(self, report: FileReport) -> None:
        if report.error is not None:
            self.code = EXIT_UNREADABLE
        elif any(map(self.run.fails, report.findings)):
            self.code = max(self.code, EXIT_FINDINGS)

    def _tell_stale(self) -> None:
        for path, key, known, found in self.known.stale if self.known else ():
            text = f"{path}: the baseline knows {key.rule} {known} times, found {found}: write it anew"
            self.out.note(visible(text))


class Progress:
    """A line on stderr that comes and goes, on a terminal only."""

    def __init__(self, out: Output) -> None:
        self._on = not out.quiet and sys.stderr.isatty()
        self._shown = False
        self._last = time.monotonic()

    def show(self, text: str) -> None:
        """Show a text, at most ten times a second and not in the first half second."""
        if self._on and time.monotonic() - self._last > (0.1 if self._shown else 0.5):
            self._last = time.monotonic()
            self._shown = True
            click.echo(f"\r{text}", err=True, nl=False)

    def clear(self) -> None:
        """Take the line away, before something else is written."""
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)

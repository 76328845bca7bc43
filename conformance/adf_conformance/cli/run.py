"""`adf-conformance run`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from adf_conformance import report as forms
from adf_conformance.cli import options as shared
from adf_conformance.running import NoExpectations, Options, load_expectations, run
from adf_conformance.running.options import DEFAULT_EXAMPLES, DEFAULT_SECONDS, THOROUGH_SECONDS
from adf_conformance.running.verdicts import CheckResult

HELP = """Run the checks against a driver and say which requirements are kept.

A failure is tried again on fresh processes, made smaller, and saved as a case for `adf-conformance replay`.

\b
  adf-conformance run --driver ./driver
  adf-conformance run --driver ./driver --profile reader --budget 60s
  adf-conformance run --driver ./driver --select 'loops.wake-*' --seed 7
  adf-conformance run --driver ./driver --html report.html --junit report.xml --expect expected.toml

Exit codes: 0 conforms; 1 a requirement that counts is broken, or an expected failure is not one any more; 2 wrong
usage; 3 inconclusive, or it could not be tested.
"""


@click.command("run", help=HELP)
@shared.driver_option
@shared.selecting
@shared.level_option
@click.option("--budget", metavar="TIME", help="Time for drawing scenarios: 60s, 5m. Named cases are always played.")
@click.option("--thorough", is_flag=True, help="Draw for an hour, or as long as --budget says.")
@click.option("--seed", type=int, default=0, show_default=True, help="Other scenarios are drawn for another seed.")
@click.option("--jobs", type=click.IntRange(min=1), default=min(os.cpu_count() or 1, 2), help="Checks side by side.")
@click.option("--patience", type=click.FloatRange(min=0.1), default=10.0, show_default=True, help="Seconds to wait.")
@click.option("--expect", type=click.Path(path_type=Path), help="TOML file of expected failures.")
@click.option("--cases", type=click.Path(path_type=Path), default="adf-cases", show_default=True, help="For failures.")
@click.option("--format", "form", type=click.Choice(["human", "json"]), default="human", help="On standard output.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the report as JSON here too.")
@click.option("--html", type=click.Path(path_type=Path), help="Write it as one HTML page here too.")
@click.option("--junit", type=click.Path(path_type=Path), help="Write it as JUnit XML here too.")
@click.option("--badge", type=click.Path(path_type=Path), help="Write a badge here: .svg, or .json for shields.io.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def run_command(form: str, quiet: bool, **given: Any) -> None:
    """Run, report, and end with the exit code of the report."""
    result = run(_options(**given), None if quiet else _progress)
    told = result.as_json()
    cases = str(given["cases"])
    click.echo(json.dumps(told, indent=1) if form == "json" else "\n".join(forms.lines(told, cases)))
    for path, text in _files(told, cases, given):
        shared.write(path, text)
    sys.exit(result.exit_code)


def _options(
    driver: str,
    profiles: tuple[str, ...],
    patterns: tuple[str, ...],
    level: str,
    budget: str | None,
    thorough: bool,
    seed: int,
    jobs: int,
    patience: float,
    expect: Path | None,
    cases: Path,
    **_: Any,
) -> Options:
    try:
        expectations = load_expectations(expect) if expect else ()
    except NoExpectations as error:
        raise click.BadParameter(str(error), param_hint="--expect") from None
    default = THOROUGH_SECONDS if thorough else DEFAULT_SECONDS
    return Options(
        shared.command_of(driver),
        shared.selection_of(profiles, patterns, level),
        shared.seconds_of(budget) if budget else default,
        None if thorough else DEFAULT_EXAMPLES,
        seed,
        jobs,
        patience=patience,
        expectations=expectations,
        cases=cases,
    )


def _progress(result: CheckResult, done: int, total: int) -> None:
    click.echo(forms.progress_line(result.check, done, total, len(result.failures), result.seconds), err=True)


def _files(told: dict[str, Any], cases: str, given: dict[str, Any]) -> list[tuple[Path, str]]:
    """Return the files that were asked for, with their texts."""
    files = []
    if given["json_file"]:
        files.append((given["json_file"], json.dumps(told, indent=1) + "\n"))
    if given["html"]:
        files.append((given["html"], forms.page(told, cases)))
    if given["junit"]:
        files.append((given["junit"], forms.junit(told)))
    if given["badge"]:
        is_svg = given["badge"].suffix == ".svg"
        files.append((given["badge"], forms.svg(told) if is_svg else json.dumps(forms.shields(told)) + "\n"))
    return files

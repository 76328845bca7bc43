"""`adf-conformance corpus`."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from adf_conformance import corpus
from adf_conformance.corpus import Result

EXIT_FAILED, EXIT_INCONCLUSIVE = 1, 3


@click.command("corpus")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--validator", required=True, metavar="CMD", help="Command to run; {file} stands for the file.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=30.0, help="Seconds for one file.")
@click.option("--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, help="Files at the same time.")
@click.option("--format", "form", type=click.Choice(["human", "json"]), default="human", help="Form of the report.")
def corpus_command(folder: Path, validator: str, timeout: float, jobs: int, form: str) -> None:
    """Run a validator over a corpus of files and compare its verdicts.

    A verdict is the exit code (0 accepted, 1 rejected, 3 cannot be read, which counts as rejected), or the "valid" of
    a JSON report {"files": [{"valid": ...}]} on standard output. Each file is a private copy.

    Exit code: 0 all required verdicts are right, 1 some are wrong, 2 wrong usage, 3 no verdict on some file, or the
    corpus or the validator cannot be used.
    """
    command = _command(validator)
    try:
        results = corpus.run(folder, corpus.load(folder), command, timeout, jobs)
    except corpus.CorpusError as error:
        click.echo(f"adf-conformance: {error}", err=True)
        sys.exit(EXIT_INCONCLUSIVE)
    counts = {level: _counts(results, level) for level in ("must", "should")}
    click.echo(_json(results, counts) if form == "json" else _text(results, counts))
    sys.exit(_exit_code(counts))


def _command(text: str) -> list[str]:
    try:
        command = shlex.split(text)
    except ValueError as error:
        raise click.BadParameter(f"not a command: {error}", param_hint="--validator") from None
    if not any(corpus.PLACEHOLDER in part for part in command):
        raise click.BadParameter(f"{corpus.PLACEHOLDER} does not occur in it", param_hint="--validator")
    return command


def _counts(results: Sequence[Result], level: str) -> dict[str, int]:
    outcomes = Counter(result.outcome for result in results if result.level == level)
    names = ("passed", "failed", "inconclusive")
    return {"required": outcomes.total(), **{name: outcomes[name] for name in names}}


def _exit_code(counts: dict[str, dict[str, int]]) -> int:
    if any(count["inconclusive"] for count in counts.values()):
        return EXIT_INCONCLUSIVE
    return EXIT_FAILED if counts["must"]["failed"] else 0


def _json(results: Sequence[Result], counts: dict[str, Any]) -> str:
    return json.dumps({"summary": counts, "results": [result.as_json() for result in results]}, indent=1)


def _text(results: Sequence[Result], counts: dict[str, dict[str, int]]) -> str:
    lines = [_line(result) for result in results if result.outcome != "passed"]
    for level, count in counts.items():
        more = "".join(f", {count[name]} {name}" for name in ("failed", "inconclusive") if count[name])
        lines.append(f"{level}: passed {count['passed']} / required {count['required']}{more}")
    return "\n".join(lines)


def _line(result: Result) -> str:
    told = result.note or f"{result.said}, where {result.required} is right"
    return f"{result.outcome} ({result.level}): {result.case}: {told}"

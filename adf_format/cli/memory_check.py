"""`adf-format memory check`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from adf_format.cli.memory import Clock, is_agent, timed
from adf_format.cli.options import Output, common
from adf_format.errors import EXIT_FINDINGS, EXIT_OK, EXIT_UNREADABLE, UsageError
from adf_format.validation.baseline import Baseline
from adf_format.validation.baseline import load as load_baseline
from adf_format.validation.context import Depth
from adf_format.validation.engine import Options, validate_file
from adf_format.validation.formats import NAMES, Run, format_class
from adf_format.validation.report import FileReport
from adf_format.validation.rule import Severity, all_rules, select

FAMILY = ("ADF9",)
HELP = """Check memory against the rules of the family ADF9xx. ROOT is a workspace or an .adf.

Secrets, notes under a wrong date, tasks that were forgotten, promises that stand in one place only, pages that nobody
will open again, citations of lines that never were: each finding names the file and the line. Nothing is changed, and
no value of a secret is ever printed.

\b
  adf-format memory check .
  adf-format memory check agent.adf --format sarif -o memory.sarif
  adf-format memory check . --ignore ADF906 --fail-on warning
  adf-format memory check . --write-baseline known.json

For an agent the same rules are part of `adf-format validate --deep`. `adf-format rules ADF9` lists them.

Exit codes: 0 no finding from --fail-on up; 1 findings; 2 wrong usage; 3 a place could not be read.
"""


def _words(ctx: click.Context, param: click.Parameter, value: Sequence[str]) -> tuple[str, ...]:  # noqa: ARG001
    return tuple(word.strip() for text in value for word in text.split(",") if word.strip())


@click.command(help=HELP)
@click.argument("roots", nargs=-1, required=True, metavar="ROOT...", type=click.Path())
@click.option("--select", "selected", multiple=True, metavar="RULE", callback=_words, help="Only these rules.")
@click.option("--ignore", "ignored", multiple=True, metavar="RULE", callback=_words, help="Not these rules.")
@click.option("--fail-on", type=click.Choice(["error", "warning", "info", "never"]), default="error", show_default=True)
@click.option("--strict", is_flag=True, help="Warnings count as errors.")
@click.option("--baseline", metavar="FILE", help="Findings that are known and not shown.")
@click.option("--write-baseline", metavar="FILE", help="Write what is found now as a baseline.")
@timed
@common(*NAMES)
def check(
    roots: tuple[str, ...],
    selected: tuple[str, ...],
    ignored: tuple[str, ...],
    fail_on: str,
    strict: bool,
    baseline: str | None,
    write_baseline: str | None,
    clock: Clock,
    out: Output,
) -> int:
    """Check each root, and report as `validate` does."""
    options = _options(selected, ignored, strict=strict)
    threshold = None if fail_on == "never" else Severity.of(fail_on)
    run = Run(all_rules(), options.wanted or frozenset(), threshold, False, out.quiet)
    known = load_baseline(Path(baseline)) if baseline else None
    learned = Baseline(Path(write_baseline)) if write_baseline else None
    writer = format_class(out.format)(out.write, out.screen, run)
    writer.begin()
    code = EXIT_OK
    for report in _reports(roots, options, clock):
        if learned is not None:
            learned.add(report)
        writer.add(report, known.apply(report, options.wanted) if known is not None else [])
        code = max(code, _code(report, run))
    writer.end()
    if learned is not None:
        learned.path.write_text(learned.text(), "utf-8")
        out.note(f"the baseline now knows the findings of {len(learned.known)} places")
    return code


def _options(selected: tuple[str, ...], ignored: tuple[str, ...], *, strict: bool) -> Options:
    family = select(FAMILY)
    wanted = select(selected) & family if selected else family
    if selected and not wanted:
        raise UsageError("none of these rules is about memory", hint="`adf-format rules ADF9` lists those that are")
    wanted -= select(ignored)
    rules = all_rules()
    severities = {name: Severity.ERROR for name in wanted if strict and rules[name].severity is Severity.WARNING}
    return Options(Depth.DEEP, wanted, severities)


def _reports(roots: Sequence[str], options: Options, clock: Clock) -> Iterator[FileReport]:
    from adf_format.memory.lint.workspace import Moment, check_workspace

    moment = Moment(clock(), clock.where)
    for root in roots:
        if is_agent(root):
            yield validate_file(root, replace(options, today=moment.today))
        else:
            yield check_workspace(Path(root), moment, options)


def _code(report: FileReport, run: Any) -> int:
    if report.error is not None:
        return EXIT_UNREADABLE
    return EXIT_FINDINGS if any(map(run.fails, report.findings)) else EXIT_OK

"""Trying a rule on the sample: what is reported after a change."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from adf_format.sample import example
from adf_format.validation.engine import Options, validate_file
from adf_format.validation.findings import Finding
from adf_format.validation.rule import Example, select


def reported(folder: Path, sql: str, rules: Iterable[str], version: int = 32) -> list[Finding]:
    """Return what some rules (ids or prefixes) report on the sample of a version after a change."""
    path = folder / "sample.adf"
    example(path, Example(sql, on=version))
    report = validate_file(path, Options(wanted=select(tuple(rules))))
    assert report.error is None
    return report.findings


def told(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    """Rule and place of each finding."""
    return [(one.rule, one.place()) for one in findings]

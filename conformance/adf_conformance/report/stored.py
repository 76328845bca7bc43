"""Reports in files: reading one, and comparing two."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adf_conformance.format_data import PREFIX, document
from adf_conformance.report.words import Told

SCHEMA = f"{PREFIX}output:conformance-report:1"


class NoReport(Exception):  # noqa: N818 - a state of a file
    """The file is no report of this suite."""


def load(path: Path) -> Told:
    """Read a report.

    :raises NoReport: the file is none
    """
    import jsonschema_rs

    try:
        told: Told = json.loads(path.read_bytes())
        problem = next(iter(jsonschema_rs.validator_for(document(SCHEMA), retriever=document).iter_errors(told)), None)
    except (OSError, ValueError, TypeError) as error:
        raise NoReport(f"{path}: no report ({error})") from None
    if problem is not None:
        raise NoReport(f"{path}: no report of this suite: {problem.message}"[:300])
    return told


def diff(old: Told, new: Told) -> Iterator[tuple[str, str, str]]:
    """Yield `(id, old verdict, new verdict)` of every requirement whose verdict differs; `-` where there is none."""
    before, after = (_verdicts(report) for report in (old, new))
    for name in dict.fromkeys([*before, *after]):
        pair = before.get(name, "-"), after.get(name, "-")
        if pair[0] != pair[1]:
            yield name, *pair


def _verdicts(report: dict[str, Any]) -> dict[str, str]:
    return {row["id"]: row["verdict"] for row in report["requirements"]}

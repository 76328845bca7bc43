"""Words that all forms of a report share; they work on the JSON of a report."""

from __future__ import annotations

from typing import Any

Told = dict[str, Any]
BAD = ("fail", "flaky", "stale-expectation", "protocol-error")
UNKNOWN = ("inconclusive", "untestable", "harness-error")


def tally(counts: Told) -> str:
    """Return `passed / required (exercised N times)`; never a percentage, and never of nothing."""
    if not counts["required"]:
        return "nothing required"
    return f"{counts['passed']} / {counts['required']} (exercised {counts['exercised']} times)"


def conclusion(report: Told) -> str:
    """Return one sentence that says how it ended."""
    total = report["summary"]["total"]
    words = {0: "conforms", 1: "does not conform", 3: "is not known to conform"}[report["exit_code"]]
    name = report["driver"].get("name") or report["driver"]["command"]
    return f"{name} {words} to the format {report['spec']}: {tally(total)}"


def counted(row: Told) -> bool:
    """Say whether a row counts in the sum."""
    return bool(row["counts"]) and not row["by_design"] and row["verdict"] != "not-claimed"


def needs_attention(row: Told) -> bool:
    """Say whether a row is worth a reader's time."""
    return row["verdict"] in {*BAD, *UNKNOWN, "expected-fail"} and not row["by_design"]


def attention(report: Told) -> list[Told]:
    """Return the rows that need attention: those that count first, broken ones before unknown ones."""
    order = [*BAD, *UNKNOWN, "expected-fail"]
    rows = [row for row in report["requirements"] if needs_attention(row)]
    return sorted(rows, key=lambda row: (not row["counts"], order.index(row["verdict"])))


def replay_command(report: Told, row: Told, folder: str = "") -> str:
    """Return the command that plays the case of a failure again; empty if it was not saved."""
    if not row.get("case_file"):
        return ""
    place = f"{folder}/{row['case_file']}" if folder else row["case_file"]
    return f"adf-conformance replay {place} --driver '{report['driver']['command']}'"

"""The report for people at a terminal. What drivers and files say is made harmless first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from adf_conformance.report import words
from adf_conformance.report.words import Told

STEPS = 15  # steps of a timeline that are shown
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: object) -> str:
    """Return text without anything that could move a cursor or hide what is there."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", str(text))


def lines(report: Told, cases: str = "") -> Iterator[str]:
    """Yield the lines of a report.

    :param cases: folder in which cases were saved
    """
    driver = report["driver"]
    if driver.get("name"):
        storage = "-".join(map(str, driver["storage"]))
        yield visible(f"{driver['name']} {driver['version']} ({driver['language']}), storage {storage}")
        yield visible(f"claims {', '.join(driver['capabilities']) or 'nothing'}")
    yield visible(f"specification {report['spec']}, {report['suite']}, seed {report['seed']}, {report['seconds']} s")
    if report["trouble"]:
        yield visible(report["trouble"])
    for row in words.attention(report):
        yield ""
        yield from _row(report, row, cases)
    yield ""
    yield from _summary(report)


def _row(report: Told, row: Told, cases: str) -> Iterator[str]:
    weight = "" if row["counts"] else " (does not count)"
    yield visible(f"{row['verdict'].upper()} {row['id']} [{row['level']}, {', '.join(row['source'])}]{weight}")
    yield visible(f"  {row['text']}")
    if row["note"]:
        yield visible(f"  -> {row['note'][:1000]}")
    if "failure" in row:
        yield from _failure(row["failure"])
    if command := words.replay_command(report, row, cases):
        yield visible(f"  again: {command}")


def _failure(failure: Told) -> Iterator[str]:
    again, tries = failure["reproduced"]
    shrunk = failure["steps_before_shrinking"]
    smaller = f", made smaller from {shrunk} steps" if shrunk else ""
    yield f"  {len(failure['case']['steps'])} steps{smaller}; happened again on {again} of {tries} fresh processes"
    shown = failure["timeline"][-STEPS:]
    if len(shown) < len(failure["timeline"]):
        yield f"    … {len(failure['timeline']) - len(shown)} steps before"
    for step in shown:
        held = f"   [open: {', '.join(step['open'])}]" if step["open"] else ""
        yield visible(f"    {step['step']:>3} {step['do']:<9} {step['says'][:110]}{held}")
    for change in failure["changes"][:6]:
        yield visible(f"    {change[:150]}")
    if failure["stderr"].strip():
        yield visible(f"    stderr: …{failure['stderr'].strip()[-200:]}")


def _summary(report: Told) -> Iterator[str]:
    for profile, counts in report["summary"]["profiles"].items():
        rows = [row for row in report["requirements"] if row["profile"] == profile]
        if rows and all(row["verdict"] == "not-claimed" or row["by_design"] for row in rows):
            yield f"{profile:<10} not claimed"
        else:
            yield f"{profile:<10} {words.tally(counts)}"
    verdicts = report["summary"]["verdicts"]
    yield ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
    if report["malformed"]:
        yield visible(
            f"{len(report['malformed'])} lines of stdout were no messages, the first: {report['malformed'][0]}"
        )
    for pattern, nearest in report["unmatched_expectations"].items():
        hint = f" (did you mean {nearest}?)" if nearest else ""
        yield visible(f"the expectation {pattern!r} means no requirement{hint}")
    yield visible(words.conclusion(report))


def progress_line(check: str, done: int, total: int, failures: int, seconds: float) -> str:
    """Return the line that says that a check is done."""
    broken = f", {failures} broken" if failures else ""
    return f"[{done}/{total}] {check} {seconds:.1f} s{broken}"


def table(rows: list[tuple[Any, ...]]) -> Iterator[str]:
    """Yield the lines of a table, its columns aligned."""
    texts = [[visible(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in texts) for column in range(len(texts[0]))] if texts else []
    for row in texts:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()

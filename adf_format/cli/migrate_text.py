"""What `adf-format migrate` says of each file: as an entry of its JSON document, and in lines for readers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from adf_format.migration import Outcome, receipt
from adf_format.migration.undo import Undone
from adf_format.terminal import table, visible


def described(outcome: Outcome, *, dry_run: bool) -> dict[str, Any]:
    """Return the entry of a file that was migrated, or would be."""
    done = bool(outcome.steps or outcome.record.touches)
    return {
        "path": str(outcome.file),
        "status": ("planned" if dry_run else "migrated") if done else "current",
        "from": outcome.source,
        "to": outcome.target,
        "steps": receipt.steps(outcome),
        "backup": str(outcome.backup) if outcome.backup else None,
        "output": str(outcome.output) if outcome.output else None,
        "notes": outcome.record.notes,
        "seconds": round(outcome.seconds, 3),
    }


def undone(found: Undone) -> dict[str, Any]:
    """Return the entry of a file that was brought back."""
    return {
        "path": str(found.file),
        "status": "undone",
        "from": found.was,
        "to": found.version,
        "backup": str(found.backup),
        "aside": str(found.aside),
        "sha256": found.sha256,
        "others": [str(path) for path in found.others],
    }


def lines(result: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of an entry."""
    path, was, now = visible(result["path"]), result["from"], result["to"]
    match result["status"]:
        case "current":
            yield f"{path}: storage version {now}, nothing to do"
            return
        case "undone":
            yield f"{path}: storage version {now} again, byte for byte; the migrated file is {_name(result['aside'])}"
            yield from (f"  another backup is {_name(other)}" for other in result["others"])
            return
        case "planned":
            yield f"{path}: would go from storage version {was} to {now} in {_steps(result)}"
        case _:
            yield f"{path}: storage version {was} -> {now} in {_steps(result)}; {_kept(result)}"
    yield from _table(result["steps"])
    yield from (f"  note: {visible(note)}" for note in result["notes"])


def _steps(result: dict[str, Any]) -> str:
    count = len(result["steps"])
    return "1 step" if count == 1 else f"{count} steps"


def _kept(result: dict[str, Any]) -> str:
    if result["output"]:
        return f"the result is {visible(result['output'])}"
    return f"the old file is {_name(result['backup'])}"


def _name(path: str) -> str:
    return visible(Path(path).name)


def _table(steps: Sequence[dict[str, Any]]) -> list[str]:
    rows = [(f"  {step['step']}", step["rewrites"], _touched(step)) for step in steps]
    return table(rows)


def _touched(step: dict[str, Any]) -> str:
    """Return the rows touched by table; what concerns the version itself is no news."""
    found: dict[str, int] = {}
    for one in step["touched"]:
        if one["rows"] and one["rule"] != "MIG-001" and one["kind"] != "index-added":
            found[one["table"]] = max(found.get(one["table"], 0), one["rows"])
    return ", ".join(f"{name} {rows}" for name, rows in found.items()) or "-"

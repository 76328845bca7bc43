"""What the tests of the suite share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
DRIVERS = Path(__file__).resolve().parent / "drivers"
PLACES = [str(REPOSITORY), str(REPOSITORY / "conformance")]


def driver(name: str, *arguments: str) -> tuple[str, ...]:
    """The command of a driver of this folder."""
    os.environ["PYTHONPATH"] = os.pathsep.join(PLACES)
    return (sys.executable, str(DRIVERS / f"{name}.py"), *arguments)


def descendants(mark: str) -> list[int]:
    """Processes whose command line holds a text."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                if mark.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found

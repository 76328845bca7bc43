"""Build the example of a mind that a loop tends, `fixtures/gardener/`, or check that it is up to date.

usage: build_gardener.py [--check]

`adf-format run fixtures/gardener/fern.adf --model scripted:fixtures/gardener/script.json` plays it, once the clock is
past the timer; `adf-format demo` takes both from `adf_format.sample.tended`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from adf_format.sample import tended

FOLDER = Path(__file__).resolve().parent.parent / "fixtures" / "gardener"


def files() -> dict[str, bytes]:
    """Return the files of the example by name."""
    script = json.dumps(tended.script(), ensure_ascii=False, indent=2) + "\n"
    return {"fern.adf": tended.content(), "script.json": script.encode()}


def main(arguments: list[str]) -> int:
    """Run the command; 0 done or up to date, 1 out of date, 2 wrong usage."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write(f"{__doc__}\n")
        return 2
    FOLDER.mkdir(exist_ok=True)
    stale = [
        name
        for name, content in files().items()
        if not (FOLDER / name).is_file() or (FOLDER / name).read_bytes() != content
    ]
    if arguments:
        sys.stdout.writelines(f"out of date: gardener/{name}\n" for name in stale)
        return 1 if stale else 0
    for name in stale:
        (FOLDER / name).write_bytes(files()[name])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

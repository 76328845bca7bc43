"""Run every saboteur against the suite and print the score.

    python tools/saboteurs.py [NAME…] [--budget 30] [--write]


`--write` keeps the result in `conformance/adf_conformance/mutants/kills.json`, from which the table of requirements in
the docs takes which saboteurs a requirement alone kills.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import statistics
import sys
from pathlib import Path

from adf_conformance.running import Options
from adf_conformance.running.strength import Kill, Saboteur, kills, of_files

REPOSITORY = Path(__file__).resolve().parent.parent
STORED = REPOSITORY / "conformance" / "adf_conformance" / "mutants" / "kills.json"
TOOLKIT = REPOSITORY / "tests" / "conformance" / "drivers" / "toolkit.py"
RUNTIME = REPOSITORY / "tests" / "conformance" / "mutants" / "runtime.py"


def all_saboteurs() -> list[Saboteur]:
    """Saboteurs of files, and those of the reference runtime if there are any."""
    found = of_files((sys.executable, str(TOOLKIT)))
    if RUNTIME.is_file():
        sys.path.insert(0, str(RUNTIME.parent))
        import runtime  # type: ignore[import-not-found]

        found += [
            Saboteur(name, (sys.executable, str(RUNTIME), name), profiles) for name, profiles in runtime.NAMES.items()
        ]
    return found


def main() -> int:
    """Run, print, perhaps write; fail if one survives."""
    parser = argparse.ArgumentParser(description="Run the saboteurs.")
    parser.add_argument("names", nargs="*", help="names or globs; all when left out")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for one saboteur")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="keep the result for the docs")
    arguments = parser.parse_args()
    patterns = arguments.names or ["*"]
    chosen = [one for one in all_saboteurs() if any(fnmatch.fnmatchcase(one.name, pattern) for pattern in patterns)]
    options = Options(
        (), seconds=arguments.budget, seed=arguments.seed, shrink_seconds=5.0, confirmations=1, examples=30
    )
    done = [_told(kill) for kill in kills(chosen, options)]
    survivors = [kill.saboteur for kill in done if not kill.killers]
    median = statistics.median(kill.seconds for kill in done) if done else 0.0
    print(f"killed {len(done) - len(survivors)} / {len(done)}, median {median:.1f} s each; survivors: {survivors}")
    if arguments.write:
        stored = {kill.saboteur: list(kill.killers) for kill in done}
        STORED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    return 1 if survivors else 0


def _told(kill: Kill) -> Kill:
    verdict = f"killed by {len(kill.killers)}: {', '.join(kill.killers[:4])}" if kill.killers else "SURVIVED"
    for fault in kill.faults:
        print(f"  {fault}")
    print(f"{kill.saboteur:<40} {kill.seconds:5.1f} s, {kill.steps:>2} steps  {verdict}", flush=True)
    return kill


if __name__ == "__main__":
    sys.exit(main())

"""Build the corpus in fixtures/ from the sample and the examples of the rules, or check that it is up to date.

usage: build_fixtures.py [--check]

With --check nothing is written: the corpus is built in a temporary folder and compared byte by byte.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from adf_format import sample
from adf_format.schemas import LATEST, OLDEST
from adf_format.validation.context import Depth
from adf_format.validation.engine import Options, validate_file
from adf_format.validation.report import FileReport
from adf_format.validation.rule import Rule, Severity, all_rules

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
BY_HAND = {"README.md", "VERSION"}
ELSEWHERE = "gardener/"  # an example, built by build_gardener.py
LARGEST = 400_000  # bytes of one file; larger examples are only built by the tests
Entry = dict[str, Any]


def main(arguments: list[str]) -> int:
    """Run the command; 0 done or up to date, 1 out of date, 2 wrong usage."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write(f"{__doc__}\n")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder)
        build(built)
        if arguments:
            stale = differences(built, FIXTURES)
            sys.stdout.writelines(f"out of date: {name}\n" for name in stale)
            return 1 if stale else 0
        install(built)
    return 0


def build(folder: Path) -> None:
    """Build the whole corpus in an empty folder, its manifest included."""
    for kind in ("valid", "invalid", "near-miss"):
        (folder / kind).mkdir()
    entries = [_valid(folder, version, base) for version in range(OLDEST, LATEST + 1) for base in ("fresh", "rich")]
    left_out: list[Entry] = []
    with ProcessPoolExecutor() as pool:
        for found in pool.map(_from_rule, all_rules(), [folder] * len(all_rules())):
            for entry in found:
                (left_out if "why" in entry else entries).append(entry)
    manifest = {"licence": "MIT", "entries": entries, "left_out": left_out}
    (folder / "manifest.json").write_text(_json(manifest), "utf-8")


def _valid(folder: Path, version: int, base: Any) -> Entry:
    path = folder / "valid" / f"v{version}-{base}.adf"
    sample.build(path, version, base)
    return {"path": f"valid/{path.name}", "verdict": "accepted", "level": "must"} | _facts(path)


def _from_rule(rule_id: str, folder: Path) -> list[Entry]:
    """Build the example of one rule and, for an error, the near miss."""
    rule = all_rules()[rule_id]
    if rule.fires.files:
        return []  # a workspace, not an agent
    entries = [_case(rule, rule.fires, "invalid", folder)]
    if rule.severity == Severity.ERROR:
        entries.append(_case(rule, rule.silent, "near-miss", folder))
    return [entry for entry in entries if entry]


def _case(rule: Rule, change: sample.Change, kind: str, folder: Path) -> Entry:
    path = folder / kind / f"{rule.id}-{rule.name}.adf"
    sample.example(path, change)
    entry: Entry = {"path": f"{kind}/{path.name}", "rule": rule.id}
    report, depth = _report(path, rule.id)
    if path.stat().st_size > LARGEST or (kind == "near-miss" and not report.valid):
        why = "larger than the corpus allows" if path.stat().st_size > LARGEST else "breaks another rule"
        for one in path.parent.glob(f"{path.name}*"):
            one.unlink()
        return entry | {"why": why}
    expected = _expected(rule, report, depth)
    path.with_suffix(".expected.json").write_text(_json(expected), "utf-8")
    level = "should" if kind == "invalid" and report.valid else "must"
    return entry | {"verdict": expected["verdict"], "level": level} | _facts(path)


def _report(path: Path, rule_id: str) -> tuple[FileReport, Depth]:
    """Validate as deep as the rule needs."""
    report = validate_file(path)
    if report.error or any(finding.rule == rule_id for finding in report.findings):
        return report, Depth.DEFAULT
    deep = validate_file(path, Options(depth=Depth.DEEP))
    found = any(finding.rule == rule_id for finding in deep.findings)
    return (deep, Depth.DEEP) if found else (report, Depth.DEFAULT)


def _expected(rule: Rule, report: FileReport, depth: Depth) -> Entry:
    unreadable = report.error is not None
    verdict = "accepted" if report.valid else "rejected"
    return {
        "rule": rule.id,
        "name": rule.name,
        "severity": str(rule.severity),
        "schema_version": report.schema_version,
        "depth": depth.name.lower(),
        "verdict": verdict,
        "exit": 3 if unreadable else int(not report.valid),
        "reported": {finding.rule: str(finding.severity) for finding in report.findings},
    }


def _facts(path: Path) -> Entry:
    beside = sorted(one for one in path.parent.glob(f"{path.name}-*"))
    beside += sorted(one for one in path.parent.glob(f"{path.name}.*"))
    files = {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in (path, *beside)}
    return {"size": path.stat().st_size, "sha256": files}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def differences(built: Path, present: Path) -> list[str]:
    """Return the names of files that differ, are missing or are too many."""
    one, other = dict(_files(built)), dict(_files(present))
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in BY_HAND and not name.startswith(ELSEWHERE):
            yield name, path.read_bytes()


def install(built: Path) -> None:
    """Replace the corpus by the built one; what is written by hand stays."""
    for kind in ("valid", "invalid", "near-miss"):
        shutil.rmtree(FIXTURES / kind, ignore_errors=True)
    shutil.copytree(built, FIXTURES, dirs_exist_ok=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

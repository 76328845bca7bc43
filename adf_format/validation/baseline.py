"""A baseline: findings that are known and accepted, so that only new ones count.

An entry is a rule at a place (table, column, pointer shape) with the number of times it was found. It names no rows
and no message: rows come and go, and wordings change. If there are more than were known, all of them are shown,
since nobody can say which is the new one.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from adf_format.errors import UsageError
from adf_format.smallfile import read_small
from adf_format.validation.findings import Finding
from adf_format.validation.report import FileReport
from adf_format.validation.rule import all_rules

SCHEMA = "urn:adf-format:output:baseline:1"


class Key(NamedTuple):
    """What a baseline entry recognises: see `key_of`."""

    rule: str
    table: str
    column: str
    pointer: str


def key_of(finding: Finding) -> Key:
    """Return the key of a finding; array indexes in its pointer become `*`."""
    shape = "/".join("*" if part.isdigit() else part for part in (finding.pointer or "").split("/"))
    return Key(finding.rule, finding.table or finding.file or "", finding.column or "", shape)


def fingerprint(finding: Finding) -> str:
    """Return a hexadecimal fingerprint that survives new rows, renumbering and a rewording of the message."""
    from hashlib import sha256

    return sha256("\0".join(key_of(finding)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


@dataclass
class Baseline:
    """Known findings.

    :ivar path: where it was read, or is to be written; paths of files are kept relative to its folder
    :ivar known: number of known places by file and key
    :ivar stale: entries of files seen that stand for more than was found now
    """

    path: Path
    known: dict[str, dict[Key, int]] = field(default_factory=dict)
    stale: list[tuple[str, Key, int, int]] = field(default_factory=list)

    def apply(self, report: FileReport, wanted: frozenset[str] | None = None) -> list[Finding]:
        """Take the known findings out of a report, and return them.

        :param wanted: ids of the rules that were looked at, None for all; the others cannot be stale
        """
        known = self.known.get(self._name(report.path), {})
        if report.error is not None or not known:
            return []
        found = _count(report.findings)
        expected = {key for key, count in found.items() if count <= known.get(key, 0)}
        overflow = set(report.left_out)
        gone = [one for one in report.findings if key_of(one) in expected and one.rule not in overflow]
        report.findings = [one for one in report.findings if not any(one is other for other in gone)]
        report.suppressed = sum(one.count for one in gone)
        for key, count in known.items():
            if found[key] < count and (wanted is None or key.rule in wanted):
                self.stale.append((report.path, key, count, found[key]))
        return gone

    def add(self, report: FileReport) -> None:
        """Learn the findings of a report."""
        if report.error is None and report.findings:
            self.known[self._name(report.path)] = dict(_count(report.findings))

    def text(self) -> str:
        """Return the baseline as JSON text, always in the same order."""
        files = {name: [_entry(key, count) for key, count in sorted(keys.items())] for name, keys in self.known.items()}
        document = {"$schema": SCHEMA, "files": dict(sorted(files.items()))}
        return json.dumps(document, indent=2) + "\n"

    def _name(self, path: str) -> str:
        relative = os.path.relpath(os.path.abspath(path), os.path.abspath(self.path.parent))  # noqa: PTH100
        return PurePath(relative).as_posix()


def load(path: Path) -> Baseline:
    """Read a baseline.

    :raises UsageError: there is none, it is not a baseline, or it names rules that are not known
    """
    try:
        document = json.loads(read_small(path))
        if document["$schema"] != SCHEMA:
            raise ValueError("another kind of document")
        entries = {name: _keys(listed) for name, listed in document["files"].items()}
    except OSError as error:
        raise UsageError(f"the baseline cannot be read: {error.strerror}", file=path) from error
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise UsageError("this is not a baseline", file=path, hint="--write-baseline makes one") from error
    unknown = {key.rule for listed in entries.values() for key in listed} - all_rules().keys()
    if unknown:
        text = f"the baseline knows {', '.join(sorted(unknown)[:5])}, which this version does not"
        raise UsageError(text, file=path, hint="write it anew with --write-baseline")
    return Baseline(path, entries)


def _count(findings: Iterable[Finding]) -> Counter[Key]:
    counts: Counter[Key] = Counter()
    for finding in findings:
        counts[key_of(finding)] += finding.count
    return counts


def _entry(key: Key, count: int) -> dict[str, Any]:
    return {name: value for name, value in key._asdict().items() if value} | {"count": count}


def _keys(listed: list[Any]) -> dict[Key, int]:
    keys = dict(map(_parsed, listed))
    if len(keys) != len(listed):
        raise ValueError("a key stands there twice: which count is meant?")
    return keys


def _parsed(entry: dict[str, Any]) -> tuple[Key, int]:
    texts = (entry["rule"], *(entry.get(name, "") for name in ("table", "column", "pointer")))
    if not all(isinstance(text, str) for text in texts) or type(entry["count"]) is not int or entry["count"] < 1:
        raise ValueError("not a baseline entry")
    return Key(*texts), entry["count"]

"""The report on one file, and on several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from adf_format.validation.findings import Finding
from adf_format.validation.rule import Severity


@dataclass
class Stats:
    """What was looked at, and what was not.

    :ivar depth: `quick`, `default` or `deep`
    :ivar rows: rows checked per table
    :ivar snapshots: audit snapshots decoded
    :ivar wal_frames: committed frames seen in the write-ahead log
    :ivar source: `immutable` or `private-copy`; `folder` for a workspace of memory
    :ivar not_checked: `{"what", "why"}` for everything that was left unchecked
    """

    depth: str = "default"
    rows: dict[str, int] = field(default_factory=dict)
    snapshots: int = 0
    wal_frames: int = 0
    source: str = "immutable"
    not_checked: list[dict[str, str]] = field(default_factory=list)


@dataclass
class FileReport:
    """What validation says about one file.

    :ivar schema_version: the storage version written in the file, None if it could not be read
    :ivar error: the one line that says why the file could not be processed, else None
    :ivar left_out: per rule, how many further distinct findings were counted but not kept
    :ivar suppressed: findings that a baseline already knows
    """

    path: str
    schema_version: int | None = None
    findings: list[Finding] = field(default_factory=list)
    stats: Stats = field(default_factory=Stats)
    error: str | None = None
    left_out: dict[str, int] = field(default_factory=dict)
    suppressed: int = 0

    @property
    def valid(self) -> bool:
        """No finding of severity error, and the file could be processed."""
        return self.error is None and all(finding.severity < Severity.ERROR for finding in self.findings)

    def worst(self) -> Severity | None:
        """Return the highest severity found, None without a finding."""
        return max((finding.severity for finding in self.findings), default=None)

    def count(self, severity: Severity) -> int:
        """Count places (not groups) of one severity."""
        return sum(finding.count for finding in self.findings if finding.severity == severity)

    def as_json(self) -> dict[str, Any]:
        """Return the report as the command line contract has it."""
        result: dict[str, Any] = {
            "path": self.path,
            "schema_version": self.schema_version,
            "valid": self.valid,
            "findings": [finding.as_json() for finding in self.findings],
            "stats": _stats(self.stats),
        }
        if self.left_out:
            result["left_out"] = self.left_out
        if self.suppressed:
            result["suppressed"] = self.suppressed
        if self.error is not None:
            result["error"] = self.error
        return result


def _stats(stats: Stats) -> dict[str, Any]:
    return {
        "depth": stats.depth,
        "source": stats.source,
        "wal_frames": stats.wal_frames,
        "rows": stats.rows,
        "snapshots": stats.snapshots,
        "not_checked": stats.not_checked,
    }


def summary(reports: Sequence[FileReport]) -> dict[str, Any]:
    """Return the totals over several files."""
    return {
        "files": len(reports),
        "valid": sum(report.valid for report in reports),
        "invalid": sum(not report.valid and report.error is None for report in reports),
        "unreadable": sum(report.error is not None for report in reports),
        **{f"{severity!s}s": sum(report.count(severity) for report in reports) for severity in Severity},
    }

"""JSON lines: one per file as soon as it is ready, then one with the totals, so that a cut stream shows.

Schema of a line: `urn:adf-format:output:validate-line:1`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from adf_format.terminal import harmless_json
from adf_format.validation.findings import Finding
from adf_format.validation.formats.base import Format
from adf_format.validation.report import FileReport


class JsonLines(Format):
    """Each line is an object whose `kind` is `file` or, in the last one, `summary`."""

    def file(self, report: FileReport, known: Sequence[Finding]) -> None:  # noqa: ARG002
        """Write one line."""
        self._line({"kind": "file", **report.as_json()})

    def end(self) -> None:
        """Write the last line."""
        self._line({"kind": "summary", **self.totals})

    def _line(self, value: dict[str, object]) -> None:
        self.write(harmless_json(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) + "\n")


FORMAT = JsonLines

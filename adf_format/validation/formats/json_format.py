"""One JSON document; its schema is `urn:adf-format:output:validate:1`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from adf_format import __version__
from adf_format.terminal import harmless_json
from adf_format.validation.findings import Finding
from adf_format.validation.formats.base import Format
from adf_format.validation.report import FileReport

SCHEMA = "urn:adf-format:output:validate:1"


class Json(Format):
    """Written file by file, so that a large batch takes no memory."""

    _files = 0

    def begin(self) -> None:
        """Open the document."""
        tool = json.dumps({"name": "adf-format", "version": __version__})
        self.write(f'{{\n  "$schema": "{SCHEMA}",\n  "tool": {tool},\n  "files": [')

    def file(self, report: FileReport, known: Sequence[Finding]) -> None:  # noqa: ARG002
        """Write one entry of `files`."""
        self.write(",\n    " if self._files else "\n    ")
        self.write(_text(report.as_json(), indent=2).replace("\n", "\n    "))
        self._files += 1

    def end(self) -> None:
        """Write the summary and close the document."""
        totals = _text(dict(self.totals), indent=2).replace("\n", "\n  ")
        closing = "\n  ]" if self._files else "]"
        self.write(f'{closing},\n  "summary": {totals}\n}}\n')


def _text(value: Any, indent: int | None = None) -> str:
    return harmless_json(json.dumps(value, ensure_ascii=False, indent=indent))


FORMAT = Json

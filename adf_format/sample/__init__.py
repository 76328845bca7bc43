"""The sample: one agent whose file has rows in every table, at every storage version, always the same bytes.

Rule examples are changes to it, the fixtures are built from it.
"""

from __future__ import annotations

from adf_format.sample.build import build, content
from adf_format.sample.examples import Change, example

__all__ = ["Change", "build", "content", "example"]

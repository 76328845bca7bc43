"""The file as a SQLite database: opened without a trace, under settings for untrusted input."""

from __future__ import annotations

from .beside import Beside
from .create import create
from .failures import translate
from .integrity import Integrity, check_integrity
from .model import Limits, Source
from .reader import Container, open_readonly

__all__ = [
    "Beside",
    "Container",
    "Integrity",
    "Limits",
    "Source",
    "check_integrity",
    "create",
    "open_readonly",
    "translate",
]

"""The file as a SQLite database: opened without a trace, under settings for untrusted input."""

from __future__ import annotations

from .beside import Beside
from .create import create
from .failures import translate, translate_writing
from .integrity import Integrity, check_integrity
from .live import Live, open_live
from .model import Limits, Source
from .reader import Container, open_readonly
from .version import stored_version
from .writer import Change, open_for_change, tidy

__all__ = [
    "Beside",
    "Change",
    "Container",
    "Integrity",
    "Limits",
    "Live",
    "Source",
    "check_integrity",
    "create",
    "open_for_change",
    "open_live",
    "open_readonly",
    "stored_version",
    "tidy",
    "translate",
    "translate_writing",
]

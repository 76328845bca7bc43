"""The file as a SQLite database: opened without a trace, under settings for untrusted input."""

from __future__ import annotations

from .create import create
from .failures import translate
from .model import Limits, Source
from .reader import Container, open_readonly

__all__ = ["Container", "Limits", "Source", "create", "open_readonly", "translate"]

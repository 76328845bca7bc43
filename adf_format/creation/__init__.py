"""Making a new agent: a fresh, valid file at any described storage version."""

from __future__ import annotations

from adf_format.creation.agent import Agent, Row, file_row, plan
from adf_format.creation.fresh import fill, new, write
from adf_format.creation.inserts import insert

__all__ = ["Agent", "Row", "file_row", "fill", "insert", "new", "plan", "write"]

"""How reports are written: one class per format, all with the same three steps."""

from __future__ import annotations

from importlib import import_module

from adf_format.validation.formats.base import Format, Run

NAMES = ("human", "json", "jsonl", "sarif", "junit", "github")


def format_class(name: str) -> type[Format]:
    """Return the class of a format by its name."""
    module = import_module(f"adf_format.validation.formats.{name}_format")
    found: type[Format] = module.FORMAT
    return found


__all__ = ["NAMES", "Format", "Run", "format_class"]

"""The command `adf-conformance`: parsing and printing only."""

from adf_conformance.cli.main import main

__all__ = ["main"]

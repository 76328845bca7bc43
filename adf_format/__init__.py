"""Toolkit for `.adf` files (Agent Document Format): schemas, validation, inspection.

The data goes one way: file -> rows -> rules -> findings -> report. See `docs/architecture.md`.
"""

__version__ = "0.1.0"

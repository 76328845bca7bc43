"""Bringing a file to a newer storage version: step by step, with a way back and a receipt."""

from adf_format.migration.engine import Order, Outcome, migrate, migrate_copy, rehearse

__all__ = ["Order", "Outcome", "migrate", "migrate_copy", "rehearse"]

"""Checks: what is done to find out whether requirements are kept.

A *check* is a function that gets a `Bench` and has a name. Which requirements it covers stands in the files of
requirements, nowhere else. Named checks play cases that are written by hand; generated ones draw scenarios for as long
as their share of the time lasts.
"""

from adf_conformance.checks.bench import Bench, Failure
from adf_conformance.checks.registry import Check, all_checks, check

__all__ = ["Bench", "Check", "Failure", "all_checks", "check"]

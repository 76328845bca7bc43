"""Running checks and making verdicts of what they saw."""

from adf_conformance.running.expectations import Expectation, NoExpectations, load_expectations
from adf_conformance.running.options import Options
from adf_conformance.running.report import Report, Row
from adf_conformance.running.runner import run
from adf_conformance.running.verdicts import Verdict

__all__ = ["Expectation", "NoExpectations", "Options", "Report", "Row", "Verdict", "load_expectations", "run"]

"""Forms of a report: terminal, JSON, JUnit, HTML, badges."""

from adf_conformance.report.badge import shields, svg
from adf_conformance.report.html import page
from adf_conformance.report.junit import junit
from adf_conformance.report.stored import NoReport, diff, load
from adf_conformance.report.terminal import lines, progress_line

__all__ = ["NoReport", "diff", "junit", "lines", "load", "page", "progress_line", "shields", "svg"]

"""Files made by hand from the schemas: valid ones, legacy ones of every era, and ones with a single fault.

A *plan* is plain data (see `plan.Plan`) and says everything about a file; `write` turns it into one. Plans are drawn by
Hypothesis (`strategies`), made smaller by the shrinker, and stand in case files.
"""

from adf_conformance.files.faults import FAULTS
from adf_conformance.files.odd import Oddity
from adf_conformance.files.shapes import SHAPES
from adf_conformance.files.writer import write

__all__ = ["FAULTS", "SHAPES", "Oddity", "write"]

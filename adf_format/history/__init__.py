"""The past of an agent: every archived row, where it is, and what became of it."""

from adf_format.history.coverage import Coverage, LoopCoverage, coverage
from adf_format.history.model import Checked, Gap, Place, Problem, SnapshotRow, Summary
from adf_format.history.reading import Reading
from adf_format.history.resolve import Resolution, resolve
from adf_format.history.seqs import SeqSet
from adf_format.history.snapshots import snapshots
from adf_format.history.trace import Trace, trace
from adf_format.history.transcript import Item, transcript

__all__ = [
    "Checked",
    "Coverage",
    "Gap",
    "Item",
    "LoopCoverage",
    "Place",
    "Problem",
    "Reading",
    "Resolution",
    "SeqSet",
    "SnapshotRow",
    "Summary",
    "Trace",
    "coverage",
    "resolve",
    "snapshots",
    "trace",
    "transcript",
]

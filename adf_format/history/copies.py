"""Rows that say different things in different places (ROW-013): all versions, collected in one pass."""

from __future__ import annotations

from itertools import islice

from adf_format.audit import LoopEntry, ShapeError
from adf_format.container import Container
from adf_format.errors import JsonTextError
from adf_format.history.coverage import Coverage, LoopCoverage
from adf_format.history.model import Place
from adf_format.history.reading import MIB, Reading
from adf_format.history.seqs import SeqSet
from adf_format.jsontext import decode

SEQS = 2000
SIZE = 64 * MIB  # characters of all versions together


def other_copies(container: Container, known: Coverage, one: LoopCoverage) -> dict[int, list[Place]]:
    """Return archived versions of the first rows of a loop that differ; what is beyond the bounds is left out."""
    wanted = SeqSet.of(islice(one.differing.numbers(), SEQS))
    found: dict[int, list[Place]] = {}
    size = 0
    for checked in known.survey.of_loop(one.name):
        if not checked.seqs & wanted:
            continue
        row = checked.row
        for index, text in Reading(container, row).texts(rows=True):
            entry = _entry(text)
            if entry is None or entry.seq not in wanted:
                continue
            size += len(text)
            if size > SIZE:
                return found
            found.setdefault(entry.seq, []).append(Place(entry, one.name, row.id, index, row.created_at))
    return found


def _entry(text: str | bytes) -> LoopEntry | None:
    try:
        return LoopEntry.parse(decode(text).value)
    except (JsonTextError, ShapeError):
        return None

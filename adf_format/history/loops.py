"""Which loops a file has and had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import apsw

from adf_format.config.loops import declared
from adf_format.container import Container
from adf_format.errors import AdfError
from adf_format.history.coverage import coverage
from adf_format.history.live import loop_of_each_row
from adf_format.history.model import MAIN
from adf_format.history.seqs import SeqSet
from adf_format.history.snapshots import file_of, snapshots
from adf_format.inspection.file import File, whole

_RECORD = "CASE WHEN typeof(tokens) = 'text' AND json_valid(tokens) THEN json_type(tokens) END = 'object'"


@dataclass(frozen=True)
class LoopFacts:
    """One loop.

    :ivar state: `enabled`, `disabled`, `undeclared` (it has rows) or `deleted` (only snapshots remember it)
    :ivar tokens_in: tokens of its live rows
    """

    name: str
    state: str
    live: SeqSet
    archived: SeqSet
    snapshots: int
    tokens_in: int
    tokens_out: int

    def json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "name": self.name,
            "state": self.state,
            "rows": self.live.count(),
            "lowest": self.live.lowest,
            "highest": self.live.highest,
            "archived": self.archived.count(),
            "snapshots": self.snapshots,
            "tokens": {"input": self.tokens_in, "output": self.tokens_out},
        }


def loops(container: Container) -> list[LoopFacts]:
    """Return every loop, `main` first; snapshots are decoded to count their rows."""
    file = file_of(container)
    known = coverage(container, copies=False)
    enabled, tokens = _declared(file), _tokens(file)
    return [
        LoopFacts(
            name,
            _state(name, enabled, live=bool(one.live)),
            one.live,
            one.archived,
            sum(1 for _ in known.survey.of_loop(name)),
            *tokens.get(name, (0, 0)),
        )
        for name, one in known.loops.items()
    ]


def names(container: Container) -> list[str]:
    """Return the names of all loops without decoding anything."""
    file = file_of(container)
    found = {MAIN, *_declared(file)} | {row.loop for row in snapshots(container) if row.loop is not None}
    if file.has("adf_loop", "loop"):
        try:
            found |= {str(name) for (name,) in file.rows("SELECT DISTINCT loop FROM adf_loop LIMIT 10000")}
        except UnicodeDecodeError:
            found |= {name for _, name in loop_of_each_row(file)}
    return sorted(found)


def _state(name: str, enabled: dict[str, bool], *, live: bool) -> str:
    if name in enabled:
        return "enabled" if enabled[name] else "disabled"
    return "undeclared" if live else "deleted"


def _declared(file: File) -> dict[str, bool]:
    """Return the declared loops, `main` included, and whether they are enabled."""
    found = {MAIN: True}
    try:
        config = file.config if file.has("adf_config", "config_json") else {}
    except (AdfError, apsw.Error, UnicodeDecodeError):
        return found
    return found | {name: loop.get("enabled") is not False for _, name, loop in declared(config)}


def _tokens(file: File) -> dict[str, tuple[int, int]]:
    if not file.has("adf_loop", "tokens"):
        return {}
    name = "CAST(loop AS TEXT)" if file.has("adf_loop", "loop") else "'main'"
    sums = ", ".join(f"total(json_extract(tokens, '$.{key}'))" for key in ("input", "output"))
    try:
        found = file.rows(f"SELECT {name}, {sums} FROM adf_loop WHERE {_RECORD} GROUP BY 1 LIMIT 10000")
    except UnicodeDecodeError:
        return {}
    return {row[0]: (whole(row[1]), whole(row[2])) for row in found}

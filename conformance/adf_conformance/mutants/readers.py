"""Saboteurs of readers."""

from __future__ import annotations

from typing import Any

from adf_conformance.mutants.mutant import After, Mutant, Params
from adf_conformance.mutants.tampering import blind, copied, database, holds


def _entries(edit: Any) -> After:
    """Return a change of the list of entries in an answer."""

    def after(_: Params, answer: Params) -> Params:
        if "result" in answer:
            answer["result"]["entries"] = edit(answer["result"]["entries"])
        return answer

    return after


def _without_log(params: Params) -> Params:
    return params | {"path": str(copied(params["path"], log=False))}


def _by_seq(entries: list[Params]) -> list[Params]:
    return sorted(entries, key=lambda entry: entry["seq"])


def _ties_backwards(entries: list[Params]) -> list[Params]:
    return sorted(entries, key=lambda entry: (_key(entry), -entry["seq"]))


def _key(entry: Params) -> int:
    order = entry.get("ord")
    return entry["seq"] if order is None else int(order)


def _no_unknown_blocks(entries: list[Params]) -> list[Params]:
    known = {"text", "tool_use", "tool_result", "thinking"}
    for entry in entries:
        entry["content_json"] = [block for block in entry["content_json"] if block.get("type") in known]
    return entries


def _floats(value: Any) -> Any:
    """Do to large numbers what JavaScript does."""
    if isinstance(value, dict):
        return {key: _floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_floats(item) for item in value]
    return float(value) if isinstance(value, int) and abs(value) > 2**63 else value


def _in_range_is_there(params: Params, answer: Params) -> Params:
    asked = f"SELECT count(*) FROM adf_audit WHERE {params['seq']} BETWEEN start_seq AND end_seq"
    if answer.get("result", {}).get("where") == "missing" and holds(params["path"], asked):
        answer["result"] = {"where": "audit", "entry": None}
    return answer


def _nothing_damaged(params: Params, answer: Params) -> Params:
    there = f"SELECT 1 FROM adf_audit WHERE id = {params['id']}"
    if "error" in answer and holds(params["path"], there):
        return {"result": {"entries": []}}
    return answer


def _leaves_traces(params: Params) -> Params:
    with database(params["path"]) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA user_version = 7")
    return params


_MERGED = "UPDATE adf_loop SET loop = 'main'"
_UNRANGED = "DELETE FROM adf_audit WHERE start_seq IS NULL"
MUTANTS = (
    Mutant("reader.order-by-seq", "transcript/read", after=_entries(_by_seq)),
    Mutant("reader.ties-backwards", "transcript/read", after=_entries(_ties_backwards)),
    Mutant("reader.log-ignored", "transcript/read", before=_without_log),
    Mutant("reader.loops-merged", "transcript/read", before=blind(_MERGED)),
    Mutant("reader.last-row-lost", "transcript/read", after=_entries(lambda entries: entries[:-1])),
    Mutant("reader.unknown-blocks-dropped", "transcript/read", after=_entries(_no_unknown_blocks)),
    Mutant("reader.large-numbers-rounded", "transcript/read", after=_entries(_floats)),
    Mutant("reader.leaves-traces", "transcript/read", before=_leaves_traces),
    Mutant("reader.snapshot-cut-at-1000", "audit/read", after=_entries(lambda entries: entries[:1000])),
    Mutant("reader.damage-swallowed", "audit/read", after=_nothing_damaged),
    Mutant("reader.ranges-trusted", "audit/resolve", after=_in_range_is_there),
    Mutant("reader.null-ranges-skipped", "audit/resolve", before=blind(_UNRANGED)),
    Mutant("reader.loops-ignored-in-search", "audit/resolve", before=blind(_MERGED)),
    Mutant("reader.archive-first", "audit/resolve", before=blind("DELETE FROM adf_loop")),
)

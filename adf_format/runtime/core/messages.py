"""From a session to the messages of a request: always a valid sequence, whatever the stream holds (ROW-012).

Repairs are made here, in memory, and never written back: each call is directly followed by its results, what belongs to
no call is left out, and the first message is a user's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from adf_format.runtime.core.content import Block, Blocks, calls, result_block
from adf_format.runtime.core.session import Entry

LOST = "Error: the call was interrupted; there is no result"
Message = dict[str, Any]


def messages(entries: Sequence[Entry]) -> list[Message]:
    """Return the messages of some entries, in order, with their markers."""
    built = [message for message in _sequence(list(entries)) if message["content"]]
    while built and built[0]["role"] == "assistant":
        del built[0]
        while built and _only_results(built[0]["content"]):
            del built[0]
    return built


def _sequence(entries: list[Entry]) -> Iterator[Message]:
    seen: set[str] = set()
    last_call = max((index for index, entry in enumerate(entries) if entry.role == "assistant"), default=-1)
    index = 0
    while index < len(entries):
        entry = entries[index]
        index += 1
        if entry.role != "assistant":
            yield entry.shown
            continue
        end = index
        while end < len(entries) and entries[end].role != "assistant":
            end += 1
        following = entries[index:end]
        yield from _exchange(entry, following, seen, is_last=index - 1 == last_call)
        index = end


def _exchange(entry: Entry, following: Sequence[Entry], seen: set[str], *, is_last: bool) -> Iterator[Message]:
    """Yield an answer, the results of its calls, and then what else came before the next answer (LOOP-178)."""
    found: dict[str, Block] = {}
    for block in (block for other in following for block in other.blocks):
        if block.get("type") == "tool_result" and isinstance(block.get("tool_use_id"), str):
            found.setdefault(block["tool_use_id"], block)
    kept: list[Block] = []
    results: list[Block] = []
    for block in entry.blocks:
        if block.get("type") != "tool_use":
            kept.append(block)
            continue
        identity = block.get("id")
        if not isinstance(identity, str) or not identity or identity in seen:
            continue
        if identity not in found and not is_last:
            continue
        seen.add(identity)
        kept.append(block)
        results.append(found.get(identity) or result_block(identity, LOST, is_error=True))
    yield {"role": "assistant", "content": kept}
    if results:
        yield {"role": "user", "content": results}
    for other in following:
        yield other.shown


def _only_results(content: Blocks) -> bool:
    return all(block.get("type") == "tool_result" for block in content)


def is_valid(sequence: Sequence[Message]) -> bool:
    """Whether each call is directly followed by a message with its results, and each result follows its call."""
    owed: list[str] = []
    for message in sequence:
        results = [block["tool_use_id"] for block in message["content"] if block.get("type") == "tool_result"]
        if sorted(results) != sorted(owed):
            return False
        owed = [str(block["id"]) for block in calls(message["content"])] if message["role"] == "assistant" else []
        if message["role"] == "assistant" and results:
            return False
    return not owed and (not sequence or sequence[0]["role"] == "user")

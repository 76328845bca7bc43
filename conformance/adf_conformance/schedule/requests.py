"""What a model request says: pure questions about the parameters of `model/complete`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

Params = Mapping[str, Any]


def texts(params: Params, role: str | None = None) -> Iterator[str]:
    """Yield the texts of a request in order: text blocks, tool results and inputs of tools."""
    for message in params["messages"]:
        if role in {None, message["role"]}:
            yield from (_text(block) for block in message["content"])


def _text(block: Mapping[str, Any]) -> str:
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text", ""))
    if kind == "tool_result":
        content = block.get("content", "")
        return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return json.dumps(block, ensure_ascii=False)


def count(params: Params, text: str, role: str | None = None) -> int:
    """Say how often a text stands in the text blocks of a request (not in tool calls or results)."""
    found = 0
    for message in params["messages"]:
        if role in {None, message["role"]}:
            blocks = (block for block in message["content"] if block.get("type") == "text")
            found += sum(str(block.get("text", "")).count(text) for block in blocks)
    return found


def tool_names(params: Params) -> list[str]:
    """Return the names of the tools that the model may call."""
    return [str(tool["name"]) for tool in params["tools"]]


def results(params: Params) -> dict[str, Mapping[str, Any]]:
    """Return the `tool_result` blocks of a request by the id of their call."""
    blocks = (block for message in params["messages"] for block in message["content"])
    return {str(block.get("tool_use_id")): block for block in blocks if block.get("type") == "tool_result"}


def sequence_problem(params: Params) -> str | None:
    """Say why a provider would refuse the sequence of a request, None if it would not (ROW-012, LOOP-162).

    Every tool call is answered by results at the start of the following user message, nothing comes in between, and no
    result stands without its call. Consecutive messages of one role count as one.
    """
    merged: list[tuple[str, list[Mapping[str, Any]]]] = []
    for message in params["messages"]:
        if merged and merged[-1][0] == message["role"]:
            merged[-1][1].extend(message["content"])
        else:
            merged.append((message["role"], list(message["content"])))
    owed: list[str] = []
    for role, blocks in merged:
        if problem := _turn_problem(role, blocks, owed):
            return problem
        owed = [str(block.get("id")) for block in blocks if role == "assistant" and block.get("type") == "tool_use"]
    return f"the tool calls {', '.join(owed)} have no result" if owed else None


def _turn_problem(role: str, blocks: list[Mapping[str, Any]], owed: list[str]) -> str | None:
    kinds = [str(block.get("type")) for block in blocks]
    answered = [str(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"]
    if role == "assistant":
        return f"the tool calls {', '.join(owed)} have no result" if owed else None
    if sorted(answered) != sorted(owed):
        return f"results for {answered} where the calls {owed} wait"
    if "tool_result" in kinds[len(answered) :]:
        return "something stands between a tool call and its result"
    return None

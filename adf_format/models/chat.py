"""The chat-completions protocol as pure functions: stored blocks to a request, and a response to stored blocks."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adf_format import jsontext
from adf_format.errors import JsonTextError
from adf_format.models.port import Completion, ModelChoice, ModelError, StopReason, Usage

_LONE = re.compile("[\ud800-\udfff]")
_MEDIA = {"image_url", "input_audio", "video_url"}


def request(
    model: ModelChoice, system: str, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the body of a request; text holds no lone surrogates any more, which UTF-8 cannot carry."""
    body: dict[str, Any] = dict(_params(model.params))
    settings = {"temperature": model.temperature, "max_tokens": model.max_tokens, "top_p": model.top_p}
    body |= {name: value for name, value in settings.items() if value is not None}
    body |= {"model": model.model_id, "messages": [*_system(system), *_messages(messages)]}
    if tools:
        body["tools"] = [_tool(tool) for tool in tools]
    sound: dict[str, Any] = _sound(body)
    return sound


def response(body: bytes) -> Completion:
    """Read the body of a response.

    :raises ModelError: it is not a chat completion (worth another try), or a filter stopped it (not worth one)
    """
    try:
        decoded = jsontext.decode(body).value
        choice = decoded["choices"][0]
        message = choice["message"]
        finish = choice.get("finish_reason")
        blocks = [*_thinking(message), *_texts(message)]
        calls = [_call(call) for call in message.get("tool_calls") or ()]
        usage = _usage(decoded.get("usage"))
    except (JsonTextError, LookupError, TypeError, AttributeError) as error:
        raise ModelError("the endpoint did not answer with a chat completion", transient=True) from error
    whole = [call for call in calls if call is not None]
    if len(whole) < len(calls) and finish != "length":
        raise ModelError("the model called a tool with arguments that are not a JSON object", transient=True)
    if finish == "content_filter" and not blocks:
        raise ModelError("the provider's content filter stopped the answer", transient=False)
    return Completion([*blocks, *whole], _stop_reason(finish, whole), usage)


def _params(params: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """Values of the configuration are text; one that reads as JSON is sent as what it says."""
    for key, text in params.items():
        try:
            yield key, json.loads(text)
        except ValueError:
            yield key, text


def _system(system: str) -> list[dict[str, Any]]:
    return [{"role": "system", "content": system}] if system else []


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": tool["name"], "description": tool["description"], "parameters": tool["input_schema"]}
    return {"type": "function", "function": function}


def _messages(messages: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for message in messages:
        yield from (_assistant if message["role"] == "assistant" else _user)(message["content"])


def _user(content: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Results of tools are messages of their own and come first: they must follow their calls directly."""
    for block in content:
        if block.get("type") == "tool_result":
            yield {"role": "tool", "tool_call_id": block.get("tool_use_id", ""), "content": _result(block)}
    rest = [block for block in content if block.get("type") != "tool_result"]
    if all(block.get("type") == "text" for block in rest):
        if rest:
            yield {"role": "user", "content": "\n\n".join(str(block.get("text", "")) for block in rest)}
    else:
        yield {"role": "user", "content": [_part(block) for block in rest]}


def _result(block: Mapping[str, Any]) -> str:
    content = block.get("content", "")
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return f"Error: {text}" if block.get("is_error") and not text.lower().startswith("error") else text


def _part(block: Mapping[str, Any]) -> dict[str, Any]:
    kind = str(block.get("type"))
    if kind == "text":
        return {"type": "text", "text": str(block.get("text", ""))}
    if kind in _MEDIA:
        return {"type": kind, kind: block.get(kind)}
    return {"type": "text", "text": f"[a block of type {kind} that this endpoint has no form for]"}


def _assistant(content: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Thinking is not sent back: the protocol has no place for it."""
    text = "".join(str(block.get("text", "")) for block in content if block.get("type") == "text")
    calls = [_sent_call(block) for block in content if block.get("type") == "tool_use"]
    if calls:
        yield {"role": "assistant", "content": text or None, "tool_calls": calls}
    elif text:
        yield {"role": "assistant", "content": text}


def _sent_call(block: Mapping[str, Any]) -> dict[str, Any]:
    arguments = json.dumps(block.get("input", {}), ensure_ascii=False)
    return {"id": block.get("id"), "type": "function", "function": {"name": block.get("name"), "arguments": arguments}}


def _sound(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else _LONE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_sound(key): _sound(item) for key, item in value.items()}
    return [_sound(item) for item in value] if isinstance(value, list | tuple) else value


def _thinking(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return what servers tell of the model's thoughts, under the names that are in use."""
    text = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(text, str) and text:
        yield {"type": "thinking", "thinking": text}


def _texts(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for part in [*parts, {"text": message.get("refusal")}]:
        if isinstance(part.get("text"), str) and part["text"]:
            yield {"type": "text", "text": part["text"]}


def _call(call: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the block of one call, None if its arguments are no JSON object; ids are made up where missing."""
    function = call["function"]
    try:
        arguments = jsontext.decode(function.get("arguments") or "{}").value
    except JsonTextError:
        return None
    if not isinstance(arguments, dict) or not isinstance(function["name"], str):
        return None
    identity = call.get("id")
    made = identity if isinstance(identity, str) and identity else f"call_{uuid.uuid4().hex[:24]}"
    return {"type": "tool_use", "id": made, "name": function["name"], "input": arguments}


def _stop_reason(finish: object, calls: Sequence[object]) -> StopReason:
    if finish == "length":
        return "max_tokens"
    return "tool_use" if calls else "end_turn"


def _usage(usage: object) -> Usage:
    found = usage if isinstance(usage, dict) else {}
    return Usage(
        input=_count(found.get("prompt_tokens")) or 0,
        output=_count(found.get("completion_tokens")) or 0,
        cache_read=_detail(found, "prompt_tokens_details", "cached_tokens"),
        reasoning=_detail(found, "completion_tokens_details", "reasoning_tokens"),
    )


def _detail(usage: Mapping[str, Any], section: str, name: str) -> int | None:
    details = usage.get(section)
    return _count(details.get(name)) if isinstance(details, dict) else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

"""A model that answers from a script: always the same, without a network.

The script is a JSON document, `urn:adf-format:runtime:model-script:1`. A reply belongs to one loop and purpose, may be
bound to the so-manieth call or to a text in the newest message, and is used once unless it says `repeat`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adf_format import jsontext, schemas, smallfile
from adf_format.errors import JsonTextError, MissingFileError, UnreadableError
from adf_format.models import estimate
from adf_format.models.port import Completion, ModelChoice, ModelError, Purpose, StopReason, Usage

SCHEMA = "urn:adf-format:runtime:model-script:1"
ANY_LOOP = "*"


def load(path: Path) -> Scripted:
    """Read a script.

    :raises MissingFileError: no such file
    :raises UnreadableError: it is no script; the message names the first thing that is wrong
    """
    try:
        text = smallfile.read_small(path)
        document = jsontext.decode(text).value
    except FileNotFoundError as error:
        raise MissingFileError("no such script of a model", file=path) from error
    except (OSError, UnicodeDecodeError, JsonTextError) as error:
        raise UnreadableError(f"the script cannot be read: {error}", file=path) from error
    problem = next(schemas.checker(SCHEMA).problems(document), None)
    if problem:
        raise UnreadableError(
            problem.message, file=path, place=problem.pointer or "/", hint="`adf-format schema show` describes scripts"
        )
    return Scripted(document["replies"], name=str(path))


class Scripted:
    """A model that answers from a list of replies (`$defs/reply` of the schema), kept to by all loops together.

    :param name: what the script is called in messages
    """

    def __init__(self, replies: Sequence[Mapping[str, Any]], *, name: str = "the script") -> None:
        self._replies = replies
        self._name = name
        self._used: set[int] = set()
        self._calls: Counter[tuple[str, Purpose]] = Counter()
        self._next_id = 0

    @property
    def left(self) -> int:
        """Number of replies that were not used yet; repeating ones do not count."""
        return sum(index not in self._used and not reply.get("repeat") for index, reply in enumerate(self._replies))

    async def complete(
        self,
        *,
        purpose: Purpose,
        loop: str,
        system: str,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],  # noqa: ARG002
        model: ModelChoice,  # noqa: ARG002
    ) -> Completion:
        """Give the first reply that fits; a reply that is an error is used up as well.

        :raises ModelError: the reply is an error, or none is left
        """
        self._calls[loop, purpose] += 1
        reply = self._take(purpose, loop, self._calls[loop, purpose], _newest(messages))
        if "error" in reply:
            raise ModelError(reply["error"]["message"], transient=reply["error"].get("transient", False))
        content = self._content(reply)
        usage = reply.get("usage")
        counted = Usage(**usage) if usage else _guess(system, messages, content)
        return Completion(content, _stop_reason(reply), counted)

    def _take(self, purpose: Purpose, loop: str, number: int, newest: str) -> Mapping[str, Any]:
        for index, reply in enumerate(self._replies):
            if (
                index not in self._used
                and reply.get("loop", "main") in {loop, ANY_LOOP}
                and reply.get("purpose", "turn") == purpose
                and reply.get("turn", number) == number
                and reply.get("when", "") in newest
            ):
                if not reply.get("repeat"):
                    self._used.add(index)
                return reply
        raise ModelError(
            f"{self._name} has no reply for call {number} of loop {loop} (purpose {purpose})", transient=False
        )

    def _content(self, reply: Mapping[str, Any]) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = [
            {"type": kind, kind: reply[kind]} for kind in ("thinking", "text") if kind in reply
        ]
        for call in reply.get("calls", ()):
            self._next_id += 1
            blocks.append(
                {
                    "type": "tool_use",
                    "id": f"call_{self._next_id}",
                    "name": call["name"],
                    "input": call.get("input", {}),
                }
            )
        return blocks


def _stop_reason(reply: Mapping[str, Any]) -> StopReason:
    given: StopReason = reply.get("stop_reason", "tool_use" if reply.get("calls") else "end_turn")
    return given


def _guess(system: str, messages: Sequence[Mapping[str, Any]], content: Sequence[Mapping[str, Any]]) -> Usage:
    sent = estimate.text(system) + estimate.messages(messages)
    return Usage(input=sent, output=estimate.messages([{"content": content}]))


def _newest(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of what came after the last answer, results of tools included."""
    texts: list[str] = []
    for message in reversed(messages):
        if message["role"] == "assistant":
            break
        told = [block.get("text", block.get("content", "")) for block in message["content"]]
        texts[:0] = [text for text in told if isinstance(text, str)]
    return "\n".join(texts)

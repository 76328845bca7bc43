"""What happens in a running agent, as lines for people; harmless on any terminal, whoever wrote the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adf_format.audit import javascript_json
from adf_format.runtime.ports import Happening
from adf_format.terminal import Screen, visible

CUT = 300  # characters of what a tool got or gave
_QUIET_TURNS = frozenset({"chat"})
_LOUD = frozenset({"warn", "error"})


class RunText:
    """Turns happenings into lines.

    :ivar show_answers: whether texts of the model are among them
    """

    def __init__(self, screen: Screen, *, show_answers: bool = True) -> None:
        self._screen = screen
        self._show_answers = show_answers

    def lines(self, happening: Happening) -> Iterator[str]:
        """Yield the lines of one happening, none for what nobody needs to see."""
        draw = getattr(self, f"_{happening.kind}", None)
        if draw is not None:
            yield from draw(happening.loop, happening.data)

    def speech(self, who: str, text: str, color: str = "green") -> Iterator[str]:
        """Yield the lines of what somebody says."""
        name = self._screen.paint(f"{visible(who)}:", color, "bold")
        first, *rest = visible(text, lines=True).split("\n")
        yield self._screen.wrapped(f"{name} {first}", hang=2)
        for line in rest:
            yield self._screen.wrapped(line, indent=2)

    def _row(self, loop: str, data: Mapping[str, Any]) -> Iterator[str]:
        row = data["row"]
        texts = [text for text in _texts(row.blocks) if text.strip()]
        if row.role == "assistant":
            for text in texts if self._show_answers else ():
                yield from self.speech(loop, text)
        elif texts and texts[0].startswith("[from loop:"):
            yield self._dim(f"  {visible(loop)} <- {visible(_cut(texts[0]))}")

    def _turn_started(self, loop: str, data: Mapping[str, Any]) -> Iterator[str]:
        if data["event"] not in _QUIET_TURNS:
            yield self._dim(f"  {visible(loop)} wakes ({visible(str(data['event']))})")

    def _turn_ended(self, loop: str, data: Mapping[str, Any]) -> Iterator[str]:
        if data["status"] != "completed":
            yield self._warning(f"the turn of {loop} was {data['status']}")

    def _tool_called(self, loop: str, data: Mapping[str, Any]) -> Iterator[str]:
        given = javascript_json(data["input"], exact=True)
        yield self._dim(f"  {visible(loop)} calls {visible(data['tool'])} {visible(_cut(given))}")

    def _tool_done(self, loop: str, data: Mapping[str, Any]) -> Iterator[str]:
        color = "red" if data["failed"] else "dim"
        verb = "failed" if data["failed"] else "gave"
        yield self._screen.paint(
            f"  {visible(loop)}: {visible(data['tool'])} {verb} {visible(_cut(data['content']))}", color
        )

    def _compacted(self, loop: str, data: Mapping[str, Any]) -> Iterator[str]:
        kept = "archived" if data["archived"] else "not archived"
        yield self._banner(f"{loop} compacted: {data['removed']} rows became one summary, S{data['seq']} ({kept})")

    def _compaction_failed(self, loop: str, data: Mapping[str, Any]) -> Iterator[str]:
        yield self._warning(f"{loop} could not be compacted: {data['error']}; its history stays")

    def _cleared(self, loop: str, data: Mapping[str, Any]) -> Iterator[str]:
        kept = "archived" if data["archived"] else "not archived"
        yield self._banner(f"{loop} cleared: {data['deleted']} rows ({kept})")

    def _loop_torn_down(self, loop: str, data: Mapping[str, Any]) -> Iterator[str]:
        yield self._banner(f"{loop} removed: {data['entries']} rows archived as loop:{loop}")

    def _state(self, _loop: str, data: Mapping[str, Any]) -> Iterator[str]:
        yield self._banner(f"the agent is {data['state']}")

    def _retrying(self, loop: str, data: Mapping[str, Any]) -> Iterator[str]:
        yield self._warning(f"{loop}: {data['error']}; next try in {data['delay_ms'] / 1000:g} s")

    def _outbound(self, loop: str, data: Mapping[str, Any]) -> Iterator[str]:
        message = data["message"]
        yield self._banner(f"{loop} wrote to {_cut(str(message['to']))}: {_cut(str(message['payload']['content']))}")

    def _log(self, _loop: str, data: Mapping[str, Any]) -> Iterator[str]:
        if data["level"] in _LOUD:
            yield self._warning(f"{data['event']}: {_cut(str(data['message']))}")

    def _dim(self, text: str) -> str:
        return self._screen.paint(text, "dim")

    def _banner(self, text: str) -> str:
        return self._screen.paint(f"-- {visible(text)} --", "cyan")

    def _warning(self, text: str) -> str:
        return self._screen.paint(f"! {visible(text)}", "yellow")


def _texts(blocks: Sequence[Mapping[str, Any]] | None) -> list[str]:
    return [str(block.get("text", "")) for block in blocks or () if block.get("type") == "text"]


def _cut(text: str) -> str:
    return text if len(text) <= CUT else f"{text[:CUT]}… ({len(text):,} characters)"

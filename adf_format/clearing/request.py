"""What is to be cleared, as parts that can be planned and carried out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from adf_format.clearing import documents, inbox, transcript
from adf_format.clearing.archive import Archive
from adf_format.clearing.documents import MIND
from adf_format.clearing.result import Cleared
from adf_format.clearing.slices import Slice
from adf_format.clearing.state import State
from adf_format.errors import UsageError

What = Literal["loop", "mind", "inbox", "all"]
Done = tuple[Cleared, Archive | None]


@dataclass(frozen=True)
class Request:
    """What is to be cleared.

    :ivar what: `all` means the transcripts of all loops, `mind.md` and the inbox (CLS-005)
    :ivar loop: which loop, for `loop`
    :ivar slice: which of its rows, for `loop`
    :ivar document: for `all`, also empty the agent's document, as the reference application does (CLS-004)
    """

    what: What
    loop: str = transcript.MAIN
    slice: Slice = field(default_factory=Slice)
    document: bool = False

    def check(self) -> None:
        """Refuse what does not go together.

        :raises UsageError: a loop or slice of something that has none
        """
        if self.what != "loop" and (self.loop != transcript.MAIN or not self.slice.is_whole):
            raise UsageError("only a transcript has loops and slices", hint="`clear FILE loop --loop NAME --slice A:B`")
        if self.document and self.what != "all":
            raise UsageError("the document is cleared along with everything else or not at all")


@dataclass(frozen=True)
class Part:
    """One part of a request; `clear` runs inside a transaction."""

    plan: Callable[[], Cleared]
    clear: Callable[[], Done]


def parts(state: State, request: Request) -> Iterator[Part]:
    """Yield the parts of a request.

    :raises UsageError: there is no such loop
    """
    if request.what == "loop":
        yield _loop(state, request.loop, request.slice)
    if request.what == "all":
        for name in sorted(transcript.loops(state), key=lambda name: (name != transcript.MAIN, name)):
            yield _loop(state, name, Slice())
    if request.document:
        yield _file(state, "document", documents.primary(state))
    if request.what in ("mind", "all"):
        yield _file(state, "mind", MIND)
    if request.what in ("inbox", "all"):
        yield Part(lambda: inbox.plan(state), lambda: inbox.clear(state))


def _loop(state: State, name: str, part: Slice) -> Part:
    selection = transcript.select(state, name, part)
    return Part(lambda: transcript.plan(selection), lambda: transcript.clear(selection))


def _file(state: State, what: str, path: str) -> Part:
    return Part(lambda: documents.plan(state, what, path), lambda: (documents.clear(state, what, path), None))

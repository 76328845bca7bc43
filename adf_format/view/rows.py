"""One row of a transcript as HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from adf_format.history import Item, Place
from adf_format.view import media, tools
from adf_format.view.colors import identity
from adf_format.view.context import View
from adf_format.view.diff import change
from adf_format.view.html import Safe, el, html
from adf_format.view.index import delivery_key
from adf_format.view.kinds import Said, blocks_of, classify
from adf_format.view.links import here
from adf_format.view.pieces import TEXT, code, details, first_line, icon, left_out, notice, plain, shape, written
from adf_format.view.tools import Result
from adf_format.view.words import counted, interval, short, time

REMEMBERED = 400_000  # characters of a context row that the next one is compared with
KINDS = 40  # kinds of context rows that are remembered
_WORDS = {"owner": "Owner", "trigger": "Trigger", "system": "Notice", "empty": "Empty", "results": "Results"}


class Rows:
    """Renders the rows of one loop, in order."""

    def __init__(self, view: View, loop: str) -> None:
        self._view = view
        self._loop = loop
        self._contexts: dict[str, tuple[int, str]] = {}
        self._shapes: dict[str, Callable[[Item, Said], Safe]] = {
            "context": self._context,
            "delivery": self._delivery,
            "summary": self._summary,
            "trigger": self._line,
            "system": self._line,
            "owner": self._owner,
        }

    def row(self, item: Item, results: Mapping[str, Result], taken: frozenset[str] = frozenset()) -> Safe:
        """Return a row.

        :param results: answers to its calls, by the id of the call
        :param taken: ids of calls beside which its own results are shown already
        """
        said, entry = classify(item), item.place.entry
        kind = "agent" if said.kind == "results" else said.kind
        body = html(
            notice(icon("alert"), item.place.problem, class_="problem") if item.place.problem else None,
            self._shapes[said.kind](item, said) if said.kind in self._shapes else None,
            self._blocks(item.place, said, results, taken),
            _meta(item) if said.kind in ("agent", "summary") else None,
            [self._copy(copy) for copy in item.copies],
        )
        calls = [one for one in blocks_of(entry.content) if one.get("type") == "tool_use"]
        names = " ".join(dict.fromkeys(tools.name_of(one) for one in calls))
        failed = any(one.failed for one in results.values()) or _has_error(entry.content)
        return el(
            "li",
            self._gutter(item),
            el("div", body, class_="body"),
            class_=f"row k-{said.kind}",
            id=self._view.anchor(self._loop, entry.seq),
            data_kind=kind,
            data_tools=names or None,
            data_failed=failed or None,
        )

    def _gutter(self, item: Item) -> Safe:
        entry = item.place.entry
        link = el("a", f"S{entry.seq}", href=here(self._view.anchor(self._loop, entry.seq)), class_="seq")
        return el("div", link, time(entry.created_at, "%H:%M:%S"), class_="gut")

    # --- what stands in the first text

    def _owner(self, item: Item, said: Said) -> Safe:  # noqa: ARG002
        texts = [one["text"] for one in _texts(item.place)]
        if not texts:
            return Safe("")
        bubble = [plain(one, self._view.targets) for one in texts]
        return el("div", el("div", _WORDS["owner"], class_="speaker"), bubble, class_="bubble")

    def _line(self, item: Item, said: Said) -> Safe:
        texts = "\n\n".join(one["text"] for one in _texts(item.place))
        head = [icon("bell" if said.kind == "trigger" else "info"), el("b", _WORDS[said.kind]), " "]
        if len(texts) <= 160 and "\n" not in texts:
            return el("div", head, el("span", texts, dir="auto"), class_="line")
        return details(html(head, el("span", first_line(texts, 120))), plain(texts), class_="line")

    def _context(self, item: Item, said: Said) -> Safe:
        text = "\n\n".join(one["text"] for one in _texts(item.place))[said.start :]
        entry, key = item.place.entry, f"{said.label} {dict(said.options).get('key', '')}"
        before = self._contexts.get(key)
        changed, words = None, None
        if before is not None:
            found = change(before[1], text[:REMEMBERED])
            words = el("span", found.words, class_="delta")
            since = html("What changed since ", el("a", f"S{before[0]}", href=here(f"S{before[0]}")))
            changed = el("div", el("div", since, class_="lab"), found.html()) if found.marked else None
        if key in self._contexts or len(self._contexts) < KINDS:
            self._contexts[key] = entry.seq, text[:REMEMBERED]
        options = [el("span", f"{name} {value}", class_="tag") for name, value in said.options if name != "loop_inject"]
        size = el("span", counted(len(text), "character"), class_="arg")
        head = html(icon("context"), el("b", said.label, class_="name"), options, size, words)
        return details(
            head,
            changed,
            el("div", "In full", class_="lab") if changed else None,
            code(text, TEXT),
            class_="chip context",
        )

    def _delivery(self, item: Item, said: Said) -> Safe:
        texts = [one["text"] for one in _texts(item.place)]
        message = "\n\n".join(texts)[said.start :]
        look, seq = identity(said.label), item.place.entry.seq
        sends = self._view.index.sends.get(delivery_key(said.label, self._loop, texts[0][said.start :]), ())
        sent = max((one for one in sends if one < seq), default=None)
        address = self._view.targets.seq(sent) if sent is not None else None
        link = el("a", f"sent in S{sent}", href=address, class_="jump") if address else None
        who = el("b", shape(look.shape), said.label, class_=f"who {look.css}")
        head = el("div", icon("receive"), "from ", who, link, class_="from")
        shown = el("div", self._view.markdown(message[:TEXT]), class_="md", dir="auto")
        return el("div", head, shown, left_out(message, TEXT), class_=f"card {look.css}")

    def _summary(self, item: Item, said: Said) -> Safe:
        text = "\n\n".join(one["text"] for one in _texts(item.place))[said.start :]
        briefing, line, footer = text.rpartition("\n\n---\n")
        head = el(
            "div", icon("fold"), el("b", "Compacted"), el("span", self._stands_for(item), class_="arg"), class_="from"
        )
        body = el("div", self._view.markdown((briefing if line else text)[:TEXT]), class_="md", dir="auto")
        return el(
            "div", head, body, el("p", footer, class_="foot") if line and footer.strip() else None, class_="banner"
        )

    def _stands_for(self, item: Item) -> Safe:
        match = item.match
        if match is not None:
            checked = self._view.known.survey.checked.get(match.audit_id)
            if checked is not None and checked.seqs:
                span = interval(checked.seqs.lowest or 0, checked.seqs.highest or 0)
                number = counted(checked.seqs.count(), "row")
                return html(f"this briefing stands for {number}, {span}, archived in snapshot {match.audit_id}")
        audited = item.summary is not None and item.summary.audited
        return html("the rows before were archived" if audited else "the rows before were not archived")

    # --- blocks

    def _blocks(self, place: Place, said: Said, results: Mapping[str, Result], taken: frozenset[str]) -> Iterator[Safe]:
        texts_done = said.kind in self._shapes
        for block in blocks_of(place.entry.content):
            match block:
                case {"type": "text", "text": str(text)}:
                    if not texts_done:
                        yield el("div", self._view.markdown(text[:TEXT]), left_out(text, TEXT), class_="md", dir="auto")
                case {"type": "thinking", "thinking": str(text)}:
                    yield _thinking(text)
                case {"type": "tool_use"}:
                    key = block.get("id")
                    result = results.get(key) if isinstance(key, str) else None
                    yield tools.call(self._view, self._loop, place.entry.seq, block, result)
                case {"type": "tool_result"}:
                    if block.get("tool_use_id") not in taken:
                        yield tools.lonely_result(Result(place.entry.seq, block, anchor=False))
                case {"type": "image_url" | "input_audio" | "video_url"}:
                    yield media.block(block)
                case _:
                    label = html(
                        el("b", first_line(str(block.get("type", "?")), 60)),
                        " ",
                        "block of a kind that is not known here",
                    )
                    yield details(label, code(written(block)), class_="chip")

    def _copy(self, copy: Place) -> Safe:
        where = "the live row" if copy.audit_id is None else f"snapshot {copy.audit_id}"
        said = classify(Item(copy))
        blocks = [*self._blocks(copy, Said(said.kind if said.kind == "results" else "agent"), {}, frozenset())]
        head = html(icon("fold"), el("b", "Another version of this row"), f" in {where}")
        return details(head, blocks, class_="chip copy")


def _has_error(content: Any) -> bool:
    return any(block.get("is_error") is True for block in blocks_of(content))


def _texts(place: Place) -> list[dict[str, Any]]:
    blocks = blocks_of(place.entry.content)
    return [one for one in blocks if one.get("type") == "text" and isinstance(one.get("text"), str)]


def _thinking(text: str) -> Safe:
    head = html(icon("think"), el("b", "Thinking", class_="name"), el("span", first_line(text, 90), class_="arg"))
    return details(head, plain(text), class_="chip thinking")


def _meta(item: Item) -> Safe | None:
    entry = item.place.entry
    tokens = entry.tokens if isinstance(entry.tokens, dict) else {}
    names = {
        "input": "in",
        "output": "out",
        "cache_read": "cached",
        "cache_write": "cache written",
        "reasoning": "reasoning",
    }
    parts: list[Any] = [el("span", entry.model[:60], class_="model")] if entry.model else []
    parts += [el("span", f"{short(tokens[key])} {word}") for key, word in names.items() if _counts(tokens.get(key))]
    if type(entry.tokens) is int:
        parts.append(el("span", f"{short(entry.tokens)} tokens"))
    return el("div", parts, class_="meta") if parts else None


def _counts(value: Any) -> bool:
    return type(value) is int and value > 0

"""Ada's transcripts: what is live, and what was archived before."""

from __future__ import annotations

from typing import Any

from adf_format.sample.story import MODEL, ms

Row = dict[str, Any]
Block = dict[str, Any]

ORD_FROM = 28  # order told by `ord`, snapshots found by seq
LOOPS_FROM = 29
SUMMARY_TOKENS_FROM = 24  # the summary row carries the usage of the call that wrote it (CMP-029)


def live(version: int) -> list[Row]:
    """Return the rows of `adf_loop`, in order of `seq`; `ord` and `loop` are set where the version has them."""
    kept = _compaction() if version >= ORD_FROM else []
    rest = _inner_loop() if version >= LOOPS_FROM else _afternoon()
    return [*kept, _summary(version), *_morning(), *rest]


def archived(version: int) -> list[Row]:
    """Return the rows of main that a compaction archived: all of them before 28, the kept tail not from 28 on."""
    first = [
        _row(1, "user", _text("[Context: system_prompt] You are Ada. You keep the log of the garden.")),
        _row(2, "user", _text("Hello Ada! The beans in bed one are ripe: 2.5 kg. 🌱")),
        _answer(3, _thinking("I should write that down."), _call("toolu_00", "fs_read", {"path": "notes/plan.md"})),
        _row(4, "user", _result("toolu_00", "# Plan of the beds")),
        _answer(5, _text("Two and a half kilos of beans — a good start. I noted it."), tokens=(610, 38)),
        _row(6, "user", _text("Thank you. How are the peas?")),
    ]
    if version >= ORD_FROM:
        return first
    peas = _call("toolu_01", "fs_read", {"path": "imported/peer/report.csv"})
    return [*first, _answer(7, peas, tokens=(650, 21)), _row(8, "user", _result("toolu_01", "2,peas,1.75"))]


def drafter() -> list[Row]:
    """Return the transcript of a loop that was deleted again."""
    return [
        _row(20, "user", _text("[from loop:main] Draft the spring letter of the garden club.")),
        _answer(21, _text("Dear neighbours, the garden is open again."), tokens=(300, 44)),
    ]


def entry(row: Row) -> Row:
    """Return a row as an entry of a snapshot (AUD-020): parsed, without NULLs, without its loop."""
    names = ("seq", "role", "content_json", "model", "tokens", "created_at", "ord")
    return {name: row[name] for name in names if row.get(name) is not None}


def _compaction() -> list[Row]:
    call = _call("toolu_01", "loop_compact", {"instructions": "keep the yields"})
    return [
        _answer(7, _text("I tidy up before I go on."), call, tokens=(650, 21)),
        _row(8, "user", _result("toolu_01", "Compaction has begun.")),
    ]


def _summary(version: int) -> Row:
    text = (
        "[Loop Compacted, audited] Bed one gave 2.5 kg of beans [S2]. Open: how the peas are doing [S6]."
        "\n\n---\nThis is what remains of the earlier conversation."
    )
    found = _row(9, "user", _text(text)) | ({"ord": 6} if version >= ORD_FROM else {})
    if version >= SUMMARY_TOKENS_FROM:
        found |= {"model": MODEL, "tokens": {"input": 900, "output": 60}}
    return found


def _morning() -> list[Row]:
    write = {"path": "notes/plan.md", "content": "# Plan of the beds\n"}
    asked = [_thinking("May, because of the frost."), _text("I move bed three."), _call("toolu_02", "fs_write", write)]
    return [
        _row(10, "user", _text("Pumpkins in bed three: April or May?")),
        _answer(11, *asked, tokens=(410, 57)),
        _row(12, "user", _result("toolu_02", "Written: notes/plan.md")),
        _answer(13, _text("May. The last frost comes late here, so I changed the plan."), tokens=(480, 33)),
        _row(14, "user", _text("[Context: system_prompt] You are Ada. You keep the log of the garden.")),
    ]


def _afternoon() -> list[Row]:
    return [
        _row(15, "user", _text("Is the report of the neighbours in?")),
        _answer(16, _call("toolu_03", "fs_read", {"path": "imported/peer/report.csv"}), tokens=(520, 19)),
        _row(17, "user", _result("toolu_03", "bed,crop,kg")),
        _row(18, "user", _text("Take your time.")),
        _answer(19, _text("It is: 2.5 kg of beans and 1.75 kg of peas."), tokens=(560, 24)),
    ]


def _inner_loop() -> list[Row]:
    report = {"loop": "main", "message": "Bed two needs water today."}
    rows = [
        _row(15, "user", _text("[from loop:main] Have a look at the beds.")),
        _answer(16, _call("toolu_03", "loop_send", report), tokens=(200, 25)),
        _row(17, "user", _result("toolu_03", "Delivered to main.")),
        _row(18, "user", _text("[from loop:gardener] Bed two needs water today.")),
        _answer(19, _text("I ask Grace to water bed two."), tokens=(560, 24)),
    ]
    return [row | {"loop": "gardener" if row["seq"] < 18 else "main"} for row in rows]


def _row(seq: int, role: str, *blocks: Block) -> Row:
    return {"seq": seq, "role": role, "content_json": list(blocks), "created_at": ms(seq)}


def _answer(seq: int, *blocks: Block, tokens: tuple[int, int] = (590, 30)) -> Row:
    usage = {"input": tokens[0], "output": tokens[1]}
    return _row(seq, "assistant", *blocks) | {"model": MODEL, "tokens": usage}


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _thinking(text: str) -> Block:
    return {"type": "thinking", "thinking": text}


def _call(call_id: str, name: str, arguments: Row) -> Block:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def _result(call_id: str, content: str) -> Block:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": False}

"""Strategies that draw plans. They are written by hand from the schemas, and every plan without a fault is valid."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from adf_conformance.files.faults import FAULTS
from adf_conformance.files.shapes import SHAPES

Draw = Any
LOOPS = ("main", "gardener", "r2")
_WORDS = st.sampled_from(["a", "Hello", "héllo 😀", "[S3]", "[Context: x] y", "日本語", "\u2028", "'; --", "0", "<b>"])
texts = st.one_of(_WORDS, st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
_ids = st.sampled_from(["toolu_1", "toolu_2", "call-7"])
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcde"), inner, max_size=3),
    max_leaves=6,
)
_text = st.builds(lambda text: {"type": "text", "text": text}, texts)
_thinking = st.builds(lambda text: {"type": "thinking", "thinking": text}, texts)
_tool_use = st.builds(
    lambda id_, input_: {"type": "tool_use", "id": id_, "name": "fs_read", "input": {"value": input_}}, _ids, _json
)
_tool_result = st.builds(
    lambda id_, text, error: {"type": "tool_result", "tool_use_id": id_, "content": text, **error},
    _ids,
    texts,
    st.sampled_from([{}, {"is_error": True}]),
)
_usage = st.builds(lambda i, o: {"input": i, "output": o}, st.integers(0, 200_000), st.integers(0, 5000))


@st.composite
def entries(draw: Draw, seq: int, loop: str) -> dict[str, Any]:
    """Draw one row."""
    role = draw(st.sampled_from(["user", "assistant"]))
    if role == "user":
        return _row(seq, role, draw(st.lists(_text | _tool_result, max_size=3)), loop)
    row = _row(seq, role, draw(st.lists(_text | _thinking | _tool_use, min_size=1, max_size=3)), loop)
    if draw(st.booleans()):
        row |= {"model": "example-model", "tokens": draw(_usage)}
    return row


def _row(seq: int, role: str, blocks: list[Any], loop: str) -> dict[str, Any]:
    return {"seq": seq, "role": role, "blocks": blocks, **({"loop": loop} if loop != "main" else {})}


@st.composite
def transcripts(draw: Draw, version: int, least: int = 0) -> dict[str, Any]:
    """Draw rows of one or several loops, some of them archived, with the summaries that stand for those."""
    loops = draw(st.sampled_from([LOOPS[:1], LOOPS[:2], LOOPS])) if version >= 29 else LOOPS[:1]
    gaps = draw(st.lists(st.integers(1, 3), min_size=least, max_size=14))
    rows, seq = [], 0
    for gap in gaps:
        seq += gap
        rows.append(draw(entries(seq, draw(st.sampled_from(loops)))))
    live: list[dict[str, Any]] = []
    snapshots: list[dict[str, Any]] = []
    for loop in loops:
        mine = [row for row in rows if row.get("loop", "main") == loop]
        kept, made, seq = draw(_compacted(mine, loop, version, seq))
        live, snapshots = live + kept, snapshots + made
    plan: dict[str, Any] = {"version": version, "entries": sorted(live, key=lambda row: row["seq"])}
    return plan | {"snapshots": snapshots, "mark": seq + draw(st.integers(0, 3))}


@st.composite
def _compacted(draw: Draw, rows: list[Any], loop: str, version: int, seq: int) -> tuple[list[Any], list[Any], int]:
    """Archive some of the first rows of a loop, once or twice, with a summary before the rest (CMP-025)."""
    snapshots = []
    for _ in range(draw(st.integers(0, 2))):
        cut = draw(st.integers(0, len(rows)))
        if not cut:
            continue
        gone = [{key: value for key, value in row.items() if key != "loop"} for row in rows[:cut]]
        source = f"loop:{loop}" if version >= 29 else "loop"
        snapshots.append({"source": source, "entries": gone, "quality": draw(st.sampled_from([0, 5, 11]))})
        rows = rows[cut:]
        if version >= 28 and draw(st.booleans()):
            seq += 1
            summary = _row(seq, "user", [{"type": "text", "text": "[Loop Compacted, audited] So far so good."}], loop)
            keys = [row.get("ord", row["seq"]) for row in rows]
            rows = [{**summary, **({"ord": min(keys) - 1} if keys else {})}, *rows]
    return rows, snapshots, seq


MESSAGE = {
    "version": "1.0",
    "network": "devnet",
    "id": "msg-in-0001",
    "timestamp": "2026-01-01T00:00:00.000Z",
    "from": "did:key:z6MkPeer",
    "to": "did:key:z6MkAda",
    "reply_to": "http://127.0.0.1:7295/agents/peer/inbox",
    "payload": {"content": "Hello", "sent_at": "2026-01-01T00:00:00.000Z"},
}
OTHER_SNAPSHOTS: tuple[dict[str, Any], ...] = (
    {"source": "inbox_message", "value": MESSAGE},
    {"source": "outbox_message", "value": {**MESSAGE, "id": "msg-out-0001"}},
    {
        "source": "file",
        "value": {"path": "notes/x.md", "content_base64": "IyB4Cg==", "mime_type": "text/markdown", "size": 4},
    },
)
_DECLARED = (
    {"name": "gardener", "goal": "Tend the notes.", "enabled": True, "autostart": True, "tools": ["fs_read"]},
    {"name": "r2", "goal": "Read.", "enabled": False, "tools": []},
)


@st.composite
def plans(draw: Draw, versions: tuple[int, int], least: int = 0) -> dict[str, Any]:
    """Draw the plan of a valid file.

    :param versions: oldest and newest storage version
    :param least: rows that there are at least, in the transcript and the archive together
    """
    version = draw(st.integers(*versions))
    plan: dict[str, Any] = draw(transcripts(version, least))
    plan["snapshots"] += draw(
        st.lists(st.sampled_from(OTHER_SNAPSHOTS), max_size=3, unique_by=lambda one: str(one["source"]))
    )
    plan["worked"] = draw(st.booleans())
    plan["journal"] = draw(st.sampled_from(["wal", "delete"]))
    if version >= 29:
        plan["config"] = {"loops": list(_DECLARED)}
    return plan


@st.composite
def rich_plans(draw: Draw, version: int) -> dict[str, Any]:
    """Draw the plan of a valid file that has something of everything: what shapes and faults are made of."""
    plan: dict[str, Any] = draw(transcripts(version, 3))
    seq = plan["mark"]
    source = "loop:main" if version >= 29 else "loop"
    archived = [_row(seq + n, "user", [{"type": "text", "text": f"archived {n}"}], "main") for n in (1, 2, 3)]
    live = [_row(seq + n, "user", [{"type": "text", "text": f"live {n}"}], "main") for n in (4, 5)]
    plan["entries"], plan["mark"] = [*plan["entries"], *live], seq + 5
    plan["snapshots"] = [{"source": source, "entries": archived}, *plan["snapshots"], *OTHER_SNAPSHOTS]
    plan |= {"worked": True, "journal": draw(st.sampled_from(["wal", "delete"]))}
    return plan | ({"config": {"loops": list(_DECLARED)}} if version >= 29 else {})


@st.composite
def odd_plans(draw: Draw, name: str, versions: tuple[int, int]) -> dict[str, Any]:
    """Draw the plan of a file with one legal shape or one single fault."""
    oddity = SHAPES.get(name) or FAULTS[name]
    fitting = [version for version in range(versions[0], versions[1] + 1) if oddity.fits(version)]
    plan: dict[str, Any] = draw(rich_plans(draw(st.sampled_from(fitting))))
    return plan | ({"odd": [name]} if name in SHAPES else {"fault": name})


def fits(name: str, versions: tuple[int, int]) -> bool:
    """Say whether a shape or fault makes sense at any of the storage versions."""
    oddity = SHAPES.get(name) or FAULTS[name]
    return any(oddity.fits(version) for version in range(versions[0], versions[1] + 1))

"""Checks of the profile `reader`."""

from __future__ import annotations

from functools import partial
from typing import Any

from adf_conformance.checks.bench import Bench
from adf_conformance.checks.registry import check
from adf_conformance.checks.validator import versions
from adf_conformance.schedule import Case, Scene

FILE = "agent.adf"
JUDGES = ["reader"]


def _ask(scene: Scene, method: str, **params: Any) -> None:
    step = {"do": "call", "method": method, "params": {"path": FILE, **params}, "expect": "any"}
    scene.run(step)


def _make(scene: Scene, plan: dict[str, Any]) -> None:
    scene.run({"do": "make", "plan": plan, "file": FILE})


def _loops(scene: Scene) -> list[str]:
    view = scene.look(FILE)
    return sorted({"main", *view.loops, *view.declared_loops})


def _transcripts(scene: Scene, plan: dict[str, Any]) -> None:
    _make(scene, plan)
    for loop in _loops(scene):
        _ask(scene, "transcript/read", loop=loop)


def _snapshots(scene: Scene, plan: dict[str, Any]) -> None:
    _make(scene, plan)
    for snapshot in scene.look(FILE).snapshots:
        _ask(scene, "audit/read", id=snapshot.id)


def _resolving(scene: Scene, plan: dict[str, Any]) -> None:
    _make(scene, plan)
    view = scene.look(FILE)
    highest = view.sequence.get("adf_loop", 0)
    questions = [(loop, seq) for loop in _loops(scene) for seq in range(1, highest + 3)]
    for loop, seq in questions[:: max(len(questions) // 25, 1)]:
        _ask(scene, "audit/resolve", loop=loop, seq=seq)


@check("reader.transcripts", generated=True)
def transcripts(bench: Bench) -> None:
    """Transcripts of generated files are read."""
    from adf_conformance.files.strategies import plans

    bench.explore(plans(versions(bench), 2), _transcripts, _case("transcripts", bench), share=True)


@check("reader.snapshots", generated=True)
def snapshots(bench: Bench) -> None:
    """Every snapshot of generated files is decoded."""
    from adf_conformance.files.strategies import plans

    for plan in _legacy(bench):
        bench.watch(partial(_snapshots, plan=plan), _case("batches", bench), share=True)
    bench.explore(plans(versions(bench), 4), _snapshots, _case("snapshots", bench), share=True)


@check("reader.resolving", generated=True)
def resolving(bench: Bench) -> None:
    """Entries that are live, archived, of other loops, or nowhere are looked for in generated files."""
    from adf_conformance.files.strategies import plans

    for plan in _legacy(bench):
        bench.watch(partial(_resolving, plan=plan), _case("eras", bench), share=True)
    bench.explore(plans(versions(bench), 4), _resolving, _case("resolving", bench), share=True)


def text(seq: int, said: str = "", **more: Any) -> dict[str, Any]:
    """Return a row of a plan with one text block."""
    return {"seq": seq, "role": "user", "blocks": [{"type": "text", "text": said or f"row {seq}"}], **more}


def _legacy(bench: Bench) -> list[dict[str, Any]]:
    """Return plans with snapshots of every era: old names, no ranges, batches of messages."""
    batch = [{"id": "a", "from": "x", "content": "one"}, {"id": "b", "from": "y", "content": "two"}]
    old: list[dict[str, Any]] = [{"source": "loop", "entries": [text(1), text(2)]}, {"source": "inbox", "value": batch}]
    old += [{"source": "outbox", "value": batch}, {"source": "file", "value": {"path": "a", "content_base64": ""}}]
    plans: list[dict[str, Any]] = [
        {"version": version, "entries": [text(5)], "snapshots": old} for version in (21, 27, 28, 29, 32)
    ]
    low, high = versions(bench)
    return [plan for plan in plans if low <= plan["version"] <= high]


def _case(name: str, bench: Bench, steps: list[dict[str, Any]] | None = None) -> Case:
    return Case(name, bench.check, steps or [], list(JUDGES))


def _reads(*loops: str, odd: str = "", **plan: Any) -> list[dict[str, Any]]:
    """Return the steps of a case that reads transcripts of one file."""
    made = {"version": 32, "entries": [text(1), text(2), text(3)], **plan, **({"odd": [odd]} if odd else {})}
    asked = [
        {"do": "call", "method": "transcript/read", "params": {"path": FILE, "loop": loop}, "expect": "any"}
        for loop in loops or ("main",)
    ]
    return [{"do": "make", "plan": made, "file": FILE}, *asked]


def _decodes(*ids: int, **plan: Any) -> list[dict[str, Any]]:
    made = {"version": 32, "entries": [text(90)], **plan}
    asked = [
        {"do": "call", "method": "audit/read", "params": {"path": FILE, "id": number}, "expect": "any"}
        for number in ids
    ]
    return [{"do": "make", "plan": made, "file": FILE}, *asked]


def _finds(*seqs: int, loop: str = "main", **plan: Any) -> list[dict[str, Any]]:
    made = {"version": 32, "entries": [text(90)], **plan}
    asked = [
        {"do": "call", "method": "audit/resolve", "params": {"path": FILE, "loop": loop, "seq": seq}, "expect": "any"}
        for seq in seqs
    ]
    return [{"do": "make", "plan": made, "file": FILE}, *asked]


def _make_step(**plan: Any) -> dict[str, Any]:
    return {"do": "make", "plan": {"version": 32, **plan}, "file": FILE}


def _snapshot(*seqs: int, **more: Any) -> dict[str, Any]:
    return {"source": "loop:main", "entries": [text(seq) for seq in seqs], **more}


def _cases() -> dict[str, list[dict[str, Any]]]:
    """Return what a drawn file does not reach surely."""
    cut, noise = _snapshot(1, 2, damage="cut"), _snapshot(3, 4, damage="noise")
    refused: dict[str, Any] = {"do": "call", "method": "transcript/read", "params": {"path": FILE, "loop": "main"}}
    refused |= {"expect": "refused", "law": "reader.unreadable-refused"}
    return {
        "summary-first": _reads(entries=[text(3), text(4), text(9, "[Loop Compacted] a", ord=2)]),
        "ties": _reads(entries=[text(3), text(4, ord=3), text(2, ord=3), text(5, ord=1)]),
        "not-wal": _reads(journal="delete"),
        "several-loops": _reads("main", "r2", entries=[text(1), text(2, loop="r2"), text(3), text(4, loop="r2")]),
        "other-loop": _finds(2, 3, entries=[text(2, loop="r2"), text(90)], snapshots=[_snapshot(3, source="loop:r2")]),
        "quality": _decodes(1, 2, snapshots=[_snapshot(1, quality=0), _snapshot(2, quality=11)]),
        "negative": _reads(entries=[text(1), text(2, ord=-5), text(3, ord=0)]),
        "log": _reads(log=2, mark=3),
        "log-old-version": _reads(log=2, mark=3, version=28),
        "log-cut": _reads(log=3, log_cut=True, mark=3),
        "empty": _reads("main", "gardener", "nobody", entries=[], config={"loops": [_gardener()]}),
        "unknown-loop": _reads("nobody", "Main", "main "),
        **{odd: _reads(odd=odd) for odd in _ODD},
        "damaged": _decodes(1, 2, 3, snapshots=[cut, noise, _snapshot(5, 6)]),
        "no-such-snapshot": _decodes(7, snapshots=[_snapshot(1)]),
        "wrong-size": _decodes(1, snapshots=[{**_snapshot(1, 2), "size": "utf8", "entries": [text(1, "héllo 😀")]}]),
        "large": _decodes(1, snapshots=[_snapshot(*range(1, 5001))], entries=[text(6000)]),
        "gap": _finds(2, 1, 5, 6, snapshots=[_snapshot(1, 5)]),
        "null-range": _finds(1, 2, 3, snapshots=[{**_snapshot(1, 2), "source": "loop", "range": None}]),
        "overlap": _finds(1, 2, 3, 4, 5, snapshots=[_snapshot(1, 4), _snapshot(2, 5), _snapshot(3)]),
        "live-first": _finds(90, snapshots=[{**_snapshot(), "entries": [text(90, "as it was")]}]),
        "damaged-in-the-way": _finds(
            1, 2, snapshots=[{**cut, "range": [1, 2]}, _snapshot(1, 2), {**noise, "range": [1, 9]}]
        ),
        "no-database": [_make_step(fault="not-a-database"), refused],
        "no-agent": [_make_step(fault="no-meta-table"), refused],
    }


_ODD = (
    "unknown-table",
    "virtual-table",
    "unknown-column",
    "column-order",
    "lone-surrogate",
    "large-number",
    "bare-tokens",
    "empty-content",
    "unknown-block",
    "journal-delete",
)


def _gardener() -> dict[str, Any]:
    return {"name": "gardener", "goal": "Tend.", "enabled": True, "tools": []}


@check("reader.cases")
def cases(bench: Bench) -> None:
    """What drawn files do not reach surely: logs, damage, oddities, ties."""
    for name, steps in _cases().items():
        if steps[0]["plan"]["version"] <= versions(bench)[1]:
            bench.play(_case(name, bench, steps), share=True)

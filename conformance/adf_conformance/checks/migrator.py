"""Checks of the profile `migrator`."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import partial
from typing import Any

from adf_conformance.checks.bench import Bench
from adf_conformance.checks.reader import text
from adf_conformance.checks.registry import check
from adf_conformance.checks.validator import versions
from adf_conformance.files.encoding import json_text
from adf_conformance.schedule import Case, Scene, Step

FILE = "agent.adf"
JUDGES = ["migrator"]
CRASHES = 6  # kills in one run, at moments that grow


def _migrate(to: int | None = None, **more: Any) -> Step:
    params = {"path": FILE} | ({} if to is None else {"to": to})
    return {"do": "call", "method": "file/migrate", "params": params, "expect": "any", **more}


def _make(**plan: Any) -> Step:
    return {"do": "make", "plan": {"version": 27, "entries": [text(1), text(2)], **plan}, "file": FILE}


@check("migrator.generated", generated=True, weight=1.5)
def generated(bench: Bench) -> None:
    """Files of every era are migrated to a version between or the newest, and then again."""
    from hypothesis import strategies as st

    from adf_conformance.files.legacy import legacy_plans

    low, high = versions(bench)
    targets = st.one_of(st.none(), st.integers(low, high))

    for plan in _certain(low, high):
        for target in (None, (low + high) // 2):
            bench.watch(partial(play, drawn=(plan, target)), _case("certain", bench), share=True)
    for version in range(low, high):
        bench.draw(st.tuples(legacy_plans((version, version)), st.none()), play, _case("era", bench), share=True)
    bench.explore(st.tuples(legacy_plans((low, high - 1)), targets), play, _case("generated", bench), share=True)


def play(scene: Scene, drawn: tuple[dict[str, Any], int | None]) -> None:
    """Migrate the file of a plan to a version, and then again."""
    plan, to = drawn
    target = max(to, plan["version"]) if to else None
    scene.run({"do": "make", "plan": plan, "file": FILE})
    scene.run(_migrate(target))
    scene.run(_migrate(target))


def _certain(low: int, high: int) -> Iterator[dict[str, Any]]:
    """Yield plans with everything that a step acts upon, so that each "when" occurs in every run."""
    from adf_conformance.files import layout, legacy

    for meta, mind in ((legacy.ATTESTATIONS[2], "\ufeff\n"), ("[{", "# Mind\n\nMoss.\n")):
        config = copy.deepcopy({key: layout.default_config(low)[key] for key in ("model", "context", "limits")})
        config["model"] |= {"max_loop_messages": 40, "thinking_budget": 1024}
        config["limits"] |= {"max_loop_rows": 500, "max_daily_budget_usd": 3}
        watch = {"enabled": True, "targets": [{"scope": "agent", "filter": {"watch": "document.*"}, "debounce_ms": 9}]}
        triggers = {**layout.default_config(low).get("triggers", {}), "on_file_change": watch}
        names = {"document.md": "# Ada\n", "mind.md": mind, "notes/a.md": "a"}
        value = meta if isinstance(meta, str) else json_text(meta)
        yield {
            "version": low,
            "worked": True,
            "entries": [text(5), text(6)],
            "mark": 9,
            "snapshots": [*legacy.SNAPSHOTS],
            "config": {**config, "triggers": triggers, "bare_prompt": True},
            "files": [{"path": path, "text": said, "protection": "no_delete"} for path, said in names.items()],
            "meta": {"adf_attestations": [value, "readonly"], "counter": ["8", "increment"]} if low < 24 else {},
            "odd": list(legacy.ODD) if low < high else [],
        }


@check("migrator.cases")
def cases(bench: Bench) -> None:
    """What must be refused, and what lies beside the file."""
    for name, steps in _cases(versions(bench)[1]).items():
        bench.play(_case(name, bench, steps), share=True)


def _refused(law: str, plan: Step, to: int | None = None) -> list[Step]:
    """Return the steps of a case whose migration is refused and leaves every byte as it was."""
    law = f"migrator.{law}"
    untouched = {"do": "demand", "law": law, "that": {"unchanged": "before"}}
    return [plan, {"do": "mark", "as": "before", "file": FILE}, _migrate(to, expect="refused", law=law), untouched]


def _sql(law: str, sql: str, right: Any) -> Step:
    return {"do": "demand", "law": f"migrator.{law}", "that": {"sql": sql, "is": right, "file": FILE}}


def _cases(newest: int) -> dict[str, list[Step]]:
    newer = _make(version=newest, meta={"adf_schema_version": [str(newest + 1), "readonly"]})
    logged = "SELECT count(*) FROM adf_loop WHERE content_json LIKE '%logged %'"
    copied = {"do": "call", "method": "file/migrate", "params": {"path": FILE}, "expect": "any"}
    return {
        "newer": _refused("newer-refused", newer),
        "backwards": _refused("backwards-refused", _make(version=28), 27),
        "version-unreadable": _refused("version-unreadable", _make(fault="version-not-numeric")),
        "no-database": _refused("not-a-database", _make(fault="not-a-database")),
        "no-agent": _refused("not-a-database", _make(fault="no-meta-table")),
        "log": [_make(log=2), _migrate(expect="ok", law="migrator.log-included"), _sql("log-included", logged, [[2]])],
        "config-broken": [
            _make(fault="config-not-json"),
            _migrate(expect="refused", law="migrator.config-broken-refused"),
            _sql(
                "config-broken-refused",
                "SELECT value IN ('27','28','29','30') FROM adf_meta WHERE key = 'adf_schema_version'",
                [[1]],
            ),
        ],
        "backup-in-the-way": [
            _make(odd=["backup-beside"]),
            {"do": "mark", "as": "backup", "file": FILE + ".bak"},
            copied,
            {"do": "demand", "law": "migrator.backup-not-overwritten", "that": {"member": "backup"}},
        ],
        "index": [
            {"do": "make", "plan": {"version": 27, "odd": ["audit-new-shape"]}, "file": FILE},
            copied,
            _sql(
                "index-when-shape-new",
                "SELECT count(*) FROM sqlite_master WHERE name = 'idx_adf_audit_source_start'",
                [[1]],
            ),
        ],
    }


@check("migrator.crash")
def crash(bench: Bench) -> None:
    """A large file is migrated, and the process killed sooner or later; then it is migrated again."""
    rows = [text(seq, "x" * 400) for seq in range(1, 3001)]
    entries = [text(seq) for seq in range(5000, 5400)]
    snapshots = [{"source": "loop", "entries": entries, "quality": 1} for _ in range(60)]
    plan = {"version": max(21, versions(bench)[0]), "entries": rows, "snapshots": snapshots, "worked": True}
    for number in range(CRASHES):
        case = _case("crash", bench, _crash(plan, 2 * 3**number))
        bench.watch(partial(_played, steps=case.steps), case, shrink=False)


def _played(scene: Scene, steps: list[Step]) -> None:
    scene.play(steps)


def _crash(plan: dict[str, Any], milliseconds: int) -> list[Step]:
    """Return the steps of a crash some time after a migration began; the judge knows what is right at any moment."""
    return [
        {"do": "make", "plan": plan, "file": FILE},
        {"do": "begin", "method": "file/migrate", "params": {"path": FILE}, "as": "migration"},
        {"do": "pause", "ms": milliseconds},
        {"do": "kill"},
        _migrate(),
    ]


def _case(name: str, bench: Bench, steps: list[Step] | None = None) -> Case:
    judges = ["migrator-crash"] if name == "crash" else JUDGES
    return Case(name, bench.check, steps or [], list(judges))

"""Faults that other runtimes had (storage.md 9, loops.md 9), as far as no other law of this folder excludes them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import apsw
import pytest

from adf_format import creation
from adf_format.container import open_readonly
from adf_format.errors import LockedError, NewerSchemaError, UnreadableError
from adf_format.history import transcript
from adf_format.runtime.attachments import attachments
from adf_format.runtime.store import Store
from adf_format.runtime.store import transcript as streams

from .world import World, config_with, played

AGENT = config_with(
    {"name": "a", "tools": ["loop_send", "sys_set_state"]}, {"name": "b", "tools": []},
    on=["loop_compact", "loop_clear", "msg_delete"],
)  # fmt: skip


async def compacted(world: World) -> None:
    """A history with a summary and a tail."""
    await world.chat()
    await world.answer("main", "", calls=[("loop_compact", {})])
    await world.answer("main", "S", purpose="compaction")
    await world.answer()
    await world.quiet()


@played(AGENT)
async def test_BUG_06_the_last_rows_are_the_last_in_display_order(world: World) -> None:
    """A summary has a high seq and a low place: it is shown once, at the beginning."""
    await compacted(world)
    every = world.agent.store.transcript.seqs("main")
    world.validate_copy()
    with open_readonly(world.path.with_suffix(".copy")) as container:
        for last in range(1, len(every) + 2):
            shown = [item.place.entry.seq for item in transcript(container, "main", last=last)]  # type: ignore[union-attr]
            assert shown == every[-last:]


@played(AGENT)
async def test_BUG_08_a_snapshot_holds_the_rows_as_they_were_deleted(world: World) -> None:
    """Changed in place while the summary was made: the number of rows and the highest seq say nothing of that."""
    await world.chat("before")
    await world.answer("main", "", calls=[("loop_compact", {})])
    await world.asked("main", "compaction")
    changed = '[{"type":"text","text":"after"}]'
    world.agent.store.connection.execute("UPDATE adf_loop SET content_json = ? WHERE seq = 1", (changed,))
    await world.answer("main", "S", purpose="compaction")
    await world.answer()
    await world.quiet()
    assert world.audits()[0][4][0]["content_json"] == [{"type": "text", "text": "after"}]


@played(AGENT)
async def test_BUG_09_no_copies_are_left_or_overwritten(world: World) -> None:
    """What is one transaction needs no backup of the file; one that lies there stays."""
    backup = world.path.with_name(world.path.name + ".bak")
    backup.write_bytes(b"older")
    await compacted(world)
    await world.agent.clear("main")
    await world.agent.delete_loop("a")
    assert backup.read_bytes() == b"older"
    assert not list(world.path.parent.glob("*.bak.*"))


@played(AGENT)
async def test_BUG_10_an_archive_does_not_chase_a_busy_stream_for_ever(world: World) -> None:
    """Three attempts beside the others, the fourth holds them up: all rows are in one snapshot."""
    attempts = 0
    real = asyncio.to_thread

    async def interfering(*given: Any) -> Any:
        nonlocal attempts
        attempts += 1
        result = await real(*given)
        world.agent.store.transcript.append("a", "user", [{"type": "text", "text": f"late {attempts}"}])
        return result

    world.agent.send("main", "a", "first")
    streams.asyncio.to_thread = interfering  # type: ignore[attr-defined]
    try:
        deleted = await world.agent.delete_loop("a")
    finally:
        streams.asyncio.to_thread = real  # type: ignore[attr-defined]
    assert attempts == streams.ATTEMPTS
    assert deleted.archived == 1 + attempts
    assert world.agent.store.transcript.count("a") == 0


@played(AGENT)
async def test_BUG_11_the_mark_of_a_clean_close_is_gone_from_the_main_file(world: World) -> None:
    """While an agent runs, the file without its log must not claim to have been closed."""
    await world.restart()
    copy = world.path.with_suffix(".alone")
    copy.write_bytes(world.path.read_bytes())
    alone = apsw.Connection(copy.as_uri() + "?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    assert alone.execute("SELECT count(*) FROM adf_meta WHERE key = 'adf_clean_close'").get == 0
    alone.close()
    await world.agent.stop()
    with open_readonly(world.path) as container:
        sql = "SELECT protection FROM adf_meta WHERE key = 'adf_clean_close'"
        assert container.connection.execute(sql).get == "readonly"
    world.agent = world._agent()
    await world.agent.start()


@played(AGENT)
async def test_BUG_12_a_reader_keeps_its_log(world: World) -> None:
    """Stopping does not take the log from under somebody who reads."""
    await world.chat()
    reader = apsw.Connection(str(world.path), flags=apsw.SQLITE_OPEN_READONLY)
    rows = reader.execute("SELECT count(*) FROM adf_loop").get
    await world.answer()
    await world.quiet()
    await world.agent.stop()
    assert reader.execute("SELECT count(*) FROM adf_loop").get == rows + 1
    reader.close()
    world.agent = world._agent()
    await world.agent.start()


@played(AGENT)
async def test_BUG_13_a_second_runtime_is_told_that_the_file_is_in_use(world: World) -> None:
    """Not that it is damaged; nothing appears beside it, and the first one goes on."""
    with pytest.raises(LockedError, match="running already"):
        Store(world.path, world.clock.now)
    assert not list(world.path.parent.glob("*.corrupt*"))
    await world.chat()
    await world.answer()
    await world.quiet()


@pytest.mark.parametrize(("version", "error"), [(28, UnreadableError), (99, NewerSchemaError)])
def test_BUG_14_other_versions_are_refused_untouched(tmp_path: Path, version: int, error: type[Exception]) -> None:
    """An older file is to be migrated, with its backup, by who migrates; a newer one is left alone."""
    path = tmp_path / "a.adf"
    creation.new(path, name="x", schema_version=min(version, 32))
    if version > 32:
        connection = apsw.Connection(str(path))
        connection.execute("UPDATE adf_meta SET value = '99' WHERE key = 'adf_schema_version'")
        connection.close()
    before = path.read_bytes()
    with pytest.raises(error):
        Store(path, lambda: 1)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["a.adf"]


@played(AGENT)
async def test_BUG_21_deleting_messages_needs_a_filter_that_is_known(world: World) -> None:
    """A filter that names nothing must not become all of them."""
    insert = "INSERT INTO adf_inbox (id, \"from\", content, received_at) VALUES ('1', 'y', 'z', 1)"
    world.agent.store.connection.execute(insert)
    await world.chat()
    for given in ({}, {"status": ""}, {"to": "x"}):
        await world.use("msg_delete", given)
    assert world.agent.store.connection.execute("SELECT count(*) FROM adf_inbox").get == 1
    await world.answer()


@played(AGENT)
async def test_BUG_22_snapshots_of_one_millisecond_have_an_order(world: World) -> None:
    """The clock stands still; ids tell which came first."""
    for number in range(4):
        world.agent.send("main", "a", str(number))
        await world.agent.clear("a")
    assert [audit[1] for audit in world.audits()] == [1, 2, 3, 4]


@played(AGENT)
async def test_BUG_23_compacting_is_a_signal_to_the_own_turn_alone(world: World) -> None:
    """Called from anywhere else it changes no row; what the model calls directly happens (LOOP-256, regression 49)."""
    from adf_format.runtime.tools import checks
    from adf_format.runtime.tools.protocol import Call, Compact

    await world.chat()
    before = world.rows()
    result = await checks.run(Call("code", "loop_compact", {}, "main"), world.agent)
    assert isinstance(result.effect, Compact)
    assert world.rows() == before
    await world.answer()
    await world.quiet()
    assert all(call.purpose == "turn" for call in world.model.log)


@played(AGENT)
async def test_BUG_24_a_bare_number_is_no_usage(world: World) -> None:
    """Old rows hold one: the size is estimated then."""
    world.agent.store.transcript.append("main", "user", [{"type": "text", "text": "hello"}])
    world.agent.store.transcript.append("main", "assistant", [{"type": "text", "text": "hi"}])
    for tokens in ("123456", '"x"', "{", '{"input":"many"}'):
        world.agent.store.connection.execute("UPDATE adf_loop SET tokens = ? WHERE seq = 2", (tokens,))
        assert world.agent.store.transcript.usage("main") is None
    assert world.agent.pool.loop("main").asking.measure().size < 100
    world.agent.store.connection.execute('UPDATE adf_loop SET tokens = \'{"input":7,"output":3,"cache_read":9}\'')
    assert world.agent.store.transcript.usage("main") == 10


@played(config_with(context={"max_loop_messages": 2}, limits={"max_loop_rows": 2}))
async def test_BUG_25_no_number_of_messages_caps_a_context(world: World) -> None:
    """Keys that once did have no effect."""
    world.checks_turns = False
    for number in range(5):
        await world.chat(f"said-{number}")
        await world.answer()
        await world.quiet()
    text = (await world.chat()).text()
    assert all(f"said-{number}" in text for number in range(5))
    await world.answer()


@played(AGENT, attachments=attachments())
async def test_BUG_27_recurring_timers_are_renewed_in_place(world: World) -> None:
    """One row, however often it fires (BUG-26 concerns files that are migrated)."""
    await world.chat()
    schedule = {"type": "interval", "every_ms": 1000}
    await world.use("sys_set_timer", {"schedule": schedule, "scope": ["agent"], "payload": "tick"})
    await world.answer()
    await world.quiet()
    for _ in range(3):
        await world.clock.advance(1000)
        await world.answer()
        await world.quiet()
    assert list(world.agent.store.connection.execute("SELECT id, run_count FROM adf_timers")) == [(1, 3)]
    world.agent.store.connection.execute("DELETE FROM adf_timers")


@played(AGENT)
async def test_LOOP_044_loop_manage_reaches_no_loop(world: World) -> None:
    """Not even if a declaration that was written by hand lists it."""
    config = world.agent.store.config.read()
    config["loops"][0]["tools"] = ["loop_manage", "loop_send"]
    world.agent.store.config.write(config)
    world.agent.reload()
    world.agent.send("main", "a", "go", wake=True)
    assert "loop_manage" not in (await world.asked("a")).tool_names()
    assert "there is no tool" in await world.use("loop_manage", {"action": "get", "name": "b"}, "a")
    await world.answer("a")
    config["loops"][0]["tools"] = []
    world.agent.store.config.write(config)
    world.agent.reload()


@played(AGENT)
async def test_LOOP_215_ending_its_own_turn_must_be_granted(world: World) -> None:
    """A loop that does not list `sys_set_state` does not have it; the one that does, does."""
    for name in ("a", "b"):
        world.agent.send("main", name, "go", wake=True)
    assert "sys_set_state" in (await world.answer("a")).tool_names()
    assert "sys_set_state" not in (await world.answer("b")).tool_names()


@played(AGENT, attachments=attachments())
async def test_LOOP_238_a_timer_of_main_has_no_stamp(world: World) -> None:
    """NULL stands for `main`, and wakes it."""
    await world.chat()
    schedule = {"type": "delay", "delay_ms": 1000}
    await world.use("sys_set_timer", {"schedule": schedule, "scope": ["agent"], "payload": "tick"})
    await world.answer()
    await world.quiet()
    assert world.agent.store.connection.execute("SELECT loop FROM adf_timers").get is None
    await world.clock.advance(1000)
    assert "tick" in (await world.answer()).text()


@played(AGENT)
async def test_LOOP_257_slices_count_a_summary_where_it_is_displayed(world: World) -> None:
    """Position 0 is the summary, whatever its seq."""
    await compacted(world)
    summary = world.agent.store.transcript.seqs("main")[0]
    assert summary > world.agent.store.transcript.seqs("main")[1]
    await world.agent.clear("main", 0, 1)
    assert summary not in world.agent.store.transcript.seqs("main")
    assert [entry["seq"] for entry in world.audits()[-1][4]] == [summary]
    assert world.audits()[-1][4][0]["ord"] == world.agent.store.transcript.seqs("main")[0] - 1


@played(AGENT)
async def test_LOOP_123_a_runtime_that_stops_refuses_and_does_not_crash(world: World) -> None:
    """The loop tools answer with an error once the agent is still."""
    world.agent.set_state("off")
    await world.quiet()
    assert world.agent.obstacle("a") == "the agent is off"
    assert not world.agent.send("main", "a", "x", wake=True).woke
    world.agent.set_state("active")


@played(AGENT)
async def test_LOOP_134_operations_that_delete_follow_each_other(world: World) -> None:
    """Clears, slices and teardowns of several loops at once: each row is archived once (regression 48)."""
    for name in ("a", "b"):
        for number in range(20):
            world.agent.send("main", name, str(number))
    work = [
        world.agent.clear("a", 0, 5),
        world.agent.clear("b"),
        world.agent.clear("a", -3),
        world.agent.clear("a", 1, 2),
    ]
    counts = [count for count, _ in await asyncio.gather(*work)]
    assert counts == [5, 20, 3, 1]
    archived = [entry["seq"] for audit in world.audits() for entry in audit[4]]
    assert len(archived) == len(set(archived)) == 29
    assert len(world.texts("a")) == 11


def test_LOOP_052_there_is_nothing_else_to_configure() -> None:
    """Fields of older drafts are no fields: the schema of a loop knows eight names."""
    from adf_format.loops.rules import FIELDS, SCHEMA
    from adf_format.schemas import document

    assert set(document(SCHEMA)["properties"]) == set(FIELDS)


def test_slices_leave_what_the_original_leaves(tmp_path: Path) -> None:
    """The rows that survive each slice of a real table, as the original's tool left them (LCL-002)."""
    import os

    folder = os.environ.get("ADF_FORMAT_REAL_FILES", "/tmp/rf")  # noqa: S108 - read only, absent elsewhere
    oracle = Path(folder) / "slice_oracle.json"
    if not oracle.exists():
        pytest.skip("needs the real files")
    for found in json.loads(oracle.read_text())["tables"]:
        orders = [(row["seq"], row["ord"]) for row in found["before"]]
        for number, row in enumerate(found["rows"]):
            path = tmp_path / f"{found['name']}-{number}.adf"
            asyncio.run(_slice(path, orders, row))


async def _slice(path: Path, orders: list[tuple[int, int | None]], row: dict[str, Any]) -> None:
    world = World(path, config_with())
    sql = "INSERT INTO adf_loop (seq, role, content_json, created_at, ord) VALUES (?, 'user', '[]', 1, ?)"
    for seq, order in orders:
        world.agent.store.connection.execute(sql, (seq, order))
    if row["isError"]:
        world.agent.store.close()
        return
    deleted, audited = await world.agent.clear("main", row["args"].get("start"), row["args"].get("end"))
    assert sorted(world.agent.store.transcript.seqs("main")) == sorted(row["surviving_seqs"]), row["args"]
    assert deleted == row["deleted"]
    assert audited is bool(row["audit"])
    facts = [(audit["start_seq"], audit["end_seq"], audit["entry_count"]) for audit in row["audit"]]
    assert [audit[1:4] for audit in world.audits()] == facts
    world.agent.store.close()

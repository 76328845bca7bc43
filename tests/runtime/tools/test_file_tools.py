"""fs_read, fs_write, fs_list, fs_delete, and the tools of tables: protections, limits, audit."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from bench_agent import Table, table
from hypothesis import given
from hypothesis import strategies as st

from adf_format.loops import Refused
from adf_format.runtime.tools.fs_write import sound


def test_a_file_is_written_appended_listed_read_by_lines_and_deleted(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        await at.ok("fs_write", {"path": "notes/a.md", "content": "één\ntwo\nthree\n"})
        await at.ok("fs_write", {"path": "notes/a.md", "content": "four", "mode": "append"})
        assert await at.ok("fs_read", {"path": "notes/a.md"}) == "één\ntwo\nthree\nfour"
        assert await at.ok("fs_read", {"path": "notes/a.md", "start_line": 2, "end_line": 3}) == "two\nthree\n"
        (listed,) = await at.json("fs_list", {"prefix": "notes/"})
        assert (listed["path"], listed["size"], listed["mime_type"]) == ("notes/a.md", 20, "text/markdown")
        assert len(await at.json("fs_list")) > 1
        await at.ok("fs_delete", {"path": "notes/a.md"})
        assert "no file" in await at.refused("fs_read", {"path": "notes/a.md"})
        assert "no file" in await at.refused("fs_delete", {"path": "notes/a.md"})

    table(tmp_path, scenario)


def test_bytes_come_and_go_as_base64(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        data = base64.b64encode(b"\x00\xff\x10").decode()
        await at.ok("fs_write", {"path": "x.bin", "content": data, "encoding": "base64", "mime_type": "a/b"})
        assert await at.ok("fs_read", {"path": "x.bin"}) == f"base64:{data}"
        assert at.sql("SELECT mime_type, size FROM adf_files WHERE path = 'x.bin'") == [("a/b", 3)]
        assert "not base64" in await at.refused("fs_write", {"path": "y", "content": "???", "encoding": "base64"})
        assert "half of a character" in await at.refused("fs_write", {"path": "y", "content": "\ud83d"})

    table(tmp_path, scenario)


def test_limits_of_the_configuration_bound_reading_and_writing_visibly(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        assert "100 are allowed" in await at.refused("fs_write", {"path": "x", "content": "a" * 101})
        await at.ok("fs_write", {"path": "x", "content": "a" * 100})
        assert "100 are allowed" in await at.refused("fs_write", {"path": "x", "content": "b", "mode": "append"})
        shown = await at.ok("fs_read", {"path": "x"})
        assert shown.startswith("a" * 30 + "\n[cut: 30 of 100 characters")
        await at.ok("fs_write", {"path": "b", "content": "/" * 40, "encoding": "base64"})
        assert "too many" in (await at.call("fs_read", {"path": "b"})).content

    table(tmp_path, scenario, limits={"max_file_write_bytes": 100, "max_file_read_tokens": 10})


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../b", "a//b", "./a", "a/", "a\\b", "a\nb", "a" * 513])
def test_a_path_that_leads_elsewhere_is_refused(tmp_path: Path, path: str) -> None:
    async def scenario(at: Table) -> None:
        assert "a path is relative" in await at.refused("fs_write", {"path": path, "content": "x"})

    table(tmp_path, scenario)


@given(st.text("a./\\\x00\n\ud800", min_size=1, max_size=8))
def test_a_sound_path_has_no_odd_part(path: str) -> None:
    try:
        assert sound(path) == path
    except Refused:
        return
    assert all(part not in {"", ".", ".."} for part in path.split("/"))
    assert not set(path) & set("\\\x00\n\ud800")


PROTECTED = (
    "INSERT INTO adf_files VALUES ('fixed.md', x'6f6e65', 'text/markdown', 3, 'read_only', 0,"
    " '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')"
)


def test_protected_files_need_the_owners_word_and_it_holds_once(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        at.sql(PROTECTED)
        await at.ok("fs_write", {"path": "fixed.md", "content": "two"})
        await at.ok("fs_delete", {"path": "soul.md"})
        await at.ok("fs_write", {"path": "mind.md", "content": "no_delete may be written"})
        assert at.owner.asked == [("main", "fs_write"), ("main", "fs_delete")]
        assert [row[:3] for row in at.tasks()] == [
            ("fs_write", "completed", "approved"),
            ("fs_delete", "completed", "approved"),
        ]
        meta = json.loads(at.tasks()[0][4])
        assert meta["reason"] == "protection"
        assert (meta["protection"]["kind"], meta["protection"]["target"], meta["protection"]["level"]) == (
            "file_protection",
            "fixed.md",
            "read_only",
        )
        assert at.sql("SELECT protection FROM adf_files WHERE path = 'fixed.md'") == [("read_only",)]
        assert len(at.logs("bypass")) == 2

    table(tmp_path, scenario)


def test_without_it_nothing_happens_and_the_task_is_denied(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        at.sql(PROTECTED)
        assert "read_only" in await at.refused("fs_write", {"path": "fixed.md", "content": "two"})
        assert "no_delete" in await at.refused("fs_delete", {"path": "soul.md"})
        assert [row[1:4] for row in at.tasks()] == [("denied", None, "Rejected")] * 2
        assert at.audits() == [], "no phantom snapshot of a file that stays (AUD-039)"

    table(tmp_path, scenario, approves=False, context={"audit": {"files": True}})


def test_loop_056_an_inner_loop_is_answered_at_once_and_leaves_no_task(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        at.sql(PROTECTED)
        assert "main" in await at.refused("fs_write", {"path": "fixed.md", "content": "two"}, "gardener")
        assert "main" in await at.refused("fs_delete", {"path": "soul.md"}, "gardener")
        await at.refused("sys_set_meta", {"key": "adf_name", "value": "x"}, "gardener")
        assert (at.owner.asked, at.tasks()) == ([], [])

    table(tmp_path, scenario)


@pytest.mark.parametrize("audited", [True, False])
def test_fs_delete_archives_the_content_if_the_configuration_says_so(tmp_path: Path, audited: bool) -> None:
    async def scenario(at: Table) -> None:
        await at.ok("fs_write", {"path": "notes/x.md", "content": "# x\n"})
        await at.ok("fs_delete", {"path": "notes/x.md"})
        rows = at.sql("SELECT source, ref, entry_count, size_bytes, start_seq FROM adf_audit")
        assert rows == ([("file", "notes/x.md", 1, 86, None)] if audited else [])  # VEC-2

    table(tmp_path, scenario, context={"audit": {"files": audited}})


def test_a_snapshot_that_fails_keeps_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(at: Table) -> None:
        await at.ok("fs_write", {"path": "x", "content": "y"})
        monkeypatch.setattr(at.agent.store.audit, "put", lambda *_: 1 / 0)
        assert "internal error" in await at.refused("fs_delete", {"path": "x"})
        assert at.logs("tool_failed")

    table(tmp_path, scenario, context={"audit": {"files": True}})


def test_code_that_the_agent_rewrites_is_not_authorized_any_more(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        await at.ok("fs_write", {"path": "lib/a.ts", "content": "1"})
        at.sql("UPDATE adf_files SET authorized = 1 WHERE path = 'lib/a.ts'")
        await at.ok("fs_write", {"path": "lib/a.ts", "content": "2"})
        assert at.sql("SELECT authorized FROM adf_files WHERE path = 'lib/a.ts'") == [(0,)]
        assert at.logs("authorization_lost")

    table(tmp_path, scenario)


def test_tables_are_made_filled_and_read(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        await at.ok("db_execute", {"sql": "CREATE TABLE local_a (x, y)"})
        insert = {"sql": "INSERT INTO local_a VALUES (?, ?), (3, x'00ff') RETURNING x", "params": [1, None]}
        assert await at.json("db_execute", insert) == {"changes": 2, "columns": ["x"], "rows": [[1], [3]]}
        found = await at.json("db_query", {"sql": "SELECT * FROM local_a ORDER BY x"})
        assert found == {"columns": ["x", "y"], "rows": [[1, None], [3, "base64:AP8="]]}
        many = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 1001) SELECT x FROM n"
        assert "first 1000 rows" in (await at.json("db_query", {"sql": many}))["more"]

    table(tmp_path, scenario)


def test_table_protections_of_the_configuration_hold(tmp_path: Path) -> None:
    async def scenario(at: Table) -> None:
        await at.ok("db_execute", {"sql": "CREATE TABLE local_log (x UNIQUE)"})
        await at.ok("db_execute", {"sql": "INSERT INTO LOCAL_LOG VALUES (1)"})
        assert "append-only" in await at.refused("db_execute", {"sql": "DELETE FROM local_log"})
        assert "append-only" in await at.refused("db_execute", {"sql": "REPLACE INTO local_log VALUES (1)"})
        assert "authorized code" in await at.refused("db_execute", {"sql": "CREATE TABLE local_safe (x)"})
        assert "cannot read" in await at.refused("db_query", {"sql": "SELECT value FROM adf_identity"})
        assert "local_" in await at.refused("db_execute", {"sql": "DELETE FROM adf_audit"})

    table(tmp_path, scenario, security={"table_protections": {"Local_Log": "append_only", "local_safe": "authorized"}})


@pytest.mark.parametrize(
    ("tool", "given", "fragment"),
    [
        ("fs_read", {"paht": "x"}, "unknown key 'paht'; known are: path"),
        ("fs_read", {}, "'path' is missing"),
        ("fs_read", {"path": 3}, "/path: integer where string"),
        ("fs_read", {"path": "x", "start_line": 0}, "/start_line"),
        ("fs_list", [], "not an object"),
        ("sys_list_timers", {"x": 1}, "known are: none"),
        ("no_such_tool", {}, "there is no tool"),
        ("db_query", {"sql": "SELECT 1", "params": [[1]]}, "/params/0"),
    ],
)
def test_an_input_that_breaks_its_schema_is_answered_with_what_is_wrong(
    tmp_path: Path, tool: str, given: Any, fragment: str
) -> None:
    async def scenario(at: Table) -> None:
        assert fragment in await at.refused(tool, given)

    table(tmp_path, scenario)

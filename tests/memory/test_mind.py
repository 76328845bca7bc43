"""A mind copied into a workspace and back, and how it is (MEM-102, MEM-185 to MEM-190)."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import pytest

from adf_format import container, sample
from adf_format.errors import MissingFileError, UnreadableError
from adf_format.memory import mindstatus
from adf_format.memory.agentfiles import AgentFiles
from adf_format.memory.transfer.exporting import export_workspace
from adf_format.memory.transfer.importing import import_workspace
from adf_format.memory.transfer.outcome import Options
from tests.memory import trees

NOW = datetime(2026, 4, 2, 9, 0, tzinfo=UTC)
OPTIONS = Options(NOW, "UTC")
COLUMNS = "path, content, mime_type, size, protection, created_at, updated_at"
PAGES = {
    "mind.md": (
        "# Mind\n\n## Always\n\n<!-- [x](adf-file://mind/sample.md) -->\n- Principal: Grace [S3]\n\n## Pages\n\n"
        "- [Deploy](adf-file://mind/deploy.md) — how to deploy\n- [Gone](adf-file://mind/gone%20away.md) — x\n"
    ),
    "mind/deploy.md": (
        '---\ntype: procedure\nstale_after: 2026-01-01\nsources: ["adf-audit://seq/9"]\n---\n# Deploy\n\nStep [S2].\n'
    ),
    "mind/thread.md": "---\ntype: open-thread\nstatus: blocked\ndescription: waits for Bob\n---\n# The thread\n",
    "mind/log.md": (
        "# Mind Log\n\n## [2026-04-01] update | Deploy\n\nNow with a canary.\n\n"
        "## [2026-03-30] ingest | Deploy\n\nfirst\n\n## [2026-02-30] lint | no day\n"
    ),
}


@pytest.fixture
def ada(tmp_path: Path) -> Path:
    path = tmp_path / "ada.adf"
    sample.build(path, 32)
    connection = apsw.Connection(str(path))
    connection.execute("DELETE FROM adf_files WHERE path GLOB 'mind*'")
    for number, (name, text) in enumerate(PAGES.items()):
        protection = "none" if number == 1 else "no_delete"
        connection.execute(
            f"INSERT INTO adf_files ({COLUMNS}, authorized)"
            " VALUES (?, ?, 'text/markdown', ?, ?, 'c' || ?, 'u' || ?, 1)",
            (name, text.encode(), len(text.encode()), protection, number, number),
        )
    connection.close()
    return path


def rows(path: Path, where: str = "path GLOB 'mind*'") -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(path))
    found = connection.execute(f"SELECT {COLUMNS} FROM adf_files WHERE {where} ORDER BY path").fetchall()
    connection.close()
    return list(found)


def test_a_mind_is_copied_byte_for_byte(ada: Path, tmp_path: Path) -> None:
    """MEM-186: with what its rows say; the soul on request only."""
    export_workspace(ada, tmp_path / "out", OPTIONS)
    copies = tmp_path / "out/memory/adf_mind"
    assert {str(one.relative_to(copies)) for one in copies.rglob("*.*")} == {*PAGES, "manifest.json"}
    assert all((copies / path).read_text() == text for path, text in PAGES.items())
    entry = json.loads((copies / "manifest.json").read_text())["files"][1]
    assert (entry["path"], entry["protection"], entry["authorized"]) == ("mind/deploy.md", "none", True)
    export_workspace(ada, tmp_path / "soul", replace(OPTIONS, soul=True))
    assert (tmp_path / "soul/memory/adf_mind/soul.md").exists()


def test_a_mind_is_retold(ada: Path, tmp_path: Path) -> None:
    """MEM-186, MEM-187: index in our markers with relative links, open threads, and days only on request."""
    out = trees.write(tmp_path / "out", {"MEMORY.md": "# Long-Term Memory\n\n- mine\n", "memory/active_context.md": ""})
    export_workspace(ada, out, replace(OPTIONS, dailies=True))
    memory = (out / "MEMORY.md").read_text()
    assert memory.startswith(
        "# Long-Term Memory\n\n- mine\n\n<!-- adf-format:mind begin -->\n## Always (from the mind)\n"
    )
    assert "- [Deploy](memory/adf_mind/mind/deploy.md) — how to deploy" in memory
    assert "sample.md" not in memory
    active = (out / "memory/active_context.md").read_text()
    assert active == (
        "# Active Context\n\n## Blocked / Waiting\n\n- **The thread**: waits for Bob [page](adf_mind/mind/thread.md)\n"
    )
    assert (
        out / "memory/2026-04-01.md"
    ).read_text() == "# 2026-04-01\n\n## Decisions\n\n- Deploy: Now with a canary.\n"
    assert "## Learned\n\n- Deploy: first" in (out / "memory/2026-03-30.md").read_text()
    assert not (out / "memory/2026-02-30.md").exists()
    export_workspace(ada, tmp_path / "plain", replace(OPTIONS, derive=False))
    assert [one.name for one in (tmp_path / "plain").iterdir()] == ["memory"]


def test_a_second_export_changes_nothing(ada: Path, tmp_path: Path) -> None:
    """MEM-188."""
    options = replace(OPTIONS, dailies=True, citations=True)
    export_workspace(ada, tmp_path / "out", options)
    before = trees.read(tmp_path / "out")
    outcome = export_workspace(ada, tmp_path / "out", replace(options, now=datetime(2026, 5, 1, tzinfo=UTC)))
    assert not outcome.changes
    assert trees.read(tmp_path / "out") == before


def test_a_mind_comes_back_into_a_fresh_agent(ada: Path, tmp_path: Path) -> None:
    """MEM-186: rows and metadata exactly, except that nothing is authorized; seeds give way."""
    export_workspace(ada, tmp_path / "out", replace(OPTIONS, derive=False))
    other = trees.agent(tmp_path / "other.adf")
    outcome = import_workspace(tmp_path / "out", other, replace(OPTIONS, derive=False))
    assert not outcome.blocked
    assert rows(other) == rows(ada)
    connection = apsw.Connection(str(other))
    assert connection.execute("SELECT max(authorized) FROM adf_files").get == 0
    connection.close()
    assert not import_workspace(tmp_path / "out", other, replace(OPTIONS, derive=False)).changes


def test_a_mind_of_its_own_is_not_replaced(ada: Path, tmp_path: Path) -> None:
    """MEM-189: index, log and soul stay even on `replace`; pages follow what was asked."""
    export_workspace(ada, tmp_path / "out", replace(OPTIONS, derive=False, soul=True))
    other = tmp_path / "other.adf"
    sample.build(other, 32)
    own = rows(other, "path IN ('mind.md', 'mind/log.md', 'soul.md')")
    assert import_workspace(tmp_path / "out", other, replace(OPTIONS, derive=False)).blocked
    import_workspace(tmp_path / "out", other, replace(OPTIONS, derive=False, on_conflict="replace"))
    assert rows(other, "path IN ('mind.md', 'mind/log.md', 'soul.md')") == own
    assert {row[0] for row in rows(other)} >= {"mind/deploy.md", "mind/thread.md"}


def test_a_copy_that_was_edited_is_dated_now(ada: Path, tmp_path: Path) -> None:
    export_workspace(ada, tmp_path / "out", replace(OPTIONS, derive=False))
    (tmp_path / "out/memory/adf_mind/mind/deploy.md").write_text("edited")
    (tmp_path / "out/memory/adf_mind/mind/thread.md").unlink()
    other = trees.agent(tmp_path / "other.adf")
    import_workspace(tmp_path / "out", other, replace(OPTIONS, derive=False))
    found = {row[0]: row for row in rows(other)}
    assert found["mind/deploy.md"][1] == b"edited"
    assert found["mind/deploy.md"][6] == "2026-04-02T09:00:00.000Z"
    assert "mind/thread.md" not in found


@pytest.mark.parametrize(
    "change",
    [{"path": "README.md"}, {"path": "../x"}, {"path": "mind/../../x"}, {"path": "lib/api.ts"}, {"path": 5}, None],
)
def test_a_hostile_copy_is_refused(ada: Path, tmp_path: Path, change: dict[str, Any] | None) -> None:
    """MEM-006, MEM-189: only files of a mind."""
    export_workspace(ada, tmp_path / "out", replace(OPTIONS, derive=False))
    place = tmp_path / "out/memory/adf_mind/manifest.json"
    document = json.loads(place.read_text())
    document["files"] = [document["files"][0] | change] if change else 5
    place.write_text(json.dumps(document))
    other = trees.agent(tmp_path / "other.adf")
    before = other.read_bytes()
    with pytest.raises(UnreadableError):
        import_workspace(tmp_path / "out", other, OPTIONS)
    assert other.read_bytes() == before


def test_metadata_that_the_format_forbids_is_left_out(ada: Path, tmp_path: Path) -> None:
    export_workspace(ada, tmp_path / "out", replace(OPTIONS, derive=False))
    place = tmp_path / "out/memory/adf_mind/manifest.json"
    document = json.loads(place.read_text())
    document["files"][1] |= {"protection": "root", "mime_type": 5}
    place.write_text(json.dumps(document))
    other = trees.agent(tmp_path / "other.adf")
    import_workspace(tmp_path / "out", other, replace(OPTIONS, derive=False))
    assert {row[0]: row[4] for row in rows(other)}["mind/deploy.md"] == "none"


def test_cited_messages_come_along_on_request(ada: Path, tmp_path: Path) -> None:
    """MEM-187: from the archive or the live table, once each, in order; off by default; missing ones are marked."""
    export_workspace(ada, tmp_path / "plain", OPTIONS)
    assert not (tmp_path / "plain/memory/adf_mind/citations.jsonl").exists()
    export_workspace(ada, tmp_path / "out", replace(OPTIONS, citations=True))
    lines = (tmp_path / "out/memory/adf_mind/citations.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    assert [one["seq"] for one in found] == [2, 3, 9]
    assert all(one["role"] in ("user", "assistant") and isinstance(one["text"], str) for one in found)
    connection = apsw.Connection(str(ada))
    connection.execute("UPDATE adf_files SET content = '[S999]' WHERE path = 'mind.md'")
    connection.close()
    export_workspace(ada, tmp_path / "more", replace(OPTIONS, citations=True))
    last = (tmp_path / "more/memory/adf_mind/citations.jsonl").read_text().splitlines()[-1]
    assert json.loads(last) == {"seq": 999, "missing": True}


def test_secrets_in_cited_messages_stop_an_export(ada: Path, tmp_path: Path) -> None:
    """MEM-187, MEM-189."""
    options = replace(OPTIONS, citations=True, scan=lambda path, _: [(1, 1, "x")] if "citations" in path else [])
    assert export_workspace(ada, tmp_path / "out", options).blocked
    assert not (tmp_path / "out").exists()


def test_an_agent_without_memory(ada: Path, tmp_path: Path) -> None:
    connection = apsw.Connection(str(ada))
    connection.execute("DELETE FROM adf_files WHERE path GLOB 'mind*'")
    connection.close()
    with pytest.raises(MissingFileError):
        export_workspace(ada, tmp_path / "out", OPTIONS)


def status(path: Path, **config: Any) -> dict[str, Any]:
    with container.open_readonly(path) as opened:
        return mindstatus.status_of_mind(AgentFiles(opened.connection, None), config, "x", NOW)


def test_how_a_mind_is(ada: Path) -> None:
    """MEM-102: pages, orphans, dangling links, log; links in comments do not count (MEM-171)."""
    found = status(ada)
    assert found["orphans"] == ["mind/thread.md"]
    assert found["dangling"] == ["mind/gone away.md"]
    assert found["log"] == {"entries": 3, "newest": "2026-04-01"}
    assert found["pages"][0] == {
        "slug": "deploy", "type": "procedure", "status": None, "staleAfter": "2026-01-01", "inCatalog": True,
        "sources": 1, "cites": 1,
    }  # fmt: skip
    assert (found["kind"], found["injected"], found["workspace"]) == ("mind", True, None)
    shown = "\n".join(map(" ".join, mindstatus.lines(found)))
    assert "to be checked since 2026-01-01: deploy" in shown
    assert "linked, but not there: mind/gone away.md" in shown


@pytest.mark.parametrize(
    ("config", "injected", "audited"),
    [
        ({}, True, False),
        ({"include_base_prompt": False}, False, False),
        ({"audit": {"loop": True}}, True, True),
        ({"audit": {"loop": True}, "context": {"audit": {"loop": False}}}, True, False),
        ({"context": {"audit": {"loop": True}}}, True, True),
    ],
)
def test_what_a_configuration_means_for_memory(
    ada: Path, config: dict[str, Any], injected: bool, audited: bool
) -> None:
    """MEM-154, D6: the switch of the context comes first; neither means off."""
    found = status(ada, **config)
    assert (found["injected"], found["auditLoop"]) == (injected, audited)
    assert ("NEVER LOADED" in str(mindstatus.lines(found))) is not injected

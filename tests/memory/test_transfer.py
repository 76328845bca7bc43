"""A workspace into an agent and back: originals byte for byte, nothing overwritten (MEM-180 to MEM-190)."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adf_format import container
from adf_format.errors import AdfError, LockedError, MissingFileError, NewerSchemaError, UnreadableError
from adf_format.files import folded, parents
from adf_format.memory.agentfiles import AgentFiles
from adf_format.memory.transfer import importing, manifest, tree
from adf_format.memory.transfer.exporting import export_workspace
from adf_format.memory.transfer.importing import import_workspace
from adf_format.memory.transfer.outcome import Options, Outcome
from adf_format.validation.engine import validate_file
from tests.memory import trees

NOW = datetime(2026, 4, 2, 9, 0, tzinfo=UTC)
OPTIONS = Options(NOW, "UTC")


def rows(path: Path) -> dict[str, bytes]:
    with container.open_readonly(path) as opened:
        files = AgentFiles(opened.connection, None)
        return {name: files.read(name) or b"" for name in files.paths()}


def actions(outcome: Outcome) -> dict[str, str]:
    return {step.target: step.action for step in outcome.steps}


@pytest.fixture
def ada(tmp_path: Path) -> Path:
    return trees.agent(tmp_path / "ada.adf")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return trees.write(tmp_path / "work", trees.WORKSPACE)


# ---- import


def test_originals_are_byte_identical_rows(ada: Path, work: Path) -> None:
    """MEM-181: under `imported/adaptive-memory/`, protection `none`, not authorized."""
    outcome = import_workspace(work, ada, OPTIONS)
    found = rows(ada)
    assert not outcome.blocked
    for path, content in trees.WORKSPACE.items():
        expected = content.encode() if isinstance(content, str) else content
        assert found[manifest.PREFIX + path] == expected
    connection = apsw.Connection(str(ada))
    query = "SELECT DISTINCT protection, authorized FROM adf_files WHERE path GLOB 'imported/*'"
    assert connection.execute(query).fetchall() == [("none", 0)]
    connection.close()


def test_the_manifest_records_what_was_imported(ada: Path, work: Path) -> None:
    """MEM-182: hashes, sizes, times, modes, empty folders, and what was derived."""
    (work / "memory" / "empty").mkdir()
    import_workspace(work, ada, OPTIONS)
    document = json.loads(rows(ada)[manifest.PATH])
    assert (document["format"], document["timezone"]) == ("adaptive-memory-bundle/1", "UTC")
    entry = next(one for one in document["files"] if one["path"] == "MEMORY.md")
    content = (work / "MEMORY.md").read_bytes()
    assert entry == {
        "path": "MEMORY.md",
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "mtimeNs": str(trees.NS),
        "mode": "0644",
        "encoding": "utf-8",
    }
    assert document["emptyDirs"] == ["memory/empty"]
    assert {"mind/systems-built.md", "mind/active-context.md"} <= {one["path"] for one in document["derived"]}
    assert manifest.parse(rows(ada)[manifest.PATH]).encoded() == rows(ada)[manifest.PATH]


def test_pages_are_made_of_sections_tasks_and_channels(ada: Path, work: Path) -> None:
    """MEM-183: type, sources, hook; done tasks and daily notes give none; `log` is no slug."""
    import_workspace(work, ada, OPTIONS)
    found = {path: content.decode() for path, content in rows(ada).items() if path.startswith("mind/")}
    assert set(found) == {
        "mind/systems-built.md", "mind/lessons-learned.md", "mind/log-page.md", "mind/active-context.md",
        "mind/open-tasks.md", "mind/channel-ops.md", "mind/log.md",
    }  # fmt: skip
    assert found["mind/lessons-learned.md"] == (
        '---\ntype: lesson\ndescription: "Lessons Learned, 2 items"\nsources:\n'
        "  - adf-file://imported/adaptive-memory/MEMORY.md\n---\n\n# Lessons Learned\n\n1. SQLite first\n2. Timeouts\n"
    )
    assert "status: current\nstale_after: 2026-04-05\n" in found["mind/active-context.md"]
    assert "- **Ship** (`t1`, pending, high, since 2026-04-01): soon" in found["mind/open-tasks.md"]
    assert "Old" not in found["mind/open-tasks.md"]
    assert "type: reference" in found["mind/channel-ops.md"]


def test_the_index_and_the_log_only_grow(ada: Path, work: Path) -> None:
    """MEM-183, MEM-189: a line and an entry for each page, the newest on top; every old line is still there."""
    before = rows(ada)
    import_workspace(work, ada, replace(OPTIONS, always=True))
    after = rows(ada)
    for path in ("mind.md", "mind/log.md"):
        lines = iter(after[path].decode().splitlines())
        assert all(line in lines for line in before[path].decode().splitlines())  # a subsequence, in this order
    index = after["mind.md"].decode()
    assert "- [Systems Built](adf-file://mind/systems-built.md) — Systems Built, 1 item\n" in index
    assert "- Current focus: **Login**: OAuth, 70%\n" in index
    assert after["mind/log.md"].decode().count("## [2026-04-02] ingest | ") == 6


def test_readme_and_soul_are_never_touched(ada: Path, work: Path) -> None:
    """MEM-189."""
    before = rows(ada)
    import_workspace(work, ada, replace(OPTIONS, always=True))
    assert {path: rows(ada)[path] for path in ("README.md", "soul.md")} == {
        path: before[path] for path in ("README.md", "soul.md")
    }


def test_without_pages_only_originals_come(ada: Path, work: Path) -> None:
    """MEM-183: `--no-derive`."""
    before = rows(ada)
    import_workspace(work, ada, replace(OPTIONS, derive=False))
    assert {path for path in rows(ada) if path not in before and not path.startswith("imported/")} == set()
    assert rows(ada)["mind.md"] == before["mind.md"]


@pytest.mark.parametrize("days", [0, 1, 400])
def test_a_second_import_changes_nothing(ada: Path, work: Path, days: int) -> None:
    """MEM-188: not even on another day; no backup, not a byte of the file."""
    import_workspace(work, ada, OPTIONS, backup=False)
    before = ada.read_bytes()
    outcome = import_workspace(work, ada, replace(OPTIONS, now=NOW + timedelta(days=days)))
    assert not outcome.changes
    assert set(actions(outcome).values()) == {"same"}
    assert ada.read_bytes() == before
    assert sorted(one.name for one in ada.parent.iterdir()) == ["ada.adf", "work"]


def test_an_import_leaves_the_workspace_alone(ada: Path, work: Path) -> None:
    before = trees.read(work)
    import_workspace(work, ada, OPTIONS)
    assert trees.read(work) == before


@pytest.mark.parametrize("version", [21, 27, 28, 32])
def test_the_agent_stays_valid_at_every_version(tmp_path: Path, work: Path, version: int) -> None:
    path = trees.agent(tmp_path / "old.adf", schema_version=version)
    import_workspace(work, path, OPTIONS)
    assert [finding.rule for finding in validate_file(path).findings if finding.severity.name == "ERROR"] == []


def changed(work: Path) -> None:
    (work / "memory" / "2026-04-01.md").write_bytes(b"other")


def test_other_bytes_in_the_place_stop_everything(ada: Path, work: Path) -> None:
    """MEM-188: `fail` is the default; nothing at all is written."""
    import_workspace(work, ada, OPTIONS, backup=False)
    before = ada.read_bytes()
    changed(work)
    (work / "memory" / "new.md").write_bytes(b"new")
    outcome = import_workspace(work, ada, OPTIONS)
    assert outcome.blocked
    assert [step.path for step in outcome.conflicts] == ["memory/2026-04-01.md"]
    assert ada.read_bytes() == before


def test_keep_leaves_what_is_there(ada: Path, work: Path) -> None:
    """MEM-188: the manifest goes on describing what is stored, so that an export is right."""
    import_workspace(work, ada, OPTIONS)
    changed(work)
    import_workspace(work, ada, replace(OPTIONS, on_conflict="keep"))
    assert rows(ada)[manifest.PREFIX + "memory/2026-04-01.md"].startswith(b"# 2026-04-01")
    back = ada.parent / "back"
    assert not export_workspace(ada, back, OPTIONS).blocked
    assert (back / "memory/2026-04-01.md").read_bytes().startswith(b"# 2026-04-01")


def test_replace_takes_the_new_one_after_a_backup(ada: Path, work: Path) -> None:
    """MEM-188."""
    import_workspace(work, ada, OPTIONS, backup=False)
    changed(work)
    outcome = import_workspace(work, ada, replace(OPTIONS, on_conflict="replace"))
    assert rows(ada)[manifest.PREFIX + "memory/2026-04-01.md"] == b"other"
    assert outcome.backup is not None
    assert rows(outcome.backup)[manifest.PREFIX + "memory/2026-04-01.md"].startswith(b"# 2026")


def test_rename_keeps_both(ada: Path, work: Path) -> None:
    """MEM-188: and the export brings back the new one under its own name."""
    import_workspace(work, ada, OPTIONS)
    changed(work)
    for _ in range(2):
        import_workspace(work, ada, replace(OPTIONS, on_conflict="rename"))
    found = rows(ada)
    assert found[manifest.PREFIX + "memory/2026-04-01.md"].startswith(b"# 2026")
    assert found[manifest.PREFIX + "memory/2026-04-01-2.md"] == b"other"
    assert manifest.PREFIX + "memory/2026-04-01-3.md" not in found
    export_workspace(ada, ada.parent / "back", OPTIONS)
    assert trees.read(ada.parent / "back") == trees.read(work)


def test_a_page_that_was_not_edited_follows_its_source(ada: Path, work: Path) -> None:
    """MEM-183: with an `update` entry in the log, and no second line in the index."""
    import_workspace(work, ada, OPTIONS)
    (work / "MEMORY.md").write_text("# Long-Term Memory\n\n## Systems Built\n\n- **Other**: x\n")
    outcome = import_workspace(work, ada, replace(OPTIONS, on_conflict="replace"))
    assert actions(outcome)["mind/systems-built.md"] == "update"
    assert actions(outcome)["mind/lessons-learned.md"] == "gone"
    found = rows(ada)
    assert b"Other" in found["mind/systems-built.md"]
    assert b"Timeouts" in found["mind/lessons-learned.md"]
    assert found["mind/log.md"].count(b"update | Systems Built") == 1
    assert found["mind.md"].count(b"(adf-file://mind/systems-built.md)") == 1


def edit_row(path: Path, name: str, content: bytes) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE adf_files SET content = ?, size = ? WHERE path = ?", (content, len(content), name))
    connection.close()


def test_a_page_that_was_edited_stays(ada: Path, work: Path) -> None:
    """MEM-185: drift is told and kept; `replace` asks for the new one."""
    import_workspace(work, ada, OPTIONS)
    edit_row(ada, "mind/systems-built.md", b"---\ntype: reference\n---\n# mine\n")
    outcome = import_workspace(work, ada, OPTIONS)
    assert actions(outcome)["mind/systems-built.md"] == "drift"
    assert rows(ada)["mind/systems-built.md"].endswith(b"# mine\n")
    import_workspace(work, ada, replace(OPTIONS, on_conflict="replace"))
    assert b"Pipeline" in rows(ada)["mind/systems-built.md"]


def test_a_page_of_the_agents_own_is_in_the_way(ada: Path, work: Path) -> None:
    """MEM-188 for pages: `fail` stops, `rename` takes another slug, `keep` leaves it."""
    connection = apsw.Connection(str(ada))
    connection.execute(
        "INSERT INTO adf_files (path, content, mime_type, size, protection, created_at, updated_at)"
        " VALUES ('mind/systems-built.md', x'41', 'text/markdown', 1, 'none', '', '')"
    )
    connection.close()
    assert import_workspace(work, ada, OPTIONS).blocked
    shutil.copy(ada, ada.parent / "keep.adf")
    outcome = import_workspace(work, ada.parent / "keep.adf", replace(OPTIONS, on_conflict="keep"))
    assert actions(outcome)["mind/systems-built.md"] == "keep"
    assert b"systems-built" not in rows(ada.parent / "keep.adf")["mind.md"]
    import_workspace(work, ada, replace(OPTIONS, on_conflict="rename"))
    assert rows(ada)["mind/systems-built.md"] == b"A"
    assert b"adf-file://mind/systems-built-2.md" in rows(ada)["mind.md"]


def test_what_left_the_workspace_stays_in_the_agent(ada: Path, work: Path) -> None:
    import_workspace(work, ada, OPTIONS)
    (work / "memory" / "DREAMS.md").unlink()
    outcome = import_workspace(work, ada, OPTIONS)
    assert actions(outcome)[manifest.PREFIX + "memory/DREAMS.md"] == "gone"
    assert manifest.PREFIX + "memory/DREAMS.md" in rows(ada)


def test_a_dry_run_shows_the_same_and_writes_nothing(ada: Path, work: Path) -> None:
    """MEM-188."""
    before = ada.read_bytes()
    shown = import_workspace(work, ada, OPTIONS, dry_run=True)
    assert (ada.read_bytes(), sorted(one.name for one in ada.parent.iterdir())) == (before, ["ada.adf", "work"])
    assert shown.steps == import_workspace(work, ada, OPTIONS).steps


def scan(path: str, content: bytes) -> list[tuple[int, int, str]]:
    return [(2, 1, "keyword")] if b"hunter2" in content else []


def test_secrets_stop_an_import(ada: Path, work: Path) -> None:
    """MEM-189: unless they are allowed, which the manifest records; silent without one."""
    options = replace(OPTIONS, scan=scan)
    (work / "memory" / "DREAMS.md").write_text("x\nhunter2\n")
    before = ada.read_bytes()
    outcome = import_workspace(work, ada, options)
    assert outcome.blocked
    assert [(one.path, one.line, one.kind) for one in outcome.secrets] == [("memory/DREAMS.md", 2, "keyword")]
    assert ada.read_bytes() == before
    assert not import_workspace(work, ada, replace(options, allow_secrets=True)).blocked
    assert json.loads(rows(ada)[manifest.PATH])["allowedSecrets"] is True
    assert export_workspace(ada, ada.parent / "back", options).blocked
    assert not (ada.parent / "back").exists()
    assert not export_workspace(ada, ada.parent / "back", replace(options, allow_secrets=True)).blocked


def test_a_running_agent_is_refused(ada: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MEM-189: locked by its runtime; silent once it is closed."""
    monkeypatch.setattr(importing, "open_for_change", partial(container.open_for_change, wait_s=0.05))
    connection = apsw.Connection(str(ada))
    connection.execute("BEGIN IMMEDIATE; UPDATE adf_meta SET value = value")
    with pytest.raises(LockedError):
        import_workspace(work, ada, OPTIONS)
    connection.close()
    assert not import_workspace(work, ada, OPTIONS).blocked


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_newer_schema_is_refused(ada: Path, work: Path, dry_run: bool) -> None:
    """MEM-189."""
    connection = apsw.Connection(str(ada))
    connection.execute("UPDATE adf_meta SET value = '99' WHERE key = 'adf_schema_version'")
    connection.close()
    with pytest.raises(NewerSchemaError):
        import_workspace(work, ada, OPTIONS, dry_run=dry_run)


def test_a_folder_without_memory(ada: Path, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    with pytest.raises(MissingFileError, match="memory init"):
        import_workspace(tmp_path / "none", ada, OPTIONS)


@pytest.mark.parametrize("name", [b"memory/\xff.md", b"memory/a\\b", b"memory/c\nd"])
def test_names_that_cannot_be_carried(ada: Path, work: Path, name: bytes) -> None:
    """Refused whole, not left out; a line feed is odd, and carried."""
    with open(os.path.join(os.fsencode(work), name), "wb") as stream:  # noqa: PTH118, PTH123
        stream.write(b"x")
    if b"\n" in name:
        assert not import_workspace(work, ada, OPTIONS).blocked
        return
    before = ada.read_bytes()
    with pytest.raises(UnreadableError, match="cannot be carried"):
        import_workspace(work, ada, OPTIONS)
    assert ada.read_bytes() == before


@pytest.mark.parametrize("names", [("a.md", "A.md"), ("e\u0301.md", "é.md"), ("x/a", "X/b")])
def test_names_that_collide_elsewhere(ada: Path, work: Path, names: tuple[str, str]) -> None:
    """MEM-189: two names that are one on many systems."""
    for name in names:
        (work / "memory" / name).parent.mkdir(exist_ok=True)
        (work / "memory" / name).write_bytes(b"x")
    if not {names[0], names[1]} <= {
        one.relative_to(work / "memory").as_posix() for one in (work / "memory").rglob("*")
    }:
        pytest.skip("this system takes them for one")
    with pytest.raises(UnreadableError, match="one name"):
        import_workspace(work, ada, OPTIONS)


def test_links_and_other_things(ada: Path, work: Path, tmp_path: Path) -> None:
    """MEM-006: a link that stays inside is carried as one; one that leaves is refused, and so is a pipe."""
    (work / "memory" / "in.md").symlink_to("../MEMORY.md")
    import_workspace(work, ada, OPTIONS)
    export_workspace(ada, tmp_path / "back", OPTIONS)
    assert trees.read(tmp_path / "back") == trees.read(work)
    assert set(actions(export_workspace(ada, tmp_path / "back", OPTIONS)).values()) == {"same"}
    (work / "memory" / "in.md").unlink()
    for target in ("../../outside", "/etc/passwd"):
        (work / "memory" / "out.md").symlink_to(target)
        with pytest.raises(UnreadableError, match="leaves the workspace"):
            import_workspace(work, ada, OPTIONS)
        (work / "memory" / "out.md").unlink()
    os.mkfifo(work / "memory" / "pipe")
    with pytest.raises(UnreadableError, match="neither a file"):
        import_workspace(work, ada, OPTIONS)


def test_the_memory_folder_itself_is_no_link(ada: Path, work: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "memory").symlink_to(work / "memory")
    (tmp_path / "other" / "MEMORY.md").write_text("x")
    with pytest.raises(UnreadableError, match="link"):
        import_workspace(tmp_path / "other", ada, OPTIONS)


def test_an_unfinished_write_of_somebody_killed_is_no_original(ada: Path, work: Path) -> None:
    (work / "memory" / ".MEMORY.md.0123456789ab.adf-format-draft").write_bytes(b"half")
    import_workspace(work, ada, OPTIONS)
    assert not any("draft" in path for path in rows(ada))


# ---- round trips


@settings(max_examples=25, deadline=None)
@given(trees.trees)
def test_any_tree_comes_back_as_it_was(files: dict[str, tuple[bytes, int, int]]) -> None:
    """MEM-184: bytes, mode and time of every file; or the whole tree is refused, and the agent is as before."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        work = place / "work"
        work.mkdir()
        for path, (content, mode, time) in files.items():
            try:
                (work / path).parent.mkdir(parents=True, exist_ok=True)
                (work / path).write_bytes(content)
            except OSError:
                continue  # a file in the place of a folder
            os.utime(work / path, ns=(time, time))
            (work / path).chmod(mode)
        before = trees.read(work)
        path = place / "ada.adf"
        shutil.copy(_fresh(), path)
        seen = {folded(part) for one in before for part in (*parents(one), one.rstrip("/"))}
        collides = len(seen) < len({part for one in before for part in (*parents(one), one.rstrip("/"))})
        try:
            import_workspace(work, path, OPTIONS, backup=False)
        except UnreadableError:
            assert collides
            assert path.read_bytes() == _fresh().read_bytes()
            return
        outcome = export_workspace(path, place / "back", OPTIONS)
        assert trees.read(place / "back") == before
        assert not outcome.blocked
        again = import_workspace(place / "back", path, OPTIONS, backup=False)
        assert not again.changes


_FRESH: list[Path] = []


def _fresh() -> Path:
    if not _FRESH or not _FRESH[0].exists():
        _FRESH[:] = [trees.agent(Path(tempfile.mkdtemp()) / "fresh.adf")]
    return _FRESH[0]


def test_large_and_odd_files_come_back(ada: Path, tmp_path: Path) -> None:
    """MEM-184: 5 MB, not UTF-8, no final newline, BOM, CRLF, spaces, NFC and NFD names, empty files and folders."""
    files: dict[str, bytes | str] = {
        "MEMORY.md": b"\xef\xbb\xbf# Long-Term Memory\r\n",
        "memory/big.bin": os.urandom(5_000_000),
        "memory/caf\u00e9.md": "NFC",
        "memory/nfd-e\u0301.md": "NFD",
        "memory/a b  c.md": "spaces",
        "memory/.history/MEMORY-1.md": "hidden",
        "memory/zero": b"",
        "memory/latin1.md": b"caf\xe9\n",
    }
    work = trees.write(tmp_path / "work", files, mode=0o640)
    (work / "memory" / "empty" / "deep").mkdir(parents=True)
    import_workspace(work, ada, OPTIONS)
    export_workspace(ada, tmp_path / "back", OPTIONS)
    assert trees.read(tmp_path / "back") == trees.read(work)


# ---- export


def test_an_export_never_replaces_what_is_there(ada: Path, work: Path, tmp_path: Path) -> None:
    """MEM-188: `fail` stops everything, `keep` the file, `rename` writes beside it, `replace` after a copy."""
    import_workspace(work, ada, OPTIONS)
    back = trees.write(tmp_path / "back", {"MEMORY.md": "mine"})
    before = trees.read(back)
    assert export_workspace(ada, back, OPTIONS).blocked
    assert trees.read(back) == before
    export_workspace(ada, back, replace(OPTIONS, on_conflict="keep"))
    assert (back / "MEMORY.md").read_text() == "mine"
    assert (back / "memory/2026-04-01.md").read_bytes() == (work / "memory/2026-04-01.md").read_bytes()
    export_workspace(ada, back, replace(OPTIONS, on_conflict="rename"))
    assert (back / "MEMORY.md").read_text() == "mine"
    assert (back / "MEMORY-2.md").read_bytes() == (work / "MEMORY.md").read_bytes()
    outcome = export_workspace(ada, back, replace(OPTIONS, on_conflict="replace"))
    assert (back / "MEMORY.md").read_bytes() == (work / "MEMORY.md").read_bytes()
    assert outcome.backup is not None
    assert (outcome.backup / "MEMORY.md").read_text() == "mine"


def test_an_export_shows_its_plan(ada: Path, work: Path, tmp_path: Path) -> None:
    """MEM-188: `--dry-run`."""
    import_workspace(work, ada, OPTIONS)
    shown = export_workspace(ada, tmp_path / "back", OPTIONS, dry_run=True)
    assert not (tmp_path / "back").exists()
    assert export_workspace(ada, tmp_path / "back", OPTIONS).steps == shown.steps


def test_edited_rows_are_told_and_copied(ada: Path, work: Path, tmp_path: Path) -> None:
    """MEM-185: pages and originals that the agent edited, or removed; nothing is merged."""
    import_workspace(work, ada, OPTIONS)
    edit_row(ada, "mind/systems-built.md", b"# edited\n")
    edit_row(ada, manifest.PREFIX + "memory/DREAMS.md", b"edited original\n")
    connection = apsw.Connection(str(ada))
    connection.execute(
        "DELETE FROM adf_files WHERE path IN ('mind/open-tasks.md', ?)", (manifest.PREFIX + "MEMORY.md",)
    )
    connection.execute(
        "INSERT INTO adf_files (path, content, mime_type, size, protection, created_at, updated_at)"
        " VALUES ('mind/own.md', x'41', 'text/markdown', 1, 'none', '', '')"
    )
    connection.close()
    back = tmp_path / "back"
    outcome = export_workspace(ada, back, OPTIONS)
    told = {step.path: step.action for step in outcome.steps}
    assert told["mind/open-tasks.md"] == told[manifest.PREFIX + "MEMORY.md"] == "gone"
    assert told["mind/own.md"] == "keep"
    assert (back / "memory/adf_mind/mind/systems-built.md").read_bytes() == b"# edited\n"
    assert (back / f"memory/adf_mind/{manifest.PREFIX}memory/DREAMS.md").read_bytes() == b"edited original\n"
    assert not (back / "memory/DREAMS.md").exists()
    assert not (back / "MEMORY.md").exists()


def hostile(path: Path, **changes: object) -> None:
    document = json.loads(rows(path)[manifest.PATH])
    document.update(changes)
    edit_row(path, manifest.PATH, json.dumps(document).encode())


FILE = {"sha256": hashlib.sha256(b"x").hexdigest(), "bytes": 1, "mtimeNs": "1", "mode": "0644", "encoding": "utf-8"}


@pytest.mark.parametrize(
    "changes",
    [
        {"files": [FILE | {"path": "../evil"}]},
        {"files": [FILE | {"path": "/etc/evil"}]},
        {"files": [FILE | {"path": ".bashrc"}]},
        {"files": [FILE | {"path": "memory/../../evil"}]},
        {"files": [FILE | {"path": "memory/x", "row": "soul.md"}]},
        {"files": [FILE | {"path": "memory/x", "mode": "4755"}]},
        {"files": [FILE | {"path": "memory/x", "mtimeNs": "1e9"}]},
        {"files": [FILE | {"path": "memory/x", "sha256": "0"}]},
        {"files": [5]},
        {"files": None},
        {"emptyDirs": ["../evil"]},
        {"links": [{"path": "memory/l", "target": "../../evil"}]},
        {"links": [{"path": "../l", "target": "x"}]},
        {"format": "adaptive-memory-bundle/2"},
        {"files": [FILE | {"path": "memory/a"}, FILE | {"path": "memory/A"}]},
        {"derived": [{"path": 5}]},
    ],
)
def test_a_hostile_manifest_writes_nothing(ada: Path, work: Path, tmp_path: Path, changes: dict[str, object]) -> None:
    """MEM-006, MEM-189: no path out of the workspace, no set-uid, no collision; an error and no file."""
    import_workspace(work, ada, OPTIONS)
    hostile(ada, **changes)
    with pytest.raises(AdfError):
        export_workspace(ada, tmp_path / "room" / "back", OPTIONS)
    (tmp_path / "room").mkdir()
    with pytest.raises(AdfError):
        export_workspace(ada, tmp_path / "room" / "back", OPTIONS)
    assert not any((tmp_path / "room").rglob("*.*"))


def test_a_link_in_the_workspace_leads_nowhere(ada: Path, work: Path, tmp_path: Path) -> None:
    """MEM-006: `memory` is a link out of the workspace."""
    import_workspace(work, ada, OPTIONS)
    (tmp_path / "back").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "back" / "memory").symlink_to(tmp_path / "outside")
    with pytest.raises(UnreadableError, match="leads out"):
        export_workspace(ada, tmp_path / "back", OPTIONS)
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_file_in_the_place_of_a_folder(ada: Path, work: Path, tmp_path: Path) -> None:
    import_workspace(work, ada, OPTIONS)
    back = trees.write(tmp_path / "back", {"memory": "a file"})
    with pytest.raises(UnreadableError):
        export_workspace(ada, back, OPTIONS)


def test_the_manifest_of_an_import_survives_a_second_machine(ada: Path, work: Path) -> None:
    """MEM-182: times beyond what JavaScript can count are texts, and numbers are accepted."""
    import_workspace(work, ada, OPTIONS)
    record = manifest.parse(rows(ada)[manifest.PATH])
    document = json.loads(record.encoded())
    document["files"] = [one | {"mtimeNs": int(one["mtimeNs"])} for one in document["files"]]
    assert manifest.parse(json.dumps(document).encode()).files == record.files


def test_mode_bits_of_a_tree() -> None:
    """MEM-006: how a link is judged."""
    assert not tree.leaves("memory/a/b", "../../MEMORY.md")
    assert tree.leaves("memory/a", "../../x")
    assert tree.leaves("a", "")
    assert tree.is_carried("memory/x")
    assert not tree.is_carried("memory/../x")
    assert not tree.is_carried("README.md")


@given(st.lists(st.sampled_from(["a.md", "b.md", "a-2.md", "x"]), unique=True))
def test_a_free_name_is_free(taken: list[str]) -> None:
    from adf_format.memory.transfer.importing import free

    assert free("a.md", taken.__contains__) not in taken

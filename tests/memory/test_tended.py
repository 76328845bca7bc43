"""The example of a mind that a loop tends: what its script does makes the mind consistent (MEM-143, MEM-170)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import build_gardener

from adf_format import container
from adf_format.memory import mindstatus
from adf_format.memory.agentfiles import AgentFiles
from adf_format.sample import tended
from adf_format.validation.engine import validate_file

NOW = datetime(2026, 1, 1, 2, 0, tzinfo=UTC)


def test_the_files_are_up_to_date() -> None:
    assert build_gardener.main(["--check"]) == 0
    assert build_gardener.main(["--what"]) == 2


def test_the_agent_is_valid_and_its_loop_has_a_timer(tmp_path: Path) -> None:
    (tmp_path / "fern.adf").write_bytes(tended.content())
    assert [finding.rule for finding in validate_file(tmp_path / "fern.adf").findings] == []


def test_one_pass_of_the_gardener_mends_the_index(tmp_path: Path) -> None:
    """Before it one page is an orphan; after its writes none is, and the log has one entry more."""
    path = tmp_path / "fern.adf"
    path.write_bytes(tended.content())
    calls = [call for reply in tended.script()["replies"] for call in reply.get("calls", ())]
    writes = {call["input"]["path"]: call["input"]["content"] for call in calls if call["name"] == "fs_write"}
    with container.open_for_change(path) as change:
        files = AgentFiles(change.connection, change.version)
        before = mindstatus.status_of_mind(files, {}, "x", NOW)
        with change.transaction():
            for name, text in writes.items():
                files.write(name, text.encode(), NOW)
        after = mindstatus.status_of_mind(files, {}, "x", NOW)
    assert (before["orphans"], after["orphans"], after["dangling"]) == (["mind/frost.md"], [], [])
    assert after["log"]["entries"] == before["log"]["entries"] + 1
    assert writes["mind/log.md"].endswith(tended.LOG.removeprefix("# Mind Log\n\n"))

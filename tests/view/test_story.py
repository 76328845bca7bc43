"""Rows are shown in the order of the table, archived ones folded where they were, every row once."""

from __future__ import annotations

from pathlib import Path

import pytest
from view_support import agent

from adf_format.container import open_readonly
from adf_format.history import Gap, Item, coverage
from adf_format.view.story import Fold, Story, Unfold


def told(path: Path, loop: str = "main") -> list[object]:
    with open_readonly(path) as container:
        events = Story(container, coverage(container), loop).events()
        words: list[object] = []
        for event in events:
            match event:
                case Item():
                    words.append(event.place.entry.seq)
                case Fold():
                    words.append(f"({event.rows}")
                case Unfold():
                    words.append(")")
                case Gap():
                    words.append(f"{event.start}-{event.end} gone")
        return words


def test_a_summary_stands_before_the_kept_tail_and_after_what_it_stands_for(tmp_path: Path) -> None:
    found = told(agent(tmp_path / "a.adf"))
    assert found[:11] == ["(6", 1, 2, 3, 4, 5, 6, ")", 9, 7, 8]  # STO-032: 9 has ord 6


def test_a_deleted_loop_is_told_from_its_archive(tmp_path: Path) -> None:
    assert told(agent(tmp_path / "a.adf"), "drafter") == ["(2", 20, 21, ")"]


@pytest.mark.parametrize("version", [21, 27, 28, 29, 32])
def test_every_row_of_every_version_is_shown_once(tmp_path: Path, version: int) -> None:
    path = agent(tmp_path / "a.adf", version=version)
    with open_readonly(path) as container:
        known = coverage(container)
        for name, one in known.loops.items():
            shown = [word for word in told(path, name) if isinstance(word, int)]
            assert sorted(shown) == list((one.live | one.archived).numbers())


def test_a_row_that_is_live_and_archived_is_shown_live_with_its_other_version(tmp_path: Path) -> None:
    path = agent(
        tmp_path / "a.adf",
        """INSERT INTO adf_loop (seq, role, content_json, created_at, loop)
           VALUES (2, 'user', '[{"type":"text","text":"other"}]', 1767225602000, 'main')""",
    )
    found = told(path)
    assert found.count(2) == 1
    with open_readonly(path) as container:
        items = [one for one in Story(container, coverage(container), "main").events() if isinstance(one, Item)]
    item = next(one for one in items if one.place.entry.seq == 2)
    assert item.place.audit_id is None
    assert [copy.audit_id for copy in item.copies] == [1]


def test_what_is_gone_is_told_where_it_was(tmp_path: Path) -> None:
    found = told(agent(tmp_path / "a.adf", "DELETE FROM adf_audit WHERE id = 1"))
    assert found[0] == "1-6 gone"

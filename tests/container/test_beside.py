"""A statement beside the caller's work gives what it gives in the caller's own thread, and can be given up."""

from __future__ import annotations

import time
from pathlib import Path

import apsw
import pytest

from adf_format.container import Limits, open_readonly
from adf_format.errors import LimitError
from adf_format.sample import build
from adf_format.validation.engine import Options, validate_file
from adf_format.validation.rules.container import integrity

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    build(tmp_path / "agent.adf", 32)
    return tmp_path / "agent.adf"


def test_the_rows_are_those_of_the_same_statement_in_this_thread(agent: Path) -> None:
    with open_readonly(agent) as container:
        beside = container.beside("SELECT key FROM adf_meta ORDER BY key")
        assert beside is not None
        assert beside.rows() == container.connection.execute("SELECT key FROM adf_meta ORDER BY key").fetchall()
        beside.close()


def test_what_the_statement_raises_is_raised_where_its_rows_are_asked_for(agent: Path) -> None:
    with open_readonly(agent) as container:
        beside = container.beside("SELECT * FROM no_such_table")
        assert beside is not None
        with pytest.raises(apsw.SQLError):
            beside.rows()
        beside.close()


def test_a_statement_that_is_given_up_ends_at_once(agent: Path) -> None:
    with open_readonly(agent) as container:
        beside = container.beside(ENDLESS)
        assert beside is not None
        started = time.monotonic()
        beside.close()
        assert time.monotonic() - started < 5


def test_the_deadline_of_the_file_holds_beside_too(agent: Path) -> None:
    with open_readonly(agent, Limits(deadline_s=0.2)) as container:
        beside = container.beside(ENDLESS)
        assert beside is not None
        with pytest.raises((LimitError, apsw.InterruptError)):
            beside.rows()
        beside.close()


def test_a_private_copy_cannot_be_opened_twice(agent: Path) -> None:
    with open_readonly(agent, private=True) as container:
        assert container.beside("SELECT 1") is None


def test_the_second_connection_may_not_write_either(agent: Path) -> None:
    with open_readonly(agent) as container:
        beside = container.beside("DELETE FROM adf_meta")
        assert beside is not None
        with pytest.raises(apsw.Error):
            beside.rows()
        beside.close()


@pytest.mark.parametrize("damage", ["UPDATE sqlite_schema SET rootpage = 3 WHERE name = 'idx_adf_logs_level'", ""])
def test_a_large_file_gets_the_same_findings_as_a_small_one(
    agent: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if damage:
        connection = apsw.Connection(str(agent))
        connection.config(apsw.SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1)
        connection.execute(damage)
        connection.close()
    alone = validate_file(agent, Options())
    monkeypatch.setattr(integrity, "LARGE", 1)
    beside = validate_file(agent, Options())
    assert [finding.as_json() for finding in beside.findings] == [finding.as_json() for finding in alone.findings]
    assert any(finding.rule == "ADF101" for finding in beside.findings) == bool(damage)
    assert beside.stats.not_checked == alone.stats.not_checked

"""Values too large to decode are named, never decoded and never passed over in silence."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from adf_format import jsontext
from adf_format.sample import build
from adf_format.validation.engine import validate_file


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sample, and a limit that a test can reach cheaply."""
    monkeypatch.setattr(jsontext, "MAX_COLUMN", 100_000)
    path = tmp_path / "agent.adf"
    build(path, 32)
    return path


def change(path: Path, sql: str) -> None:
    with apsw.Connection(str(path)) as connection:
        connection.execute(sql)
    connection.close()


@pytest.mark.parametrize(
    ("sql", "table"),
    [
        ("UPDATE adf_loop SET content_json = '[' || printf('%.*c', 100000, ' ') || ']' WHERE seq = 10", "adf_loop"),
        ("UPDATE adf_config SET config_json = config_json || printf('%.*c', 100000, ' ')", "adf_config"),
    ],
)
def test_json_above_the_limit_is_named_and_counted_as_not_checked(agent: Path, sql: str, table: str) -> None:
    change(agent, sql)
    report = validate_file(agent)
    found = [finding for finding in report.findings if finding.rule == "ADF306"]
    assert [finding.table for finding in found] == [table] * len(found)
    assert found
    assert "was not decoded" in found[0].message
    assert report.stats.not_checked
    assert not [finding for finding in report.findings if finding.rule in {"ADF310", "ADF402"}]


def test_json_at_the_limit_is_decoded(agent: Path) -> None:
    change(agent, "UPDATE adf_loop SET content_json = '[' || printf('%.*c', 99998, ' ') || ']' WHERE seq = 10")
    assert not [finding for finding in validate_file(agent).findings if finding.rule == "ADF306"]

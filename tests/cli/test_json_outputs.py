"""Everything that is printed as JSON says which schema it follows, and follows it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from adf_format import sample
from adf_format.schemas.store import document, registry

LINES = {"validate": "urn:adf-format:output:validate-line:1", "audit": "urn:adf-format:output:audit-export-line:1"}
COMMANDS = [
    "validate a.adf damaged.adf old.adf none.adf no.adf",
    "validate a.adf damaged.adf --quick",
    "validate a.adf damaged.adf --deep --statistics",
    "validate a.adf damaged.adf none.adf --format jsonl",
    "inspect a.adf",
    "inspect damaged.adf",
    "inspect old.adf",
    "rules",
    "rules ADF5",
    "schema list",
    "schema ddl 24",
    "new new.adf --identity",
    "loop ls a.adf",
    "loop show a.adf --history",
    "audit ls damaged.adf",
    "audit show a.adf 1",
    "audit verify damaged.adf",
    "audit resolve a.adf S3",
    "audit export a.adf --format jsonl",
    "trace a.adf S3",
    "digest a.adf --tables",
    "clear a.adf all --dry-run",
    "repair damaged.adf",
    "migrate old.adf --dry-run",
    "migrate old.adf",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sound file, a damaged one, one of the oldest version, and what is none."""
    import apsw

    monkeypatch.chdir(tmp_path)
    for name, version in (("a.adf", 32), ("damaged.adf", 32), ("old.adf", 21)):
        sample.build(name, version)
    connection = apsw.Connection("damaged.adf")
    connection.execute("UPDATE adf_audit SET data = substr(data, 1, length(data) - 8) WHERE id = 1")
    connection.execute("UPDATE adf_timers SET scope = 'agent' WHERE id = 2")
    connection.close()
    Path("no.adf").write_text("{}")
    return tmp_path


def documents(text: str, command: str) -> Iterator[tuple[str, Any]]:
    """Yield each document with the schema that it names; lines name none, their schema is that of the command."""
    if "jsonl" in command:
        for line in text.splitlines():
            yield LINES[command.split(maxsplit=1)[0]], json.loads(line)
    else:
        value = json.loads(text)
        yield value["$schema"], value


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_printed_follows_its_schema(adf: Any, command: str) -> None:
    words = command.split() + ([] if "--format" in command else ["--format", "json"])
    result = adf(*words)
    found = list(documents(result.out, command))
    assert found, result.err
    for urn, value in found:
        assert urn.startswith("urn:adf-format:output:")
        Draft202012Validator(document(urn), registry=registry()).validate(value)

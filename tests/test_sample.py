"""The sample is one agent, the same bytes every time, coherent in itself, with rows in every table."""

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from adf_format import sample
from adf_format.audit import decompress_all, utf16_length
from adf_format.schemas import LATEST, OLDEST, storage_version
from adf_format.validation.rule import Example

VERSIONS = range(OLDEST, LATEST + 1)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def opened(path: Path) -> apsw.Connection:
    return apsw.Connection(str(path), apsw.SQLITE_OPEN_READONLY)


@pytest.fixture
def rich(tmp_path: Path) -> Any:
    def make(version: int) -> apsw.Connection:
        sample.build(tmp_path / f"{version}.adf", version)
        return opened(tmp_path / f"{version}.adf")

    return make


@pytest.mark.parametrize("version", VERSIONS)
def test_every_table_of_the_version_has_rows(version: int, rich: Any) -> None:
    for table in storage_version(version).tables:
        assert rich(version).execute(f"SELECT count(*) FROM {table}").get, table


def test_the_bytes_do_not_depend_on_the_process() -> None:
    code = (
        "import hashlib; from adf_format import sample; "
        "print(hashlib.sha256(b''.join(sample.content(v, b) for v in (21, 32) for b in ('fresh', 'rich'))).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    here = b"".join(sample.content(version, base) for version in (21, 32) for base in ("fresh", "rich"))
    assert done.stdout.strip() == hashlib.sha256(here).hexdigest()


def test_the_header_does_not_name_the_sqlite_that_wrote_it() -> None:
    header = sample.content(32)[:100]
    assert int.from_bytes(header[96:100]) == 3_050_000 != apsw.SQLITE_VERSION_NUMBER
    assert header[92:96] == header[24:28]


@pytest.mark.parametrize("version", VERSIONS)
def test_sqlite_finds_nothing_wrong(version: int, rich: Any) -> None:
    assert rich(version).execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert rich(version).execute("PRAGMA journal_mode").get == "delete"


@pytest.mark.parametrize("version", VERSIONS)
def test_each_snapshot_is_what_its_row_says(version: int, rich: Any) -> None:
    for source, count, size, data in rich(version).execute(
        "SELECT source, entry_count, size_bytes, data FROM adf_audit"
    ):
        text = decompress_all([data], limit_bytes=10**6).decode()
        value = json.loads(text)
        assert utf16_length(text) == size, source
        assert count == (len(value) if isinstance(value, list) else 1), source


@pytest.mark.parametrize(
    ("version", "archived", "order"),
    [
        (27, [1, 2, 3, 4, 5, 6, 7, 8], [9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]),
        (28, [1, 2, 3, 4, 5, 6], [9, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]),
        (29, [1, 2, 3, 4, 5, 6], [9, 7, 8, 10, 11, 12, 13, 14, 18, 19]),
    ],
)
def test_the_transcript_of_main_as_it_is_shown(version: int, archived: list[int], order: list[int], rich: Any) -> None:
    """Before 28 a compaction archived everything; since, it keeps a tail whose summary stands before it."""
    connection = rich(version)
    data = connection.execute("SELECT data FROM adf_audit WHERE id = 1").get
    assert [entry["seq"] for entry in json.loads(decompress_all([data], limit_bytes=10**6))] == archived
    key = "COALESCE(ord, seq), seq" if version >= 28 else "seq"
    where = "WHERE loop = 'main'" if version >= 29 else ""
    assert [seq for (seq,) in connection.execute(f"SELECT seq FROM adf_loop {where} ORDER BY {key}")] == order


@pytest.mark.parametrize(("version", "mark"), [(28, 19), (29, 21)])
def test_a_seq_of_a_deleted_loop_is_never_given_again(version: int, mark: int, rich: Any) -> None:
    assert rich(version).execute("SELECT seq FROM sqlite_sequence WHERE name = 'adf_loop'").get == mark


def test_the_owner_s_statement_can_be_verified(rich: Any) -> None:
    import base64

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from adf_format.identity import parse_did_key

    said = json.loads(rich(32).execute("SELECT raw_json FROM adf_attestations").get)
    signature = base64.b64decode(said.pop("signature").removeprefix("ed25519:"))
    text = json.dumps(dict(sorted(said.items())), separators=(",", ":")).encode()
    Ed25519PublicKey.from_public_bytes(parse_did_key(said["issuer"])).verify(signature, text)


EXAMPLES = {
    "sql": Example(
        "SELECT 1; UPDATE adf_meta SET value = hex(brotli('[]')) || utf16_length('😀') WHERE key = 'status'"
    ),
    "fresh": Example("DROP INDEX idx_adf_loop_stream", base="fresh", on=29),
    "drop column": Example("ALTER TABLE adf_tasks DROP COLUMN approval_meta"),
    "schema": Example("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'x' WHERE name = 'local_notes'"),
    "log": Example(log="UPDATE adf_meta SET value = 'in the log' WHERE key = 'status'; CREATE TABLE more (x)"),
    "cut log": Example(log="UPDATE adf_meta SET value = 'cut off' WHERE key = 'status'", log_cut=5),
    "bytes": Example(patch=((18, "0303"), (-2, "abcd")), append="0102", truncate=1000),
    "beside": Example(beside=((".bak", "00"),)),
    "text": Example(content="no database"),
}


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("change", EXAMPLES.values(), ids=EXAMPLES)
def test_an_example_gives_the_same_bytes_every_time(change: Example, tmp_path: Path) -> None:
    found = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        sample.example(tmp_path / name / "a.adf", change)
        found.append(bytes_of(tmp_path / name))
    assert found[0] == found[1]
    assert found[0]["a.adf"] != sample.content(32) or change.beside


def test_sql_has_the_functions_of_the_format_and_every_statement_runs(tmp_path: Path) -> None:
    sample.example(tmp_path / "a.adf", EXAMPLES["sql"])
    value = opened(tmp_path / "a.adf").execute("SELECT value FROM adf_meta WHERE key = 'status'").get
    assert decompress_all([bytes.fromhex(value[:-1])], limit_bytes=10) == b"[]"
    assert value[-1] == "2"


def test_a_log_is_played_back_by_sqlite_and_a_cut_one_is_not(tmp_path: Path) -> None:
    for name, status in (("log", "in the log"), ("cut log", "resting")):
        (tmp_path / name).mkdir()
        sample.example(tmp_path / name / "a.adf", EXAMPLES[name])
        assert names(tmp_path / name) == ["a.adf", "a.adf-wal"]
        connection = apsw.Connection(str(tmp_path / name / "a.adf"))
        assert connection.execute("SELECT value FROM adf_meta WHERE key = 'status'").get == status
        assert connection.execute("PRAGMA integrity_check").get == "ok"
        connection.close()


def test_bytes_are_patched_then_cut_then_added(tmp_path: Path) -> None:
    sample.example(tmp_path / "a.adf", EXAMPLES["bytes"])
    made, plain = (tmp_path / "a.adf").read_bytes(), sample.content(32)
    assert made == plain[:18] + b"\x03\x03" + plain[20:1000] + b"\x01\x02"
    sample.example(tmp_path / "b.adf", Example(patch=((-2, "abcd"),)))
    assert (tmp_path / "b.adf").read_bytes() == plain[:-2] + b"\xab\xcd"


def test_an_example_whose_sql_does_not_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(apsw.SQLError):
        sample.example(tmp_path / "a.adf", Example("UPDATE nothing SET x = 1"))


def test_examples_do_not_change_the_sample(tmp_path: Path) -> None:
    before = sample.content(32)
    sample.example(tmp_path / "a.adf", replace(EXAMPLES["sql"], append="00"))
    assert sample.content(32) == before

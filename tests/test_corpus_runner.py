"""`adf-conformance corpus`: whatever the validator does, the verdict is counted honestly."""

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from adf_conformance import corpus
from adf_conformance.cli import main

VERDICTS = {
    "valid/good.adf": ("accepted", "must"),
    "invalid/bad.adf": ("rejected", "must"),
    "invalid/odd.adf": ("accepted", "should"),
}
PYTHON = sys.executable


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "corpus"
    entries = []
    for name, (verdict, level) in VERDICTS.items():
        path = made / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(verdict)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        entries.append({"path": name, "verdict": verdict, "level": level, "sha256": {path.name: digest}})
    (made / "manifest.json").write_text(json.dumps({"entries": entries}))
    return made


@pytest.fixture
def validator(tmp_path: Path) -> Any:
    """Make a validator of a Python body in which `text` is the content of the file and `path` its path."""

    def make(body: str) -> str:
        script = tmp_path / "validator.py"
        script.write_text(f"import sys, json, time, os\npath = sys.argv[1]\ntext = open(path).read()\n{body}\n")
        return f"{PYTHON} {script} {{file}}"

    return make


def run(folder: Path, command: str, *more: str) -> Result:
    return CliRunner().invoke(main, ["corpus", str(folder), "--validator", command, *more])


def test_a_right_validator_passes_by_exit_code(folder: Path, validator: Any) -> None:
    done = run(folder, validator("sys.exit(text == 'rejected')"))
    assert (done.exit_code, done.output) == (0, "must: passed 2 / required 2\nshould: passed 1 / required 1\n")


def test_what_cannot_be_read_counts_as_rejected(folder: Path, validator: Any) -> None:
    assert run(folder, validator("sys.exit(3 * (text == 'rejected'))")).exit_code == 0


def test_a_json_report_counts_more_than_the_exit_code(folder: Path, validator: Any) -> None:
    body = "print(json.dumps({'files': [{'valid': text == 'accepted', 'findings': []}]}))"
    assert run(folder, validator(body)).exit_code == 0


@pytest.mark.parametrize(
    "output", ["[]", '{"files": []}', '{"files": [{"valid": 1}]}', '{"files": [{}, {}]}', "[" * 9999, "", "null"]
)
def test_an_output_that_is_no_report_is_ignored(folder: Path, validator: Any, output: str) -> None:
    assert run(folder, validator(f"print({output!r}); sys.exit(text == 'rejected')")).exit_code == 0


@pytest.mark.parametrize(
    ("code", "failed"),
    [(0, "invalid/bad.adf: accepted, where rejected"), (1, "valid/good.adf: rejected, where accepted")],
)
def test_a_validator_that_always_says_the_same_fails(folder: Path, validator: Any, code: int, failed: str) -> None:
    done = run(folder, validator(f"sys.exit({code})"))
    assert done.exit_code == 1
    assert f"failed (must): {failed} is right" in done.output
    assert "must: passed 1 / required 2, 1 failed" in done.output


def test_rejecting_what_runtimes_tolerate_is_told_but_not_a_failure(folder: Path, validator: Any) -> None:
    done = run(folder, validator("sys.exit('good' not in path)"))
    assert done.exit_code == 0
    assert "should: passed 0 / required 1, 1 failed" in done.output


@pytest.mark.parametrize("code", [2, 70, -9])
def test_a_crash_is_no_verdict(folder: Path, validator: Any, code: int) -> None:
    body = f"os.kill(os.getpid(), {-code})" if code < 0 else f"sys.exit({code})"
    done = run(folder, validator(body))
    assert done.exit_code == 3
    assert f"exit code {code} is no verdict" in done.output
    assert "must: passed 0 / required 2, 2 inconclusive" in done.output


def test_a_validator_that_hangs_is_ended_with_its_children(folder: Path, validator: Any, tmp_path: Path) -> None:
    mark = tmp_path / "children"
    body = f"pid = os.fork()\nif not pid: open({str(mark)!r}, 'a').write(str(os.getpid()) + '\\n')\ntime.sleep(60)"
    done = run(folder, validator(body), "--timeout", "4", "--jobs", "3")
    assert done.exit_code == 3
    assert "no answer within 4 s" in done.output
    children = [int(line) for line in mark.read_text().split()]
    assert len(children) == 3
    deadline = time.monotonic() + 5
    while any(_alive(child) for child in children):
        assert time.monotonic() < deadline, "a child of the validator outlived it"
        time.sleep(0.02)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_validator_sees_a_copy_with_what_lies_beside_the_file(folder: Path, validator: Any) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "valid/good.adf-wal").write_text("log")
    manifest["entries"][0]["sha256"]["good.adf-wal"] = hashlib.sha256(b"log").hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    body = (
        "if 'good' in path: assert open(path + '-wal').read() == 'log'\n"
        "open(path, 'w').write('spoilt')\n"
        "sys.exit(text == 'rejected')"
    )
    assert run(folder, validator(body)).exit_code == 0
    assert (folder / "valid/good.adf").read_text() == "accepted"


def test_json_output_has_counts_and_every_case(folder: Path, validator: Any) -> None:
    told = json.loads(run(folder, validator("sys.exit(0)"), "--format", "json").output)
    assert told["summary"]["must"] == {"required": 2, "passed": 1, "failed": 1, "inconclusive": 0}
    assert {one["case"]: one["outcome"] for one in told["results"]} == {
        "valid/good.adf": "passed",
        "invalid/bad.adf": "failed",
        "invalid/odd.adf": "passed",
    }


@pytest.mark.parametrize("command", ["true", "'unclosed {file}", ""])
def test_a_command_that_cannot_name_the_file_is_wrong_usage(folder: Path, command: str) -> None:
    assert run(folder, command).exit_code == 2


def test_a_command_that_does_not_exist_is_said_in_one_line(folder: Path) -> None:
    done = run(folder, "/no/such/validator {file}")
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr == "adf-conformance: /no/such/validator: No such file or directory\n"


@pytest.mark.parametrize("text", ["", "[]", '{"entries": []}', '{"entries": [1]}', '{"entries": [{"path": "a"}]}'])
def test_nothing_passes_on_an_empty_or_broken_corpus(folder: Path, validator: Any, text: str) -> None:
    (folder / "manifest.json").write_text(text)
    done = run(folder, validator("sys.exit(0)"))
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr.count("\n") == 1


def test_a_changed_file_of_the_corpus_is_no_ground_for_a_verdict(folder: Path, validator: Any) -> None:
    (folder / "invalid/bad.adf").write_text("other")
    done = run(folder, validator("sys.exit(text == 'rejected')"))
    assert done.exit_code == 3
    assert "bad.adf: missing, or not the file that the manifest names" in done.stderr


def test_a_file_that_is_missing_is_found_before_anything_runs(folder: Path) -> None:
    (folder / "invalid/bad.adf").unlink()
    with pytest.raises(corpus.CorpusError, match="missing"):
        corpus.load(folder)


def test_the_suite_runs_without_the_toolkit() -> None:
    code = "import sys, adf_conformance.cli; print([m for m in sys.modules if m.startswith('adf_format')])"
    path = str(Path(__file__).parent.parent / "conformance")
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "[]"


def test_help_and_version() -> None:
    assert "corpus" in CliRunner().invoke(main, ["--help"]).output
    assert CliRunner().invoke(main, ["corpus", "-h"]).exit_code == 0

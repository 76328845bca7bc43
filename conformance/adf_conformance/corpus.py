"""Run a validator over the corpus of fixtures and judge what it says."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

ACCEPTED, REJECTED = "accepted", "rejected"
BY_EXIT = {0: ACCEPTED, 1: REJECTED, 3: REJECTED}
OUTPUT_LIMIT = 4_000_000  # bytes of one answer that are read
PLACEHOLDER = "{file}"


class CorpusError(Exception):
    """The corpus, or the validator as a command, cannot be used at all."""


@dataclass(frozen=True)
class Case:
    """One file of the corpus and the verdict that is right.

    :ivar name: path inside the corpus
    :ivar level: `must`, or `should` for files that break no MUST but give reason for a warning
    :ivar files: the file and what lies beside it, SHA-256 by name
    """

    name: str
    verdict: str
    level: str
    files: dict[str, str]


@dataclass(frozen=True)
class Result:
    """What the validator said about one case.

    :ivar said: `accepted`, `rejected`, or None if it gave no verdict
    :ivar note: why there is no verdict
    """

    case: str
    level: str
    required: str
    said: str | None
    note: str = ""

    @property
    def outcome(self) -> str:
        """`passed`, `failed` or `inconclusive`."""
        if self.said is None:
            return "inconclusive"
        return "passed" if self.said == self.required else "failed"

    def as_json(self) -> dict[str, Any]:
        """Return the result with its outcome."""
        return asdict(self) | {"outcome": self.outcome}


def load(folder: Path) -> list[Case]:
    """Read the manifest of a corpus and check that every file is as it was published.

    :raises CorpusError: no manifest, no case, or a file that is missing or changed
    """
    try:
        manifest = json.loads((folder / "manifest.json").read_bytes())
        cases = [
            Case(entry["path"], entry["verdict"], entry["level"], entry["sha256"]) for entry in manifest["entries"]
        ]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise CorpusError(f"{folder}: no corpus with a manifest.json ({type(error).__name__})") from None
    if not cases:
        raise CorpusError(f"{folder}: the corpus is empty")
    for case in cases:
        _check(folder, case)
    return cases


def _check(folder: Path, case: Case) -> None:
    for name, digest in case.files.items():
        path = (folder / case.name).with_name(name)
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            raise CorpusError(f"{path}: missing, or not the file that the manifest names")


def run(folder: Path, cases: Sequence[Case], command: Sequence[str], timeout: float, jobs: int = 1) -> list[Result]:
    """Return one result per case, in their order; each runs on a private copy.

    :param command: arguments; `{file}` in them stands for the path of the file
    :param timeout: seconds for one file
    :param jobs: how many files at the same time
    :raises CorpusError: the command cannot be started
    """
    with ThreadPoolExecutor(jobs) as pool:
        try:
            return list(pool.map(lambda case: _judge(folder, case, command, timeout), cases))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _judge(folder: Path, case: Case, command: Sequence[str], timeout: float) -> Result:
    with tempfile.TemporaryDirectory(prefix="adf-conformance-") as place:
        original = folder / case.name
        for name in case.files:
            shutil.copyfile(original.with_name(name), Path(place, name))
        said, note = _ask(command, Path(place, original.name), timeout)
    return Result(case.name, case.level, case.verdict, said, note)


def _ask(command: Sequence[str], path: Path, timeout: float) -> tuple[str | None, str]:
    arguments = [part.replace(PLACEHOLDER, str(path)) for part in command]
    with tempfile.TemporaryFile() as out:
        try:
            code = _call(arguments, out, timeout)
        except OSError as error:
            raise CorpusError(f"{arguments[0]}: {error.strerror or 'cannot be started'}") from None
        if code is None:
            return None, f"no answer within {timeout:g} s"
        out.seek(0)
        said = _stated(out.read(OUTPUT_LIMIT)) or BY_EXIT.get(code)
    return said, "" if said else f"exit code {code} is no verdict"


def _call(arguments: Sequence[str], out: IO[bytes], timeout: float) -> int | None:
    """Run the validator in a process group of its own, and end all of it when time is up."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(arguments, stdin=quiet, stdout=out, stderr=quiet, start_new_session=True)  # noqa: S603
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _stated(output: bytes) -> str | None:
    """Return the verdict of a JSON report on one file, None if the output is no such report."""
    try:
        (told,) = json.loads(output)["files"]
        valid = told["valid"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return {True: ACCEPTED, False: REJECTED}.get(valid) if isinstance(valid, bool) else None

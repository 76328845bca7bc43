"""Checking a receipt, offline and from nothing but the files: does it tell the truth?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw

from adf_format.container import Container, open_readonly
from adf_format.container import backup as backups
from adf_format.container.locate import beside
from adf_format.digest import ALGORITHM, Digest, digest
from adf_format.errors import AdfError, UsageError
from adf_format.jsontext import decode
from adf_format.migration.engine import Order
from adf_format.migration.ladder import climb, wanted
from adf_format.migration.locating import locate_snapshot
from adf_format.migration.receipt import SCHEMA, seal
from adf_format.migration.rehearsal import Rehearsal
from adf_format.migration.split import split_batches
from adf_format.migration.work import Work
from adf_format.schemas import checker

Entry = Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """The answer to one question.

    :ivar holds: yes, no, or None where it cannot be told
    """

    question: str
    holds: bool | None
    detail: str = ""


def load(path: str | Path) -> dict[str, Any]:
    """Read a receipt.

    :raises UsageError: it is none
    """
    place = Path(path)
    try:
        value = decode(place.read_bytes()).value
    except OSError as error:
        raise UsageError(f"the receipt cannot be read: {error.strerror}", place) from error
    except AdfError as error:
        raise UsageError(f"the receipt is not JSON: {error.message}", place) from error
    if not isinstance(value, dict) or value.get("$schema") != SCHEMA:
        raise UsageError("this is no receipt of a migration", place)
    for problem in checker(SCHEMA).problems(value):
        raise UsageError(f"the receipt is not complete: {problem.message}", place, place=problem.pointer or "/")
    return value


def is_sealed(receipt: Mapping[str, Any]) -> Answer:
    """Whether the receipt is as it was written."""
    return Answer("the receipt is as it was written", receipt["sha256"] == seal(receipt["files"]))


def check(entry: Entry, *, file: Path | None = None, before: Path | None = None) -> Iterator[Answer]:
    """Answer, one by one, whether what an entry says is so.

    :param file: the migrated file, where it is not where the entry says
    :param before: the file as it was, likewise
    """
    file = file or Path(entry["output"] or entry["file"])
    before = before or _before(entry, file)
    yield from _file("the migrated file is the one that was made", file, entry["after"], _after_tables(entry, "after"))
    yield from _file(
        "the file from before is the one that was read", before, entry["before"], _after_tables(entry, "before")
    )
    yield from _guarded(
        "the audit rows of the migrated file hold the same JSON", file, lambda one: _audit(one, entry, "after")
    )
    yield from _guarded(
        "the audit rows of the file from before held it", before, lambda one: _audit(one, entry, "before")
    )
    yield _untouched(entry)
    yield _accounted(entry)
    yield from _guarded("migrating the file from before again gives the same", before, lambda one: _again(one, entry))


def _before(entry: Entry, file: Path) -> Path:
    """Return where the old file should be: the backup beside the file, or the original of a copy."""
    if entry["undo"] is None:
        return Path(entry["file"])
    return file.resolve().with_name(entry["undo"]["backup"]) if file.exists() else beside(file, backups.SUFFIX)


def _after_tables(entry: Entry, when: str) -> dict[str, tuple[int, str]]:
    return {one["table"]: (one[when]["rows"], one[when]["sha256"]) for one in entry["tables"] if one[when]}


def _file(question: str, path: Path, facts: Entry, tables: dict[str, tuple[int, str]]) -> Iterator[Answer]:
    def compare(container: Container) -> Answer:
        if container.source.mode == "immutable" and facts["sha256"] == backups.sha256_of(path):
            return Answer(question, True, "byte for byte")
        if facts["digest"]["algorithm"] != ALGORITHM:
            return Answer(question, None, f"its digest was made by {facts['digest']['algorithm']}")
        found = digest(container)
        if found.sha256 == facts["digest"]["sha256"]:
            return Answer(question, True, "in every value; the bytes are laid out otherwise")
        return Answer(
            question, False, f"it differs in {', '.join(_differing(found, tables)) or 'what it has of tables'}"
        )

    yield from _guarded(question, path, compare)


def _differing(found: Digest, tables: dict[str, tuple[int, str]]) -> list[str]:
    now = {name: (one.rows, one.sha256) for name, one in found.tables.items()}
    return sorted(name for name in now.keys() | tables.keys() if now.get(name) != tables.get(name))


def _guarded(question: str, path: Path, ask: Callable[[Container], Answer]) -> Iterator[Answer]:
    if not path.exists():
        yield Answer(question, None, f"{path.name} is not there")
        return
    try:
        with open_readonly(path) as container:
            answer = ask(container)
        yield Answer(question, answer.holds, answer.detail)
    except AdfError as error:
        yield Answer(question, None, error.message)
    except apsw.Error as error:
        yield Answer(question, None, str(error))


def _audit(container: Container, entry: Entry, when: str) -> Answer:
    """Decode every snapshot again and compare the hashes of its JSON."""
    wrong: list[str] = []
    told = {one["id"]: one["json"][when] for one in entry["audit"] if one["blob"][when]}
    ids = {int(row[0]) for row in container.connection.execute("SELECT id FROM adf_audit")}
    for number in sorted(ids | told.keys()):
        found = locate_snapshot(container.connection, number, hashing=True).sha256 if number in ids else None
        if number not in ids or number not in told or found != told[number]:
            wrong.append(str(number))
    detail = f"rows {', '.join(wrong[:5])} do not" if wrong else f"{len(ids)} rows"
    return Answer("", not wrong, detail)


def _untouched(entry: Entry) -> Answer:
    """Whether no snapshot changed, but for batches that were replaced on demand."""
    replaced = {one["id"] for one in entry["replaced"]}
    made = {number for one in entry["replaced"] for number in one["became"]}
    wrong = [
        str(one["id"])
        for one in entry["audit"]
        if one["id"] not in replaced | made
        and (one["json"]["before"] != one["json"]["after"] or one["blob"]["before"] != one["blob"]["after"])
    ]
    return Answer(
        "every snapshot is the same before and after", not wrong, f"rows {', '.join(wrong[:5])}" if wrong else ""
    )


def _accounted(entry: Entry) -> Answer:
    """Whether each table is the same, the same without columns by design, or has changes with a rule."""
    named = {one["table"] for one in entry["changes"]}
    growing = {"sqlite_sequence"} if any(one["kind"] == "row-added" for one in entry["changes"]) else set()
    wrong = [one["table"] for one in entry["tables"] if not one["same"] and one["table"] not in named | growing]
    ruleless = [one["table"] for one in entry["changes"] if not one["rule"]]
    wrong += ruleless
    return Answer("every change has a rule", not wrong, ", ".join(wrong))


def _again(container: Container, entry: Entry) -> Answer:
    order = Order(entry["to"], datetime.fromisoformat(entry["now"]), entry["split_batches"])
    with Rehearsal(container) as place:
        work = Work(place, now=order.now or datetime.now().astimezone(), final=order.target)
        climb(work, wanted(entry["from"], order.target, Path(entry["file"])))
        if order.split:
            split_batches(work)
        found = digest(place.connection)
    if [touch.as_json() for touch in work.record.touches] != entry["changes"]:
        return Answer("", False, "the changes are others")
    if found.sha256 != entry["after"]["digest"]["sha256"]:
        return Answer("", False, f"it differs in {', '.join(_differing(found, _after_tables(entry, 'after')))}")
    return Answer("", True, f"{len(entry['changes'])} changes")

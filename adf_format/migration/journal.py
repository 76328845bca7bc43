"""The receipt of a run while it is being made: a line for each file that was begun or finished, durable at once.

A run over many files may be killed. What was finished stays in `RECEIPT.part`, and the next run with the same receipt
goes on from there; of a file that was begun only, it tells the whole migration, from the first backup on. At the end
the receipt is written as one document, whole or not at all, and the part goes.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Self

from adf_format.container import backup as backups
from adf_format.container import open_readonly, stored_version
from adf_format.container.leftovers import sweep
from adf_format.creation.agent import iso
from adf_format.digest import digest
from adf_format.errors import AdfError, UsageError
from adf_format.jsontext import decode
from adf_format.migration import checking, receipt
from adf_format.migration.engine import Order, Outcome, rehearse
from adf_format.migration.ladder import wanted
from adf_format.terminal import harmless_json

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

SUFFIX = ".part"
Entry = dict[str, Any]
Key = tuple[str, str | None]  # the file, and the copy that was made of it


class Journal:
    """The receipt at a path. Entries of earlier runs stay, but for one that is made anew.

    :ivar entries: what is finished; :ivar begun: what was begun only
    """

    def __init__(self, path: Path) -> None:
        """Open it, or begin it.

        :raises UsageError: something else is there, or another run is writing it
        """
        self.path = path
        self._part = path.with_name(path.name + SUFFIX)
        earlier = checking.load(path)["files"] if path.exists() else []
        self._stream = self._opened()
        self.entries: dict[Key, Entry] = {_key(one): one for one in earlier}
        self.begun: dict[Key, Entry] = {}
        self._unfinished: set[Key] = set()  # what an earlier run left in the part
        self._recall()

    def _opened(self) -> BinaryIO:
        try:
            stream = open(self._part, "a+b")  # noqa: SIM115, PTH123 - closed by close()
        except OSError as error:
            raise UsageError(f"the receipt cannot be written: {error.strerror}", self.path) from error
        if fcntl is not None:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                stream.close()
                raise UsageError("another run is writing this receipt", self.path) from None
        return stream

    def _recall(self) -> None:
        """Take over what an earlier run wrote; a line that it did not finish is cut off."""
        self._stream.seek(0)
        sound = 0
        for line in self._stream:
            try:
                found = decode(line).value if line.endswith(b"\n") else None
            except AdfError:
                found = None
            if not isinstance(found, dict):
                break
            self._take(found)
            self._unfinished.update(_key(one) for one in found.values())
            sound += len(line)
        self._stream.truncate(sound)

    def _take(self, line: Mapping[str, Any]) -> None:
        if "entry" in line:
            self.entries[_key(line["entry"])] = line["entry"]
            self.begun.pop(_key(line["entry"]), None)
        elif "begun" in line:
            self.begun[_key(line["begun"])] = line["begun"]

    def _write(self, kind: str, value: Entry) -> None:
        self._take({kind: value})
        self._stream.write(json.dumps({kind: value}).encode() + b"\n")
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def order(self, order: Order, path: Path, output: Path | None) -> Order:
        """Make an order that this journal is told of, with the time of an interrupted run that it goes on with.

        :raises UsageError: the receipt speaks of another migration of the file already
        """
        key = _name(path), _name(output) if output else None
        begun, entry = self.begun.get(key), self.entries.get(key)
        if entry is not None and begun is None:
            _demand_same_start(path, entry, order.target)
        now = datetime.fromisoformat(begun["now"]) if begun else order.now
        return Order(order.target, now, order.split, hashing=True, begun=self._begin)

    def _begin(self, outcome: Outcome) -> None:
        facts = {"file": _name(outcome.file), "output": _name(outcome.output) if outcome.output else None}
        if _key(facts) not in self.begun:
            backup = str(outcome.backup.resolve()) if outcome.backup else None
            more = {"from": outcome.source, "now": iso(outcome.now), "split": outcome.split, "backup": backup}
            self._write("begun", facts | more)

    def finish(self, outcome: Outcome) -> None:
        """Write the entry of one migration; of one that earlier runs began, the entry of the whole.

        :raises AdfError: one of the files cannot be read
        """
        key = _name(outcome.file), _name(outcome.output) if outcome.output else None
        begun = self.begun.get(key)
        entry = self._whole(outcome, begun) if begun else None
        if entry is None and (outcome.backup or outcome.output) and outcome.record.touches:
            entry = receipt.entry(outcome, outcome.backup or outcome.file)
        if entry is not None:
            self._write("entry", entry | {"file": key[0], "output": key[1]})

    def recover(self, path: Path, output: Path) -> Outcome | None:
        """Write the entry of a copy that an interrupted run made complete; None if there is none.

        :raises AdfError: one of the files cannot be read
        """
        key = _name(path), _name(output)
        known = self.begun.get(key) or self.entries.get(key)
        if key not in self._unfinished or known is None or not output.exists():
            return None
        with open_readonly(output) as container:
            target = stored_version(container.connection) or 0
        steps = wanted(known["from"], target, path)
        sweep(output.parent)
        made = Outcome(path, known["from"], target, steps, output=output, now=datetime.fromisoformat(known["now"]))
        if key in self.begun:
            entry = self._whole(made, known)
            if entry is None:
                return None
            self._write("entry", entry)
        return made

    def _whole(self, outcome: Outcome, begun: Entry) -> Entry | None:
        """Describe a migration from its first beginning; None if that is no longer what led to the file."""
        before = Path(begun["backup"]) if begun["backup"] else outcome.file
        if begun["from"] == outcome.source and outcome.backup in (None, before) and outcome.record.touches:
            return receipt.entry(outcome, before)  # nothing was interrupted
        try:
            again = rehearse(before, Order(outcome.target, outcome.now, outcome.split or begun["split"], hashing=True))
            backup = before if begun["backup"] else None
            whole = Outcome(outcome.file, again.source, again.target, again.steps, again.record, backup)
            whole.output, whole.now, whole.split = outcome.output, again.now, again.split
            entry = receipt.entry(whole, before)
            holds = all(answer.holds is not False for answer in checking.check(entry))
        except AdfError:
            holds = False
        if holds:
            return entry
        text = f"an earlier run was interrupted, and this receipt begins after it; before it the file was {before.name}"
        outcome.record.notes.append(text)
        return None

    def close(self) -> None:
        """Write the receipt; what was begun and not finished stays in the part."""
        with self._stream:
            _replace(self.path, receipt.text(self.entries.values()))
            left = [one for one in self.begun.values() if _is_open(one)]
            if not left:
                self._part.unlink(missing_ok=True)
                return
            self._stream.truncate(0)
            for one in left:
                self._write("begun", one)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _key(facts: Mapping[str, Any]) -> Key:
    return facts["file"], facts["output"]


def _name(path: Path) -> str:
    """Return how a receipt names a file: as it was given, so that folders can be moved as a whole."""
    return str(path)


def _is_open(begun: Entry) -> bool:
    """Whether something came of a migration that was begun: its backup is there, and the file is no longer the old."""
    if begun["backup"] is None or not Path(begun["backup"]).exists():
        return False
    with contextlib.suppress(AdfError), open_readonly(begun["file"]) as container:
        return bool(stored_version(container.connection) != begun["from"])
    return False


def _demand_same_start(path: Path, entry: Entry, target: int) -> None:
    """Demand that a new entry may stand in the place of an old one: the file was brought back meanwhile."""
    with open_readonly(path) as container:
        version = stored_version(container.connection)
        if version == target and version == entry["to"]:
            return
        if version == entry["from"] and digest(container).sha256 == entry["before"]["digest"]["sha256"]:
            return
    raise UsageError("the receipt speaks of another migration of this file", path, hint="name another receipt")


def _replace(path: Path, pieces: Iterator[str]) -> None:
    """Write a file whole or not at all, and durably."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("x", encoding="utf-8", errors="backslashreplace") as stream:
            for piece in pieces:
                stream.write(harmless_json(piece))
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(path)
        backups.sync_folder(path.parent)
    finally:
        partial.unlink(missing_ok=True)

"""Files, attestations, identity."""

from __future__ import annotations

from collections.abc import Sequence

from adf_format.creation import seeds
from adf_format.creation.agent import file_row
from adf_format.repair.fix import Fix, Kind, Place
from adf_format.repair.mend import Mend

CORE = ("mind.md", "soul.md", "mind/log.md")


def _size(mend: Mend, places: Sequence[Place]) -> None:
    query = "SELECT octet_length(content) FROM adf_files WHERE rowid = ?"
    for place in places:
        mend.update("adf_files", place.rowid, "size", mend.connection.execute(query, (place.rowid,)).get)


def _protect(mend: Mend, places: Sequence[Place]) -> None:
    for place in places:
        mend.update("adf_files", place.rowid, "protection", "no_delete")


def _seed(mend: Mend, places: Sequence[Place]) -> None:
    name = mend.context.config.get("name")
    time = mend.connection.execute("SELECT max(updated_at) FROM adf_config").get
    time = time if isinstance(time, str) and len(time) >= 10 else "1970-01-01T00:00:00.000Z"
    texts = seeds.files(mend.version, name if isinstance(name, str) else "Agent", time[:10])
    for place in places:
        path = next((path for path in CORE if place.message == f"{path} is missing"), None)
        if path in texts and path is not None:
            mend.insert("adf_files", file_row(path, texts[path].encode(), time))


def _copy(mend: Mend, places: Sequence[Place]) -> None:
    columns = mend.context.version.tables["adf_attestations"].column
    for place in places:
        signed = mend.json("adf_attestations", place.rowid, "raw_json")
        column = columns.get(place.column or "")
        if not isinstance(signed, dict) or column is None:
            continue
        value = signed.get(column.name)
        if isinstance(value, str) or (value is None and not column.not_null):
            mend.update("adf_attestations", place.rowid, column.name, value)


def _close(mend: Mend, places: Sequence[Place]) -> None:
    for place in places:
        mend.update("adf_identity", place.rowid, "code_access", 0)


FIXES = (
    Fix("ADF331", Kind.SAFE, "set size to the length of the content", "the content tells its size", _size),
    Fix("ADF730", Kind.SAFE, "copy the field from raw_json", "what is signed is what counts", _copy),
    Fix("ADF710", Kind.GUESS, "add the file as a fresh agent has it", "the owner may have deleted it", _seed),
    Fix("ADF711", Kind.GUESS, "protect the file against deletion", "the owner may have lifted it", _protect),
    Fix("ADF814", Kind.GUESS, "close the key to code of the agent", "some code may rely on it", _close),
)

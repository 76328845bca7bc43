"""Decoded entries as typed values."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from adf_format.audit.failures import SnapshotError


class ShapeError(SnapshotError):
    """A decoded entry lacks what its source promises."""


@dataclass(frozen=True, slots=True)
class LoopEntry:
    """One archived row of `adf_loop` (AUD-020).

    :ivar content: the blocks, parsed; what else stands there in a damaged entry
    :ivar created_at: epoch ms, None where it is no integer
    :ivar tokens: the usage record; a bare number in blobs of old runtimes
    """

    seq: int
    role: str
    content: Any
    model: str | None
    tokens: Any
    created_at: int | None
    ord: int | None

    @classmethod
    def parse(cls, value: Any) -> Self:
        """Make one of a decoded entry.

        :raises ShapeError: no object, or without an integer `seq`
        """
        if not isinstance(value, dict):
            raise ShapeError("an archived row is no object")
        seq, model, time, order = value.get("seq"), value.get("model"), value.get("created_at"), value.get("ord")
        if type(seq) is not int:
            raise ShapeError("an archived row has no seq")
        return cls(
            seq=seq,
            role=str(value.get("role", "")),
            content=value.get("content_json"),
            model=model if isinstance(model, str) else None,
            tokens=value.get("tokens"),
            created_at=time if type(time) is int else None,
            ord=order if type(order) is int else None,
        )


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """One archived file of `adf_files` (AUD-024).

    :ivar size: bytes, as the snapshot says
    """

    path: str
    content: bytes
    mime_type: str | None
    size: int | None

    @classmethod
    def parse(cls, value: Mapping[str, Any]) -> Self:
        """Make one of a decoded snapshot.

        :raises ShapeError: without a path, or its content is not base64
        """
        path, encoded, mime, size = (value.get(key) for key in ("path", "content_base64", "mime_type", "size"))
        if not isinstance(path, str) or not isinstance(encoded, str):
            raise ShapeError("an archived file lacks its path or content")
        try:
            content = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            raise ShapeError("the content of an archived file is not base64") from None
        kind = mime if isinstance(mime, str) else None
        return cls(path, content, kind, size if type(size) is int else None)


BATCH_KEY = "archived_batch"  # in the meta of a message that stood in a batch once


def batch_note(number: int, index: int, count: int) -> dict[str, Any]:
    """Return what a message says of the batch it was split from: the id of its row, and its place among how many."""
    return {BATCH_KEY: {"id": number, "index": index, "of": count}}


def split_part(message: Mapping[str, Any]) -> tuple[int, int, int] | None:
    """Return what `batch_note` was given; None for a message that was archived on its own."""
    meta = message.get("meta")
    note = meta.get(BATCH_KEY) if isinstance(meta, dict) else None
    if not isinstance(note, dict):
        return None
    number, index, count = note.get("id"), note.get("index"), note.get("of")
    if type(number) is not int or type(index) is not int or type(count) is not int:
        return None
    return (number, index, count) if 0 < number < 2**62 and 0 <= index < count else None

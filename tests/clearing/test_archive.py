"""Compressing while reading gives the snapshot that compressing at the end gives."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format.audit import decompress_all, encode_loop
from adf_format.clearing import archive
from adf_format.clearing.archive import archive_loop

TEXTS = st.text(st.characters(exclude_categories=()), max_size=60)
SEQS = st.lists(st.integers(1, 10_000), min_size=1, max_size=20, unique=True)


def row(seq: int, text: str) -> dict[str, Any]:
    return {"seq": seq, "role": "user", "content_json": json.dumps([{"type": "text", "text": text}]), "created_at": seq}


@pytest.mark.parametrize("piece", [1, 50, 1 << 20])
@given(SEQS, TEXTS)
def test_streamed_and_whole_are_one(piece: int, seqs: list[int], text: str) -> None:
    rows = [row(seq, text * (seq % 5)) for seq in seqs]
    whole = encode_loop(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "PIECE", piece)
        made = archive_loop(iter(rows))
    data = whole.text.encode()
    assert decompress_all([made.data], limit_bytes=1 << 30) == data
    assert (made.size_bytes, made.utf8, made.sha256) == (whole.size_bytes, len(data), hashlib.sha256(data).digest())
    assert (made.entry_count, made.start_seq, made.end_seq) == (whole.entry_count, whole.start_seq, whole.end_seq)

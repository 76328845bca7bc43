"""Seeded damage to the bytes of a file: every kind that a disk, a copy or an attacker can do."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from robustness.bases import Base

HEADER_FIELDS = (
    (0, 16), (16, 2), (18, 1), (19, 1), (20, 1), (21, 1), (22, 1), (23, 1), (24, 4), (28, 4), (32, 4), (36, 4),
    (40, 4), (44, 4), (48, 4), (52, 4), (56, 4), (60, 4), (64, 4), (68, 4), (72, 20), (92, 4), (96, 4),
)  # fmt: skip
PAGE_TYPES = (0, 1, 2, 5, 10, 13, 255)
LOG_HEADER = 32
FRAME_HEADER = 24


@dataclass(frozen=True)
class Damaged:
    """A damaged file, and in words what was done to it."""

    what: str
    main: bytes
    log: bytes | None


def damage(base: Base, seed: int) -> Damaged:
    """Return the damage of a seed; kinds take turns, so that a run of seeds holds all of them."""
    dice = random.Random(f"{base.name}/{seed}")
    kinds = _LOG_KINDS if base.log is not None and seed % 2 else _KINDS
    kind = kinds[(seed // (2 if base.log is not None else 1)) % len(kinds)]
    if kinds is _LOG_KINDS:
        assert base.log is not None
        data = bytearray(base.log)
        said = kind(data, dice, base.page_size)
        return Damaged(f"{base.name} seed {seed}: log: {said}", base.main, bytes(data))
    data = bytearray(base.main)
    said = kind(data, dice, base.page_size)
    return Damaged(f"{base.name} seed {seed}: {said}", bytes(data), base.log)


Kind = Callable[[bytearray, random.Random, int], str]


def _flip_bit(data: bytearray, dice: random.Random, size: int) -> str:
    place, bit = dice.randrange(len(data)), dice.randrange(8)
    data[place] ^= 1 << bit
    return f"bit {bit} of byte {place} flipped"


def _flip_many(data: bytearray, dice: random.Random, size: int) -> str:
    for _ in range(200):
        _flip_bit(data, dice, size)
    return "200 bits flipped"


def _header_field(data: bytearray, dice: random.Random, size: int) -> str:
    offset, length = dice.choice(HEADER_FIELDS)
    value = dice.choice((b"\0" * length, b"\xff" * length, dice.randbytes(length), b"\0" * (length - 1) + b"\1"))
    data[offset : offset + length] = value
    return f"header bytes {offset}..{offset + length} set to {value.hex()}"


def _overwrite(data: bytearray, dice: random.Random, size: int) -> str:
    length = dice.choice((1, 2, 8, 100, size, 3 * size))
    place = dice.randrange(max(1, len(data) - length))
    filling = dice.choice((b"\0" * length, b"\xff" * length, dice.randbytes(length)))
    data[place : place + length] = filling
    return f"{length} bytes at {place} overwritten with {filling[:4].hex()}…"


def _page(data: bytearray, dice: random.Random, size: int) -> int:
    """Choose a page; return the offset of its b-tree header."""
    page = dice.randrange(max(1, len(data) // size))
    return page * size + (100 if page == 0 else 0)


def _page_type(data: bytearray, dice: random.Random, size: int) -> str:
    place, kind = _page(data, dice, size), dice.choice(PAGE_TYPES)
    data[place : place + 1] = bytes([kind])
    return f"page type at {place} set to {kind}"


def _page_header(data: bytearray, dice: random.Random, size: int) -> str:
    place = _page(data, dice, size)
    offset, length = dice.choice(((1, 2), (3, 2), (5, 2), (7, 1), (8, 4)))
    value = dice.choice((b"\0" * length, b"\xff" * length, dice.randbytes(length)))
    data[place + offset : place + offset + length] = value
    return f"page header at {place}+{offset} set to {value.hex()}"


def _cells(data: bytearray, place: int) -> tuple[int, int]:
    """Return where the cell pointers of a page start and how many there are."""
    start = place + (12 if data[place] in {2, 5} else 8)
    return start, int.from_bytes(data[place + 3 : place + 5], "big")


def _cell_pointer(data: bytearray, dice: random.Random, size: int) -> str:
    place = _page(data, dice, size)
    start, count = _cells(data, place)
    at = start + 2 * dice.randrange(max(1, min(count, size // 2)))
    value = dice.choice((b"\0\0", b"\xff\xff", dice.randbytes(2), bytes(data[start : start + 2])))
    data[at : at + 2] = value
    return f"cell pointer at {at} set to {value.hex()}"


def _varint(data: bytearray, dice: random.Random, size: int) -> str:
    place = _page(data, dice, size)
    start, count = _cells(data, place)
    pointer = start + 2 * dice.randrange(max(1, min(count, size // 2)))
    cell = place // size * size + int.from_bytes(data[pointer : pointer + 2], "big") + dice.randrange(6)
    value = dice.choice((b"\xff" * 9, b"\x80" * 8 + b"\0", b"\0", b"\x7f", dice.randbytes(3)))
    end = min(len(data), cell + len(value))
    if cell < len(data):
        data[cell:end] = value[: end - cell]
    return f"varint at {cell} set to {value.hex()}"


def _cut_at_page(data: bytearray, dice: random.Random, size: int) -> str:
    pages = dice.randrange(max(1, len(data) // size))
    del data[pages * size :]
    return f"cut after {pages} pages"


def _cut_anywhere(data: bytearray, dice: random.Random, size: int) -> str:
    length = dice.choice((dice.randrange(len(data)), dice.randrange(200), len(data) - 1))
    del data[length:]
    return f"cut after {length} bytes"


def _swap_pages(data: bytearray, dice: random.Random, size: int) -> str:
    pages = len(data) // size
    one, other = dice.randrange(pages), dice.randrange(pages)
    first, second = slice(one * size, (one + 1) * size), slice(other * size, (other + 1) * size)
    data[first], data[second] = data[second], data[first]
    return f"pages {one + 1} and {other + 1} swapped"


def _double_page(data: bytearray, dice: random.Random, size: int) -> str:
    pages = len(data) // size
    one, other = dice.randrange(pages), dice.randrange(pages)
    data[other * size : (other + 1) * size] = data[one * size : (one + 1) * size]
    return f"page {one + 1} copied over page {other + 1}"


def _append(data: bytearray, dice: random.Random, size: int) -> str:
    length = dice.choice((1, 100, size, 5 * size + 7))
    data += dice.choice((b"\0" * length, dice.randbytes(length)))
    return f"{length} bytes appended"


def _lose_bytes(data: bytearray, dice: random.Random, size: int) -> str:
    place, length = dice.randrange(len(data)), dice.choice((1, 7, size))
    del data[place : place + length]
    return f"{length} bytes at {place} lost"


def _frame(data: bytearray, dice: random.Random, size: int) -> int:
    frames = max(1, (len(data) - LOG_HEADER) // (FRAME_HEADER + size))
    return LOG_HEADER + dice.randrange(frames) * (FRAME_HEADER + size)


def _log_header(data: bytearray, dice: random.Random, size: int) -> str:
    place = dice.randrange(8) * 4
    data[place : place + 4] = dice.choice((b"\0" * 4, b"\xff" * 4, dice.randbytes(4)))
    return f"log header word at {place}"


def _frame_header(data: bytearray, dice: random.Random, size: int) -> str:
    place = _frame(data, dice, size) + dice.randrange(6) * 4
    data[place : place + 4] = dice.choice((b"\0" * 4, b"\xff" * 4, dice.randbytes(4)))
    return f"frame header word at {place}"


def _swap_frames(data: bytearray, dice: random.Random, size: int) -> str:
    length = FRAME_HEADER + size
    one, other = _frame(data, dice, size), _frame(data, dice, size)
    first, second = slice(one, one + length), slice(other, other + length)
    data[first], data[second] = data[second], data[first]
    return f"frames at {one} and {other} swapped"


_KINDS: tuple[Kind, ...] = (
    _flip_bit, _header_field, _overwrite, _page_type, _page_header, _cell_pointer, _varint, _cut_at_page,
    _cut_anywhere, _swap_pages, _double_page, _append, _lose_bytes, _flip_many, _page_header, _varint, _flip_bit,
    _cell_pointer,
)  # fmt: skip
_LOG_KINDS: tuple[Kind, ...] = (
    _log_header, _frame_header, _flip_bit, _overwrite, _cut_anywhere, _swap_frames, _append, _lose_bytes, _frame_header,
)  # fmt: skip


def page_cuts(base: Base) -> list[Damaged]:
    """Return the file cut at each of its page boundaries."""
    size = base.page_size
    return [
        Damaged(f"{base.name}: cut after {pages} pages", base.main[: pages * size], base.log)
        for pages in range(len(base.main) // size)
    ]


def header_faults(base: Base) -> list[Damaged]:
    """Return the file with each header field set to zero and to ones, one at a time."""
    made = []
    for offset, length in HEADER_FIELDS:
        for filling in (b"\0", b"\xff"):
            main = base.main[:offset] + filling * length + base.main[offset + length :]
            made.append(Damaged(f"{base.name}: header {offset} all {filling.hex()}", main, base.log))
    return made

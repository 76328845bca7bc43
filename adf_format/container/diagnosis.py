"""What a file is that SQLite refuses."""

from __future__ import annotations

from pathlib import Path

import apsw

from adf_format.errors import AdfError, DamagedError, EncryptedError, NotAnAdfError

from .snapshot.main import MAGIC, page_size_of

_SAMPLE = 4096
_KNOWN = (
    (b"\x1f\x8b", "gzip data"),
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "a zip archive"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"BZh", "bzip2 data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"RIFF", "a RIFF file"),
    (b"%PDF-", "a PDF document"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"PAR1", "a Parquet file"),
    (b"\x37\x7f\x06\x82", "the write-ahead log of a database, not the database"),
    (b"\x37\x7f\x06\x83", "the write-ahead log of a database, not the database"),
    (b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", "the rollback journal of a database, not the database"),
    (b"SQLite format 3", "an altered SQLite database"),
    (b"** This file contains an SQLite 2", "a SQLite 2 database"),
    (b"-----BEGIN", "a PEM file"),
    (b"{", "JSON text"),
    (b"[", "JSON text"),
    (b"<", "XML or HTML text"),
    (b"---\n", "YAML text"),
    (b"#!", "a script"),
)


def head_of(connection: apsw.Connection, size: int, amount: int = _SAMPLE) -> bytes:
    """The first bytes of the file, read through SQLite's own descriptor."""
    _complete, data = connection.read("main", 0, 0, min(amount, size))
    return bytes(data)


def explain_not_a_database(head: bytes, size: int, path: Path) -> AdfError:
    """The error for a file without a valid SQLite header (STO-001); `size` in bytes."""
    if head.startswith(MAGIC):
        what = "is damaged" if size >= 100 else f"is cut off after {size} bytes"
        return DamagedError(f"the SQLite header {what}", path)
    if not head.strip(b"\0"):
        return DamagedError("the file begins with zeros only: it was never completed or was overwritten", path)
    known = next((name for magic, name in _KNOWN if head.startswith(magic)), None)
    if known is None and _is_random(head) and size % 512 == 0:
        return EncryptedError("looks encrypted or is not a database", path, hint="decrypt it first")
    return NotAnAdfError(f"not an .adf but {known or _guess(head)}", path)


def _guess(head: bytes) -> str:
    if _is_text(head):
        return "plain text"
    return "compressed or encrypted data" if _is_random(head) else "something else than a SQLite database"


def _is_text(head: bytes) -> bool:
    for cut in range(4):  # the sample may end inside a character
        try:
            text = head[: len(head) - cut].decode()
        except UnicodeDecodeError:
            continue
        return all(char.isprintable() or char in "\t\r\n\f\ufeff" for char in text)
    return False


def _is_random(head: bytes) -> bool:
    # n uniformly random bytes hold about 256 * (1 - exp(-n / 256)) different values
    return len(head) >= 512 and len(set(head)) > (190 if len(head) < 2048 else 240)


def explain_truncation(head: bytes, size: int, path: Path) -> DamagedError | None:
    """The error for a file shorter than its header says, if it is; `size` in bytes."""
    page_size = page_size_of(head)
    pages = int.from_bytes(head[28:32], "big")
    if not page_size or head[24:28] != head[92:96] or size >= pages * page_size:
        return None
    return DamagedError(
        f"cut off: the header counts {pages} pages of {page_size} bytes, the file holds {size} bytes",
        path,
        hint="restore it from a backup",
    )

"""The virtual filesystem of an agent: rows of `adf_files`; `files.extract` brings them out of the file safely."""

from adf_format.files.paths import escapes, folded, parents, unportable
from adf_format.files.table import FileRow, content, find, listing

__all__ = ["FileRow", "content", "escapes", "find", "folded", "listing", "parents", "unportable"]

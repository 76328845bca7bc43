"""Files that a step adds or fills, with our own words (MIG-050)."""

from __future__ import annotations

from adf_format.creation import file_row, insert
from adf_format.migration.work import Work, described

BLANK = frozenset(  # what JavaScript calls white space (MIG-049)
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)


def add_file(work: Work, rule: str, path: str, text: str) -> None:
    """Add a file unless one of its name is there."""
    if work.connection.execute("SELECT 1 FROM adf_files WHERE path = ?", (path,)).get is None:
        insert(work.connection, described("adf_files", work.final), file_row(path, text.encode(), work.now))
        work.note(rule, "row-added", "adf_files", key=path, after=f"{len(text.encode())} bytes")


def fill_blank_file(work: Work, rule: str, path: str, text: str) -> None:
    """Give a file that holds nothing but white space a text; one that is missing is not made."""
    query = "SELECT 1 FROM adf_files WHERE path = ? AND octet_length(content) <= 1048576"
    if work.connection.execute(query, (path,)).get is None:
        return
    if not is_blank(work.connection.execute("SELECT CAST(content AS BLOB) FROM adf_files WHERE path = ?", (path,)).get):
        return
    content = text.encode()
    for column, value in (("content", content), ("size", len(content)), ("updated_at", work.now)):
        work.set_value(rule, "adf_files", "path", path, column, value)


def is_blank(content: bytes) -> bool:
    """Whether a text is empty once JavaScript has trimmed it (MIG-049)."""
    return BLANK.issuperset(content.decode("utf-8", "replace"))

"""The mind of an agent, read once from `adf_files`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adf_format import rows
from adf_format.memory.lint import citations, index, injected, log, pages, secrecy
from adf_format.memory.lint.document import Document
from adf_format.validation.context import Context

LARGEST = 4 << 20  # bytes of one file of the mind
MOST = 10_000  # files of a mind
INDEX, LOG = "mind.md", "mind/log.md"


def check(context: Context) -> None:
    """Check the mind by the rules on memory."""
    paths = _paths(context)
    documents = _documents(context)
    for document in documents.values():
        secrecy.check(document)
    injected.check(context, paths)
    if context.version.number < 28:
        return  # the pattern of index, pages and log came with 28 (MIG-048)
    found = [one for path, one in documents.items() if path.endswith(".md") and path not in (INDEX, LOG)]
    kinds = [pages.check(one, context.today) for one in found]
    pages.check_types(found, kinds)
    if LOG in documents:
        log.check(documents[LOG])
    if INDEX in documents:
        index.check(documents[INDEX], paths)
        index.check_orphans(documents[INDEX], found)
    for one in ([documents[INDEX]] if INDEX in documents else []) + found:
        index.check_links(one, paths)
    citations.check(context, list(documents.values()))


def _paths(context: Context) -> frozenset[str]:
    found = context.container.connection.execute("SELECT path FROM adf_files WHERE typeof(path) = 'text'")
    return frozenset(path for (path,) in found)


def _documents(context: Context) -> dict[str, Document]:
    """Return the texts of the mind by path; what is too large or no UTF-8 is named under `not_checked`."""
    connection = context.container.connection
    key = rows.rowid_of(connection, "adf_files")
    query = (
        f"SELECT {key}, path, octet_length(content) FROM adf_files"
        f" WHERE path = '{INDEX}' OR path GLOB 'mind/*' ORDER BY path LIMIT {MOST + 1}"
    )
    listed = connection.execute(query).fetchall()
    if len(listed) > MOST:
        context.not_checked("some files of the mind", f"there are more than {MOST:,}")
    found: dict[str, Document] = {}
    for rowid, path, size in _ordinary(listed[:MOST]):
        text = _text(context, rowid, path, size)
        if text is not None:
            place = {"table": "adf_files", "rowid": rowid, "column": "content"}
            found[path] = Document(path, text, place, context.report)
    return found


def _ordinary(listed: list[Any]) -> Iterator[tuple[int, str, int]]:
    """Yield the rows whose key is a text; the others are a matter of the 3xx rules."""
    for rowid, path, size in listed:
        if isinstance(path, str):
            yield rowid, path, size or 0


def _text(context: Context, rowid: int, path: str, size: int) -> str | None:
    what = f"the text of {path[:80]!a}"
    if size > LARGEST:
        context.not_checked(what, f"more than {LARGEST >> 20} MB")
        return None
    value = rows.value(context.container.connection, "adf_files", "content", rowid)
    if isinstance(value, str):
        return value
    try:
        return bytes(value).decode() if isinstance(value, bytes) else None
    except UnicodeDecodeError as error:
        context.not_checked(what, f"not UTF-8 at byte {error.start}")
        return None

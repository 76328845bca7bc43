"""The one pass over `adf_audit`: each blob is decoded once, one entry at a time."""

from __future__ import annotations

from collections.abc import Iterator

from adf_format import rows
from adf_format.errors import JsonTextError
from adf_format.jsontext import Decoded, decode
from adf_format.validation.context import Context
from adf_format.validation.rules.audit import counts, locators, order, shape, sources, stream
from adf_format.validation.rules.audit.model import AuditRow, Content, Source
from adf_format.validation.rules.transcript.sequence import high_water_mark

ENTRIES = 1_000_000  # entries of one snapshot; the longest transcripts known have 100,000 rows
BROKEN = 10_000  # broken entries of one snapshot after which the rest is not looked at

COLUMNS = (
    "source",
    "start_at",
    "end_at",
    "start_seq",
    "end_seq",
    "ref",
    "entry_count",
    "size_bytes",
    "created_at",
)


def run(context: Context) -> None:
    """Check every row of `adf_audit`."""
    known = sources.Sources(context)
    mark = high_water_mark(context)
    for row in audit_rows(context):
        context.container.check_deadline()
        source = known.find(row.values.get("source"))
        known.check(row, source)
        if source is None:
            continue
        locators.check_presence(row, source)
        content = _read(row, source) if row.holds_blob else None
        locators.check_range(row, source, content)
        if content is not None:
            counts.check(row, source, content)
            locators.check_ref(row, source, content)
            order.check_times(row, source, content)
            if source.is_transcript and mark is not None:
                order.check_mark(row, content, mark)


def audit_rows(context: Context) -> Iterator[AuditRow]:
    """Yield the rows in the order in which they were written, without their blobs."""
    connection, table = context.container.connection, context.structure.tables["adf_audit"]
    names = [name for name in COLUMNS if name in table.columns]
    key = rows.rowid_of(connection, "adf_audit")
    # another storage class is a matter of the 3xx rules
    others = {rowid for (rowid,) in connection.execute(f"SELECT {key} FROM adf_audit WHERE typeof(data) <> 'blob'")}
    for found in rows.scan(connection, "adf_audit", names):
        yield AuditRow(found[0], dict(zip(names, found[1:], strict=True)), context, found[0] not in others)


def _read(row: AuditRow, source: Source) -> Content | None:
    """Decode the snapshot of a row, checking each entry; None if it is broken or of another kind."""
    found = stream.Stream(row)
    root = found.root()
    if root != source.container:
        if root is not None:
            shape.report_root(row, source, root)
            found.skip()
        return None
    reading = _Reading(row, source)
    for index, one in enumerate(found):
        if index >= ENTRIES or reading.broken >= BROKEN:
            what = "entries" if index >= ENTRIES else "broken entries"
            found.skip(f"too many {what}: those after /{index} were not checked")
            break
        try:
            reading.entry(index, one if isinstance(one, Decoded) else decode(one))
        except JsonTextError as error:
            row.report(stream.NOT_JSON, f"not JSON: {error.message}", "data", _pointer(source, index))
            reading.failed = True
            reading.broken += 1
    if not found.whole:
        return None
    if found.reader.root == "array" and source.container != "array":  # an empty one: it had no entry to be judged by
        shape.report_root(row, source, "array")
        return None
    row.context.stats.snapshots += 1
    if reading.failed:
        return None
    return reading.result(found)


def _pointer(source: Source, index: int) -> str:
    return f"/{index}" if source.container == "array" else ""


class _Reading:
    """Gathers what the checks of a whole row need, entry by entry."""

    def __init__(self, row: AuditRow, source: Source) -> None:
        self._row = row
        self._source = source
        self._shape = shape.shape_of(source.format, source.container)
        self._order = order.Order(row)
        self._content = Content()
        self.broken = 0
        self.failed = False

    def entry(self, index: int, decoded: Decoded) -> None:
        """Check one entry and keep what is needed of it."""
        value, pointer = decoded.value, _pointer(self._source, index)
        self._content.count += 1
        if decoded.duplicates:
            keys = ", ".join(sorted(set(decoded.duplicates)))[:60]
            self._row.report(shape.DUPLICATES, f"an object names {keys!a} more than once", "data", pointer or None)
        if not self._shape.check(self._row, value, pointer, self.broken):
            self.broken += 1
        if isinstance(value, dict):
            self._keep(index, value)

    def _keep(self, index: int, value: dict[str, object]) -> None:
        content = self._content
        if self._source.container == "object":
            content.value = value
            if self._source.policy == "files":
                shape.check_file(self._row, value)
        time = value.get(self._source.time_key) if self._source.time_key else None
        if type(time) is int:
            content.times.add(time)
        seq = value.get("seq") if self._source.is_transcript else None
        if type(seq) is int:
            content.seqs.add(seq)
            content.with_ord = content.with_ord or "ord" in value
            self._order.entry(index, seq, value.get("ord"))

    def result(self, found: stream.Stream) -> Content:
        """Return the content of the whole snapshot."""
        shape.report_unexplained(self._row, self.broken)
        self._content.complete = found.complete
        self._content.utf8, self._content.utf16 = found.reader.utf8, found.reader.utf16
        return self._content

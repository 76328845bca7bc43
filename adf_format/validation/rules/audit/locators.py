"""How an entry is found without reading the blob: the seq range of a transcript, the ref of a message or file."""

from __future__ import annotations

from adf_format.schemas.checker import brief
from adf_format.validation.rule import Example, Severity, rule
from adf_format.validation.rules.audit.examples import FILE, archived, entry
from adf_format.validation.rules.audit.model import AuditRow, Content, Numbers, Source

RANGE = ("start_seq", "end_seq")

MISSES = rule(
    "ADF511",
    "range-misses-entries",
    Severity.ERROR,
    what="Every `seq` in a snapshot lies within its range.",
    why="A reader that looks for a seq decodes only rows whose range covers it: the entry is never found.",
    source=("AUD-007", "AUD-008", "MIG-051"),
    since=28,
    fires=archived([entry(3), entry(5)], start_seq=4),
    silent=archived([entry(5, ord=2), entry(3), entry(4)]),
)
INVERTED = rule(
    "ADF512",
    "range-inverted",
    Severity.ERROR,
    what="`start_seq` is not above `end_seq`.",
    why="No seq lies in such a range; it comes from taking the first and last entry in display order as bounds.",
    source=("AUD-008", "BUG-05"),
    since=28,
    fires=archived([entry(5, ord=2), entry(3), entry(4)], start_seq=5, end_seq=4),
    silent=archived([entry(3)]),
)
ALIEN = rule(
    "ADF513",
    "locator-of-another-source",
    Severity.ERROR,
    what="Transcripts have a range and no ref, messages and files a ref and no range, legacy batches neither.",
    why="Readers choose rows by these columns: a row with the wrong one is taken for something else.",
    source=("AUD-007", "MIG-046"),
    since=28,
    fires=archived([entry(3)], ref="'notes/old.md'"),
    silent=archived([entry(3)], source="loop:main", ref="NULL"),
)
REF = rule(
    "ADF514",
    "ref-differs-from-content",
    Severity.ERROR,
    what="`ref` is the id of the archived message, or the path of the archived file.",
    why="Whoever looks for that message or file finds another one.",
    source=("AUD-025", "MIG-044"),
    since=28,
    fires="UPDATE adf_audit SET ref = 'notes/other.md' WHERE id = 4",
    silent=archived(FILE | {"path": "notes/O'Hara.md"}, "file"),
)
LEGACY = rule(
    "ADF524",
    "legacy-range-missing",
    Severity.INFO,
    what="A transcript that was archived before version 28 got its range when the file was migrated.",
    why="Its blob could not be read then; to find a seq, readers must decode this row each time.",
    source=("MIG-044", "MIG-051", "AMB-8"),
    since=28,
    fires="UPDATE adf_audit SET source = 'loop', start_seq = NULL, end_seq = NULL WHERE id = 1",
    silent="UPDATE adf_audit SET source = 'loop' WHERE id = 1",
)
MISSING = rule(
    "ADF526",
    "range-missing",
    Severity.ERROR,
    what="A row with the source `loop:<name>` has a range.",
    why="Readers skip rows without one: nothing in the snapshot is ever found.",
    source=("AUD-008", "MIG-051"),
    since=29,
    fires="UPDATE adf_audit SET start_seq = NULL, end_seq = NULL WHERE id = 1",
    silent="UPDATE adf_audit SET source = 'loop', start_seq = NULL, end_seq = NULL WHERE id = 1",
)
REF_MISSING = rule(
    "ADF527",
    "ref-missing",
    Severity.WARNING,
    what="A message or file whose snapshot names its id or path has a `ref`.",
    why="Only a reader that decodes every row finds it.",
    source=("AUD-025", "MIG-044"),
    since=28,
    fires="UPDATE adf_audit SET ref = NULL WHERE id = 4",
    silent="UPDATE adf_audit SET ref = NULL WHERE id = 5",
)
WIDE = rule(
    "ADF529",
    "range-wider-than-content",
    Severity.WARNING,
    what="A range begins at the lowest and ends at the highest `seq` of its snapshot.",
    why="Readers decode the row in vain, and the range claims entries that were never archived, or got lost.",
    source=("AUD-008",),
    since=28,
    fires=archived([entry(3), entry(5)], start_seq=2),
    silent=archived([entry(3), entry(9)]),
)
FIRST_LAST = rule(
    "ADF530",
    "range-of-first-and-last",
    Severity.WARNING,
    what="The range of a migrated transcript bounds its entries.",
    why="Migration takes the first and last entry; in this blob they are out of order, so some entries lie outside.",
    source=("AMB-9", "MIG-045"),
    since=28,
    fires=Example(archived([entry(5), entry(3), entry(4)], "loop", start_seq=5, end_seq=4), on=28),
    silent=Example(archived([entry(3), entry(4), entry(5)], "loop"), on=28),
)
RULES = (MISSES, INVERTED, ALIEN, REF, LEGACY, MISSING, REF_MISSING, WIDE, FIRST_LAST)


def check_presence(row: AuditRow, source: Source) -> None:
    """Report columns that are set or missing against the source of the row."""
    ranged = [column for column in RANGE if row.values.get(column) is not None]
    if source.locator == "range":
        if row.values.get("ref") is not None:
            row.report(ALIEN, "a transcript has a ref", "ref")
        if len(ranged) == 1:
            row.report(ALIEN, f"only {ranged[0]} of the range is set", ranged[0])
        elif not ranged and all(column in row.values for column in RANGE):
            broken = MISSING if source.locator_required else LEGACY
            row.report(broken, "the range is missing", "start_seq")
    elif source.locator in {"ref", "none"}:
        for column in ranged:
            row.report(ALIEN, f"{column} is set, but this is no transcript", column)
        if source.locator == "none" and row.values.get("ref") is not None:
            row.report(ALIEN, "ref is set, but a batch of messages has none", "ref")


def check_range(row: AuditRow, source: Source, content: Content | None) -> None:
    """Compare the range of a transcript with its entries; None if they could not be read."""
    start, end = row.integer("start_seq"), row.integer("end_seq")
    if source.locator != "range" or start is None or end is None:
        return
    seqs = content.seqs if content and content.complete and content.seqs.count == content.count else Numbers()
    outside = bool(seqs.count) and (start > seqs.low or end < seqs.high)
    if (outside or start > end) and _is_first_and_last(source, content, seqs, (start, end)):
        row.report(FIRST_LAST, "the range runs from the first to the last entry, which are out of order", "start_seq")
    elif start > end:
        row.report(INVERTED, "start_seq is above end_seq", "start_seq")
    elif outside:
        text = f"the range {start} to {end} leaves out entries: they run from {seqs.low} to {seqs.high}"
        row.report(MISSES, text, "start_seq")
    elif seqs.count and (start < seqs.low or end > seqs.high):
        text = f"the range {start} to {end} is wider than the entries: they run from {seqs.low} to {seqs.high}"
        row.report(WIDE, text, "start_seq")


def _is_first_and_last(source: Source, content: Content | None, seqs: Numbers, bounds: tuple[int, int]) -> bool:
    """Whether a row looks like one that migration filled: only writers from version 28 on know `ord`."""
    if not seqs.count or content is None or content.with_ord or source.form != "exact":
        return False
    return bounds == (seqs.first, seqs.last)


def check_ref(row: AuditRow, source: Source, content: Content) -> None:
    """Compare the ref of a message or file with its content."""
    if source.locator != "ref" or content.value is None or "ref" not in row.values:
        return
    named = content.value.get(source.locator_key or "")
    ref = row.values["ref"]
    if not isinstance(named, str):
        return
    if ref is None and named:
        row.report(REF_MISSING, f"ref is missing, the snapshot names the {source.locator_key}", "ref")
    elif isinstance(ref, str) and ref != named:
        row.report(REF, f"ref is {brief(ref)}, the snapshot's {source.locator_key} is {brief(named)}", "ref")

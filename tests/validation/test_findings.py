"""Findings are grouped, bounded and ordered; what is left out is counted."""

from __future__ import annotations

import pytest

from adf_format.validation.findings import MAX_EXAMPLES, MAX_GROUPS, Collector, Finding
from adf_format.validation.report import FileReport, Stats, summary
from adf_format.validation.rule import Example, Rule, Severity

ERROR = Rule("ADF399", "test-error", Severity.ERROR, "w", "y", ("X",), Example(), Example(), fix="mend it")
INFO = Rule("ADF301", "test-info", Severity.INFO, "w", "y", ("X",), Example(), Example())
RECENT = Rule("ADF398", "test-recent", Severity.WARNING, "w", "y", ("X",), Example(), Example(), since=29, until=30)


def collector(wanted: frozenset[str] | None = None, version: int = 32, **severities: Severity) -> Collector:
    return Collector(wanted, severities, version)


# --- grouping


def test_findings_that_differ_only_in_row_and_array_index_are_one() -> None:
    found = collector()
    for row, index in ((7, 0), (9, 3), (12, 44)):
        found.report(ERROR, "bad", table="t", rowid=row, column="c", pointer=f"/{index}/text")
    (one,) = found.findings()
    assert (one.count, one.rowid, one.pointer) == (3, 7, "/0/text")
    assert one.examples == [
        {"rowid": 7, "pointer": "/0/text"}, {"rowid": 9, "pointer": "/3/text"}, {"rowid": 12, "pointer": "/44/text"},
    ]  # fmt: skip


@pytest.mark.parametrize(
    "other",
    [
        {"table": "u", "column": "c", "pointer": "/0/a"},
        {"table": "t", "column": "d", "pointer": "/0/a"},
        {"table": "t", "column": "c", "pointer": "/0/b"},
        {"table": "t", "column": "c", "pointer": "/a/a"},
        {"table": "t", "column": "c", "pointer": None},
    ],
)
def test_findings_in_different_places_are_not_grouped(other: dict[str, str | None]) -> None:
    found = collector()
    found.report(ERROR, "bad", table="t", column="c", pointer="/0/a")
    found.report(ERROR, "bad", **other)  # type: ignore[arg-type]
    assert [one.count for one in found.findings()] == [1, 1]


def test_findings_with_different_words_or_rules_are_not_grouped() -> None:
    found = collector()
    found.report(ERROR, "bad", table="t")
    found.report(ERROR, "worse", table="t")
    found.report(INFO, "bad", table="t")
    assert len(found.findings()) == 3


def test_only_so_many_examples_are_kept_and_all_are_counted() -> None:
    found = collector()
    for row in range(100):
        found.report(ERROR, "bad", table="t", rowid=row)
    (one,) = found.findings()
    assert one.count == 100
    assert one.examples == [{"rowid": row} for row in range(MAX_EXAMPLES)]


# --- bounds


def test_further_distinct_findings_of_one_rule_are_counted_not_kept() -> None:
    found = collector()
    for number in range(MAX_GROUPS + 7):
        found.report(ERROR, f"bad {number}", table="t")
    found.report(INFO, "another rule has its own bound", table="t")
    assert len(found.findings()) == MAX_GROUPS + 1
    assert found.left_out == {"ADF399": 7}


def test_a_group_that_was_kept_goes_on_counting_beyond_the_bound() -> None:
    found = collector()
    for number in range(MAX_GROUPS + 1):
        found.report(ERROR, f"bad {number}", table="t")
    found.report(ERROR, "bad 0", table="t")
    assert found.findings()[0].count == 2
    assert found.left_out == {"ADF399": 1}


# --- order and selection


def test_the_worst_come_first_then_the_rules_in_order_then_as_reported() -> None:
    found = collector()
    found.report(INFO, "i", table="t")
    found.report(RECENT, "out of its versions", table="t")
    found.report(ERROR, "b", table="t")
    found.report(ERROR, "a", table="t")
    assert [(one.severity, one.message) for one in found.findings()] == [
        (Severity.ERROR, "b"), (Severity.ERROR, "a"), (Severity.INFO, "i"),
    ]  # fmt: skip


@pytest.mark.parametrize(("version", "applies"), [(28, False), (29, True), (30, True), (31, False)])
def test_a_rule_speaks_only_within_its_storage_versions(version: int, applies: bool) -> None:
    found = collector(version=version)
    found.report(RECENT, "x")
    assert found.wants(RECENT) is applies
    assert bool(found.findings()) is applies


def test_only_rules_asked_for_report() -> None:
    found = collector(frozenset({"ADF301"}))
    found.report(ERROR, "x")
    found.report(INFO, "y")
    assert [one.rule for one in found.findings()] == ["ADF301"]


def test_a_severity_can_be_set_from_outside() -> None:
    found = collector(ADF301=Severity.ERROR)
    found.report(INFO, "x")
    assert found.findings()[0].severity is Severity.ERROR


def test_a_fix_of_the_finding_goes_before_that_of_the_rule() -> None:
    found = collector()
    found.report(ERROR, "a")
    found.report(ERROR, "b", fix="do this")
    assert [one.fix for one in found.findings()] == ["mend it", "do this"]


# --- one finding, one report


@pytest.mark.parametrize(
    ("finding", "place"),
    [
        (Finding("R", Severity.INFO, "m"), ""),
        (Finding("R", Severity.INFO, "m", "adf_loop"), "adf_loop"),
        (Finding("R", Severity.INFO, "m", "adf_loop", 7), "adf_loop row 7"),
        (Finding("R", Severity.INFO, "m", "adf_loop", 0, "content_json", "/0"), "adf_loop row 0, content_json /0"),
        (Finding("R", Severity.INFO, "m", "adf_loop", None, "content_json"), "adf_loop, content_json"),
    ],
)
def test_a_place_is_told_in_words(finding: Finding, place: str) -> None:
    assert finding.place() == place


def test_json_of_a_finding_has_only_the_keys_that_mean_something() -> None:
    assert Finding("R", Severity.INFO, "m").as_json() == {"rule": "R", "severity": "info", "message": "m"}
    many = Finding("R", Severity.ERROR, "m", "t", 0, "c", "/0", "f", 2, [{"rowid": 0}, {"rowid": 1}])
    assert many.as_json() == {
        "rule": "R", "severity": "error", "message": "m", "table": "t", "rowid": 0, "column": "c", "pointer": "/0",
        "fix": "f", "count": 2, "examples": [{"rowid": 0}, {"rowid": 1}],
    }  # fmt: skip


def report(*severities: Severity, error: str | None = None) -> FileReport:
    found = [Finding("R", severity, "m", count=3) for severity in severities]
    return FileReport("a.adf", 32, found, Stats(), error)


def test_a_file_is_valid_without_errors_and_if_it_could_be_read() -> None:
    assert report(Severity.WARNING, Severity.INFO).valid
    assert not report(Severity.WARNING, Severity.ERROR).valid
    assert not report(error="unreadable").valid


def test_the_worst_severity_and_the_counts_are_told() -> None:
    one = report(Severity.INFO, Severity.WARNING, Severity.INFO)
    assert one.worst() is Severity.WARNING
    assert (one.count(Severity.INFO), one.count(Severity.WARNING), one.count(Severity.ERROR)) == (6, 3, 0)
    assert report().worst() is None


def test_json_of_a_report_names_what_was_left_out_suppressed_or_wrong_only_if_something_was() -> None:
    assert set(report().as_json()) == {"path", "schema_version", "valid", "findings", "stats"}
    full = report(Severity.ERROR, error="e")
    full.left_out, full.suppressed = {"ADF399": 2}, 4
    got = full.as_json()
    assert (got["left_out"], got["suppressed"], got["error"], got["valid"]) == ({"ADF399": 2}, 4, "e", False)
    assert set(got["stats"]) == {"depth", "source", "wal_frames", "rows", "snapshots", "not_checked"}


def test_the_summary_counts_files_and_places() -> None:
    got = summary([report(Severity.WARNING), report(Severity.ERROR), report(error="e")])
    assert got == {
        "files": 3, "valid": 1, "invalid": 1, "unreadable": 1, "infos": 0, "warnings": 3, "errors": 3,
    }  # fmt: skip


def test_many_wrong_values_of_one_column_become_one_finding_after_a_few() -> None:
    """A million wrong numbers are one fault; a million missing keys with names of their own are told by name."""
    found = collector()
    for number in range(1000):
        found.report(ERROR, f"{number} is below 0", table="t", rowid=number, column="c")
        found.report(ERROR, f"{number} is below 0", table="t", rowid=number, column="d")
    for number in range(10):
        found.report(ERROR, f"the key {number} is missing", table="t", rowid=1, column="e")
    of_c = [one for one in found.findings() if one.column == "c"]
    assert [one.message for one in of_c] == [
        *(f"{number} is below 0" for number in range(5)),
        "5 is below 0; others differ in their values",
    ]
    assert sum(one.count for one in of_c) == 1000
    assert [example["rowid"] for example in of_c[-1].examples] == [5, 6, 7, 8, 9]
    assert sum(one.column == "e" for one in found.findings()) == 10
    assert found.left_out == {}


@pytest.mark.parametrize("kind", ["name", "path"])
def test_a_flood_of_odd_names_is_gathered_after_a_few(kind: str) -> None:
    found = collector()
    for number in range(1000):
        found.report(ERROR, f'the {kind} "{number}" is odd', table="t", rowid=number, column="c")
    findings = found.findings()
    assert [one.count for one in findings] == [1, 1, 1, 1, 1, 995]
    assert findings[-1].message == f'the {kind} "5" is odd; others differ in their values'

"""A baseline hides what is known, shows what is new, and says what is gone."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from report_samples import BROKEN, CLEAN, ERROR, UNREADABLE, WARNING

from adf_format.errors import UsageError
from adf_format.schemas.store import document, registry
from adf_format.validation.baseline import SCHEMA, Baseline, fingerprint, key_of, load
from adf_format.validation.findings import Finding
from adf_format.validation.report import FileReport
from adf_format.validation.rule import Severity


def report(*findings: Finding, path: str = "a.adf") -> FileReport:
    return FileReport(path, 32, list(deepcopy(findings)))


def learned(*reports: FileReport, path: Path = Path("known.json")) -> Baseline:
    baseline = Baseline(path)
    for one in reports:
        baseline.add(one)
    return baseline


FINDINGS = st.builds(
    Finding,
    st.sampled_from(["ADF312", "ADF501"]),
    st.just(Severity.WARNING),
    st.text(max_size=3),
    st.none() | st.sampled_from(["adf_loop", "adf_audit"]),
    st.none(),
    st.none() | st.sampled_from(["data", "tokens"]),
    st.none() | st.sampled_from(["/0", "/1", "/a"]),
    count=st.integers(1, 5),
)


@given(st.lists(FINDINGS, max_size=6))
def test_what_was_just_learned_is_all_known(findings: list[Finding]) -> None:
    one = report(*findings)
    taken = learned(report(*findings)).apply(one)
    assert one.findings == []
    assert one.suppressed == sum(finding.count for finding in findings) == sum(finding.count for finding in taken)


@given(st.lists(FINDINGS, min_size=1, max_size=6))
def test_one_place_more_than_known_shows_every_place_of_its_key(findings: list[Finding]) -> None:
    more = report(*findings)
    more.findings[0].count += 1
    learned(report(*findings)).apply(more)
    wanted = [one for one in findings if key_of(one) == key_of(findings[0])]
    assert [key_of(one) for one in more.findings] == [key_of(one) for one in wanted]


def test_new_rows_indexes_and_wordings_keep_the_fingerprint() -> None:
    other = deepcopy(WARNING)
    other.rowid, other.message, other.pointer = 99, "reworded", "/7/text"
    assert fingerprint(other) == fingerprint(WARNING)
    other.column = "tokens"
    assert fingerprint(other) != fingerprint(WARNING)


def test_the_fingerprints_stay_what_they_are() -> None:
    """Services match alerts by them: a change doubles every alert."""
    assert fingerprint(ERROR) == "c28520023441e5f00c2d76d99cde3464"
    assert fingerprint(WARNING) == "6dc5c328348e18dd0f664f5f92e9692c"


def test_fewer_than_known_is_stale() -> None:
    baseline = learned(report(ERROR, WARNING))
    baseline.apply(report(WARNING))
    assert baseline.stale == [("a.adf", key_of(ERROR), 7, 0)]


def test_rules_that_were_not_looked_at_are_not_stale() -> None:
    baseline = learned(report(ERROR))
    baseline.apply(report(), frozenset({"ADF312"}))
    assert not baseline.stale


def test_findings_that_were_counted_only_are_never_known() -> None:
    baseline = learned(deepcopy(BROKEN))
    one = deepcopy(BROKEN)
    baseline.apply(one)
    assert [finding.rule for finding in one.findings] == ["ADF312"]


def test_unreadable_and_unknown_files_are_left_alone() -> None:
    baseline = learned(report(ERROR), UNREADABLE, CLEAN)
    assert set(baseline.known) == {"a.adf"}
    assert baseline.apply(UNREADABLE) == []
    assert baseline.apply(report(ERROR, path="other.adf")) == []


def test_a_baseline_is_read_as_it_was_written_and_keeps_its_schema(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    baseline = learned(report(ERROR, WARNING, path=str(tmp_path / "b" / "a.adf")), path=path)
    path.write_text(baseline.text(), "utf-8")
    Draft202012Validator(document("urn:adf-format:output:baseline:1"), registry=registry()).validate(
        json.loads(baseline.text())
    )
    assert load(path).known == baseline.known
    assert load(path).text() == baseline.text()
    assert set(baseline.known) == {"b/a.adf"}


def _document(entries: object) -> str:
    return json.dumps({"$schema": SCHEMA, "files": {"a.adf": entries}})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"files": []}',
        '{"files": {}}',
        '{"$schema": "urn:adf-format:output:validate:1", "files": {}}',
        '{"files": {"a": [{"rule": 1, "count": 1}]}}',
        '{"files": {"a": [{"rule": "x"}]}}',
        "[" * 9999,
        _document([{"rule": "ADF101", "count": 0}]),
        _document([{"rule": "ADF101", "count": -1}]),
        _document([{"rule": "ADF101", "count": True}]),
        _document([{"rule": "ADF101", "count": 1}, {"rule": "ADF101", "table": "", "count": 2}]),
        _document({"rule": "ADF101", "count": 1}),
        _document([["ADF101", 1]]),
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "known.json"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError, match="not a baseline"):
        load(path)


def test_a_missing_baseline_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load(tmp_path / "none.json")


def test_a_baseline_with_rules_that_are_not_known_is_refused(tmp_path: Path) -> None:
    """It would hide nothing, or was written by a newer version: either way its owner should hear of it."""
    path = tmp_path / "known.json"
    entry = {"rule": "ADF999", "count": 1}
    path.write_text(json.dumps({"$schema": SCHEMA, "files": {"a.adf": [entry]}}))
    with pytest.raises(UsageError, match="ADF999, which this version does not"):
        load(path)

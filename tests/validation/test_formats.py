"""Each format keeps its own schema, says everything a report says, and never passes hostile text on."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator
from report_samples import ALL, BROKEN, CLEAN, ERROR, HOSTILE, HOSTILE_FILE, UNREADABLE, WARNING, rendered

from adf_format.schemas.store import document, registry
from adf_format.validation.findings import Finding
from adf_format.validation.formats import NAMES, Run, format_class, sarif_format
from adf_format.validation.formats.base import more_places
from adf_format.validation.report import FileReport
from adf_format.validation.rule import Severity

SARIF = json.loads((Path(__file__).parent / "sarif-subset.json").read_text("utf-8"))


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    elif isinstance(value, str):
        yield value


def check(instance: object, schema: dict[str, Any]) -> None:
    Draft202012Validator(schema, registry=registry()).validate(instance)


@pytest.mark.parametrize("name", NAMES)
def test_no_format_passes_a_dangerous_character_on(name: str) -> None:
    text = rendered(name, *ALL)
    assert {char for char in text if unicodedata.category(char)[0] == "C"} <= {"\n"}


@pytest.mark.parametrize("name", NAMES)
def test_every_format_can_write_a_run_without_files(name: str) -> None:
    assert isinstance(rendered(name), str)


def test_json_keeps_its_schema_and_the_values() -> None:
    found = json.loads(rendered("json", *ALL))
    check(found, document("urn:adf-format:output:validate:1"))
    assert found["files"] == [report.as_json() for report in ALL]
    assert found["summary"]["files"] == 4
    assert found["summary"]["errors"] == ERROR.count


def test_json_of_an_empty_run_keeps_its_schema() -> None:
    check(json.loads(rendered("json")), document("urn:adf-format:output:validate:1"))


def test_json_lines_keep_their_schema_and_end_with_the_totals() -> None:
    lines = [json.loads(line) for line in rendered("jsonl", *ALL).splitlines()]
    for line in lines:
        check(line, document("urn:adf-format:output:validate-line:1"))
    assert [line["kind"] for line in lines] == ["file"] * 4 + ["summary"]


def test_sarif_keeps_the_standard() -> None:
    found = json.loads(rendered("sarif", *ALL))
    check(found, SARIF)
    run = found["runs"][0]
    assert [result["ruleId"] for result in run["results"]] == ["ADF501", "ADF312", "ADF801"]
    assert run["invocations"][0]["executionSuccessful"] is False
    rules = run["tool"]["driver"]["rules"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])


def test_sarif_names_the_place_inside_the_file() -> None:
    result = json.loads(rendered("sarif", BROKEN))["runs"][0]["results"][1]
    location = result["locations"][0]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "broken.adf"
    assert location["logicalLocations"][0]["fullyQualifiedName"] == "adf_loop/2/content_json#/0/text"


def test_sarif_says_how_many_results_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif_format, "MAX_RESULTS", 3)
    found = json.loads(rendered("sarif", BROKEN, BROKEN, BROKEN, HOSTILE_FILE))
    run = found["runs"][0]
    assert len(run["results"]) == 3
    notes = [note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"]]
    assert any(note.startswith("4 further results left out") for note in notes)


def test_sarif_marks_known_findings_as_suppressed() -> None:
    text: list[str] = []
    writer = sarif_format.Sarif(text.append, None, Run({}))  # type: ignore[arg-type]
    writer.begin()
    writer.add(CLEAN, [WARNING])
    writer.end()
    found = json.loads("".join(text))
    check(found, SARIF)
    assert found["runs"][0]["results"][0]["suppressions"][0]["kind"] == "external"


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a b/ü.adf", "a%20b/%C3%BC.adf"),
        ("/x/a.adf", "file:///x/a.adf"),
        ("http:a.adf", "http%3Aa.adf"),
        ("a\udcff.adf", "a%FF.adf"),
    ],
)
def test_sarif_writes_paths_as_uri_references(path: str, uri: str) -> None:
    found = json.loads(rendered("sarif", FileReport(path, 32, [WARNING])))
    location = found["runs"][0]["results"][0]["locations"][0]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_junit_has_a_suite_per_file_and_a_case_per_family() -> None:
    root = ET.fromstring(rendered("junit", CLEAN, BROKEN))
    assert root.tag == "testsuites"
    assert [suite.get("name") for suite in root] == ["clean.adf", "broken.adf"]
    for suite in root:
        cases = suite.findall("testcase")
        assert suite.get("tests") == str(len(cases))
        for kind in ("failure", "error", "skipped"):
            total = suite.get("skipped" if kind == "skipped" else f"{kind}s")
            assert total == str(len(suite.findall(f"testcase/{kind}")))
    assert [case.get("name", "")[:6] for case in root[0]] == ["ADF3xx", "ADF5xx", "ADF8xx"]


def test_junit_fails_from_the_threshold_up_only() -> None:
    def failures(fail_on: Severity | None) -> int:
        return len(ET.fromstring(rendered("junit", BROKEN, fail_on=fail_on)).findall(".//failure"))

    assert (failures(Severity.ERROR), failures(Severity.WARNING), failures(None)) == (1, 2, 0)


def test_junit_shows_what_was_not_checked_as_skipped_and_an_unreadable_file_as_an_error() -> None:
    root = ET.fromstring(rendered("junit", BROKEN, UNREADABLE, HOSTILE_FILE))
    assert root.findall(".//skipped")[0].get("message") == "only with --deep"
    assert root.findall(".//error")[0].get("message") == "the file is empty"


def test_github_annotations_are_one_line_each_and_cannot_be_forged() -> None:
    lines = rendered("github", *ALL).splitlines()
    assert lines[0] == (
        "::error file=broken.adf,title=ADF501 snapshot-not-brotli::adf_audit row 3, data: the blob is not brotli"
        " (and 6 more: rows 4, 7, 9, 12 and others)%0Afix: restore the row"
    )
    assert [line.split(" ")[0] for line in lines if line.startswith("::")] == [
        "::error",
        "::warning",
        "::notice",
        "::error",
        "::notice",
    ]


def test_github_escapes_what_would_end_a_property() -> None:
    line = rendered("github", FileReport("a:b,c%.adf", error="a:b,c%.adf: 100% wrong")).splitlines()[0]
    assert line == "::error file=a%3Ab%2Cc%25.adf,title=could not be checked::100%25 wrong"


def test_human_tells_the_worst_first_with_place_and_fix() -> None:
    text = rendered("human", BROKEN)
    assert text.splitlines()[:4] == [
        "broken.adf: NOT VALID (storage version 32, 7 errors, 1 warning)",
        "  ERROR   ADF501 snapshot-not-brotli  adf_audit row 3, data: the blob is not brotli",
        "          and 6 more: rows 4, 7, 9, 12 and others",
        "          fix: restore the row",
    ]
    assert "12 further findings of ADF312 were counted only" in text
    assert "not checked (only with --deep): coverage" in text
    assert "`adf-format rules ADF501` explains" in text


def test_human_says_in_one_line_that_a_file_is_valid_or_cannot_be_checked() -> None:
    assert rendered("human", CLEAN).splitlines() == [
        "clean.adf: valid (storage version 32)",
        "1 file: 1 valid; no findings",
    ]
    assert rendered("human", UNREADABLE).splitlines()[0] == "empty.adf: could not be checked: the file is empty"


def test_human_is_silent_about_clean_files_when_quiet() -> None:
    assert rendered("human", CLEAN, quiet=True) == ""
    assert "NOT VALID" in rendered("human", CLEAN, BROKEN, quiet=True)


def test_human_shows_statistics_when_asked() -> None:
    assert "looked at: 0 rows in 0 tables" in rendered("human", CLEAN, statistics=True)


def test_human_keeps_to_the_width_of_a_terminal() -> None:
    for line in rendered("human", BROKEN, width=60).splitlines():
        assert len(line) <= 60


def finding(count: int, *places: dict[str, Any]) -> Finding:
    return Finding("ADF312", Severity.INFO, "x", count=count, examples=list(places))


@pytest.mark.parametrize(
    ("group", "words"),
    [
        (finding(1, {"rowid": 1}), ""),
        (finding(2, {"rowid": 1}, {"rowid": 2}), "and 1 more: row 2"),
        (finding(3, {"rowid": 1}, {"rowid": 2}, {"rowid": 5}), "and 2 more: rows 2, 5"),
        (finding(2000, {"rowid": 1}, {"rowid": 2}), "and 1,999 more: row 2 and others"),
        (finding(2, {"pointer": "/a/0"}, {"pointer": "/a/1"}), "and 1 more: /a/1"),
        (finding(4, {}, {}), "and 3 more"),
    ],
)
def test_further_places_are_told_in_words(group: Finding, words: str) -> None:
    assert more_places(group) == words


def test_hostile_text_is_told_apart_in_json_only() -> None:
    """JSON keeps the value; what people read shows it spelled out."""
    assert HOSTILE in set(strings(json.loads(rendered("json", HOSTILE_FILE))))
    assert r"\u{1b}[2J\u{202e}b\n" in rendered("human", HOSTILE_FILE)


def test_the_registry_names_every_format() -> None:
    assert all(format_class(name).__module__.endswith(f"{name}_format") for name in NAMES)

"""Every form of a report: schema'd, stable, harmless whatever a driver says, and the same numbers everywhere."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema_rs
import pytest

from adf_conformance import report as forms
from adf_conformance.checks.bench import Failure
from adf_conformance.format_data import document
from adf_conformance.report import terminal, timeline
from adf_conformance.requirements import Requirement
from adf_conformance.running.report import Report, Row
from adf_conformance.running.verdicts import CheckResult, Judgement, Verdict
from adf_conformance.schedule import Case

HOSTILE = "<script>alert(1)</script>\x1b[2J\u202e]]>&\x00"


def told(*, text: str = "x", empty: bool = False) -> dict[str, Any]:
    """A report in which every verdict stands once, and every text is the given one."""
    story = [
        {"step": 0, "do": "chat", "says": text, "open": [f"c{text}"], "loops": [f"main{text}"]},
        {"step": 1, "do": "kill", "says": text, "open": [], "loops": [], "note": text},
    ]
    case = Case(text, "core.a", [{"do": "chat", "text": text}])
    failure = Failure("core.x", text, case, {"row": text}, (2, 2), story, [text], text, 9)
    rows = []
    for verdict in Verdict:
        broken = verdict in {Verdict.FAIL, Verdict.FLAKY, Verdict.EXPECTED_FAIL}
        requirement = Requirement(f"core.{verdict}", "MUST", (text,), f"{text}.", text, ("core.a",))
        rows.append(Row(requirement, Judgement(verdict, text, 3, failure if broken else None), True, "c.json" * broken))
    checks = [CheckResult("core.a", {}, fault=("harness-error", text), malformed=[text])]
    driver = {"name": text, "version": text, "language": text, "storage": [21, 32], "capabilities": [text]}
    made = Report("0.7.4", "suite", text, 7, 1.5, driver, [] if empty else rows, checks, text, {text: text})
    return made.as_json()


def valid(value: Any) -> bool:
    schema = document("urn:adf-format:output:conformance-report:1")
    return bool(jsonschema_rs.validator_for(schema, retriever=document).is_valid(value))


def test_a_report_follows_its_schema_and_survives_json() -> None:
    made = told()
    assert valid(json.loads(json.dumps(made)))
    assert json.dumps(made) == json.dumps(told())


@pytest.mark.parametrize("name", ["conformance-report", "conformance-case"])
def test_examples_of_the_schemas_hold(name: str) -> None:
    schema = document(f"urn:adf-format:output:{name}:1")
    compiled = jsonschema_rs.validator_for(schema, retriever=document)
    assert all(compiled.is_valid(example) for example in schema["examples"])


def test_the_terminal_shows_what_needs_attention_and_no_control_character() -> None:
    lines = list(forms.lines(told(text=HOSTILE), "cases"))
    assert not any(character in line for line in lines for character in "\x1b\x00\u202e")
    text = "\n".join(lines)
    assert "FAIL core.fail [MUST" in text
    assert "PASS" not in text
    assert "9 steps; happened again on 2 of 2" in text
    assert "adf-conformance replay cases/c.json" in text
    assert "1 / 9 (exercised 27 times)" in lines[-1]


def test_nothing_required_is_no_success() -> None:
    made = told(empty=True)
    assert made["exit_code"] == 1  # for the expectation that means nothing
    assert "nothing required" in list(forms.lines(made))[-1]
    assert forms.shields({**made, "exit_code": 3})["message"] == "nothing tested"


class Page(HTMLParser):
    """Counts elements and remembers attributes that could load or run something."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.dangerous: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        names = {name for name, _ in attrs}
        self.dangerous += sorted(name for name in names if name.startswith("on") or name in {"src", "href", "action"})


def test_the_page_runs_and_loads_nothing_whatever_a_driver_says() -> None:
    text = forms.page(told(text=HOSTILE), "cases")
    page = Page()
    page.feed(text)
    assert not {"script", "link", "iframe", "img", "object"} & set(page.tags)
    assert page.dangerous == []
    assert "default-src 'none'" in text
    assert "&lt;script&gt;" in text
    assert page.tags.count("details") >= 10
    assert "<svg" in text


def test_the_timeline_has_a_lane_per_loop_and_an_interval_per_open_call() -> None:
    steps = [
        {"step": number, "do": "await", "says": "", "open": open_, "loops": loops}
        for number, (open_, loops) in enumerate(
            [(["a"], ["main"]), (["a", "b"], ["main", "r"]), (["b"], ["r"]), ([], [])]
        )
    ]
    root = ET.fromstring(timeline.svg(steps))
    bars = [element for element in root if element.tag == "rect"]
    assert [int(bar.get("height", 0)) // timeline.ROW for bar in bars] == [2, 2]
    assert [element.text for element in root if element.tag == "text"][:2] == ["main", "r"]


def test_junit_is_xml_with_a_case_per_requirement_and_honest_counts() -> None:
    root = ET.fromstring(forms.junit(told(text=HOSTILE)).encode())
    (suite,) = root
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors"), suite.get("skipped")) == (
        "10",
        "4",
        "3",
        "2",
    )
    cases = {case.get("name"): case for case in suite}
    assert cases["core.fail"].find("failure") is not None
    assert cases["core.inconclusive"].find("error") is not None
    assert len(cases["core.pass"]) == 1
    properties = {one.get("name"): one.get("value") for one in cases["core.pass"].iter("property")}
    assert (properties["verdict"], properties["exercised"], properties["level"]) == ("pass", "3", "MUST")


def test_the_badges_say_the_same() -> None:
    made = told()
    assert forms.shields(made) == {"schemaVersion": 1, "label": "adf conformance", "message": "1 / 9", "color": "red"}
    root = ET.fromstring(forms.svg(made))
    assert "".join(root.itertext()).endswith("1 / 9")
    assert forms.shields({**made, "exit_code": 0})["color"] == "brightgreen"
    assert forms.shields({**made, "exit_code": 3})["message"] == "1 / 9, inconclusive"


def test_two_reports_differ_in_verdicts_and_presence() -> None:
    old, new = told(), told()
    new["requirements"][0] |= {"verdict": "fail"}
    del new["requirements"][1]
    assert list(forms.diff(old, new)) == [("core.pass", "pass", "fail"), ("core.fail", "fail", "-")]
    assert list(forms.diff(old, old)) == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2}'])
def test_what_is_no_report_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(text, encoding="utf-8")
    with pytest.raises(forms.NoReport):
        forms.load(tmp_path / "r.json")


def test_a_table_is_aligned() -> None:
    assert list(terminal.table([("a", "bb"), ("ccc", "d")])) == ["a    bb", "ccc  d"]
    assert list(terminal.table([])) == []

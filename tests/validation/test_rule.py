"""Rules are data: their registry, their names, and how they are chosen."""

from __future__ import annotations

import pytest

from adf_format.errors import UsageError
from adf_format.validation import rule
from adf_format.validation.rule import FAMILIES, Example, Severity, all_rules, select

RULES = all_rules()


def test_every_rule_has_an_id_of_a_family_and_a_name_of_its_own() -> None:
    assert list(RULES) == sorted(RULES)
    assert all(one.family in FAMILIES and key == one.id and len(key) == 6 for key, one in RULES.items())
    assert len({one.name for one in RULES.values()}) == len(RULES)


@pytest.mark.parametrize("key", RULES)
def test_a_rule_says_what_why_and_where_it_comes_from(key: str) -> None:
    one = RULES[key]
    assert one.what.endswith(".")
    assert one.why.endswith(".")
    assert one.source
    assert all(one.source)
    assert one.fires != one.silent
    assert one.until is None or one.since <= one.until
    assert one.applies(one.fires.on) or one.fires.content is not None
    assert one.name == one.name.lower()


@pytest.mark.parametrize(
    ("pattern", "prefix"),
    [("ADF301", "ADF301"), ("adf3", "ADF3"), ("ADF3xx", "ADF3"), ("ADF30X", "ADF30"), ("ADFxxx", ""), ("ALL", "")],
)
def test_rules_are_chosen_by_id_or_prefix(pattern: str, prefix: str) -> None:
    assert select((pattern,)) == {key for key in RULES if key.startswith(prefix)}


def test_a_rule_is_chosen_by_its_name() -> None:
    assert select(("column-not-json", "ADF301")) == {"ADF310", "ADF301"}
    assert select(()) == frozenset()


@pytest.mark.parametrize("pattern", ["ADF999", "nothing", "", "ADF0x", "3", "ADF301 "])
def test_a_pattern_that_names_no_rule_is_a_usage_error(pattern: str) -> None:
    with pytest.raises(UsageError, match="no rule"):
        select((pattern,))


def test_a_severity_is_parsed_and_shown_in_lower_case() -> None:
    assert [str(one) for one in Severity] == ["info", "warning", "error"]
    assert Severity.of("Warning") is Severity.WARNING
    with pytest.raises(UsageError, match="'fatal' is not a severity"):
        Severity.of("fatal")


def test_a_rule_declared_twice_is_noticed() -> None:
    known = next(iter(RULES.values()))
    for key, name in ((known.id, "another-name"), ("ADF999", known.name)):
        with pytest.raises(AssertionError, match="declared twice"):
            rule.rule(key, name, Severity.INFO, what="w", why="y", source=("X",), fires="SELECT 1", silent="SELECT 2")
    assert "ADF999" not in rule._RULES


@pytest.mark.parametrize(
    ("example", "text"),
    [
        (Example(" SELECT 1 "), "SELECT 1"),
        (Example(), "-- the sample as it is"),
        (Example(patch=((-4, "00ff"),)), "-- at byte -4 write 00ff"),
        (Example(truncate=0), "-- cut the file after 0 bytes"),
        (Example(append="00ff"), "-- append 2 bytes"),
        (Example(content="hello"), "-- the file holds only the text 'hello'"),
        (
            Example(log="DELETE FROM t", log_cut=9),
            "-- left in the write-ahead log:\nDELETE FROM t\n-- cut 9 bytes off the end of the log",
        ),
        (Example(beside=(("-wal", "00"),)), "-- beside the file, -wal: 1 bytes"),
        (Example("SELECT 1", truncate=100), "SELECT 1\n-- cut the file after 100 bytes"),
    ],
)
def test_an_example_can_be_shown(example: Example, text: str) -> None:
    assert str(example) == text

"""Lines are added where they belong, and every other byte stays (MEM-014, MEM-064)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format.errors import UnreadableError, UsageError
from adf_format.memory.blocks import put_block
from adf_format.memory.placing import append_to_section, bullet, outline, text_of

ORDER = ("Tasks", "Decisions", "Learned", "Blockers")
NOTE = "# 2026-04-01\n\n## Tasks\n\n- one\n  - deeper\n\n## Learned\n\nprose\n"


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("Tasks", "# 2026-04-01\n\n## Tasks\n\n- one\n  - deeper\n- new\n\n## Learned\n\nprose\n"),
        ("learned", "# 2026-04-01\n\n## Tasks\n\n- one\n  - deeper\n\n## Learned\n\nprose\n\n- new\n"),
        (
            "Decisions",
            "# 2026-04-01\n\n## Tasks\n\n- one\n  - deeper\n\n## Decisions\n\n- new\n\n## Learned\n\nprose\n",
        ),
        ("Blockers", NOTE + "\n## Blockers\n\n- new\n"),
        ("Mood", NOTE + "\n## Mood\n\n- new\n"),
    ],
)
def test_an_item_goes_to_the_end_of_its_section(section: str, expected: str) -> None:
    assert append_to_section(NOTE, section, "- new", ORDER) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "## Tasks\n\n- new\n"),
        ("\ufeff", "\ufeff## Tasks\n\n- new\n"),
        ("## Tasks", "## Tasks\n\n- new\n"),
        ("\ufeff## Tasks\r\n- a", "\ufeff## Tasks\r\n- a\r\n- new\r\n"),
        ("## Tasks\n1. a\n\n\n", "## Tasks\n1. a\n- new\n\n\n"),
        ("## Tasks #\n- a\n### sub\n- b\n# End\n", "## Tasks #\n- a\n### sub\n- b\n- new\n# End\n"),
        ("## Tasks\n<!-- here -->\n", "## Tasks\n<!-- here -->\n\n- new\n"),
        ("```\n## Tasks\n```\n", "```\n## Tasks\n```\n\n## Tasks\n\n- new\n"),
        ("<!--\n## Tasks\n-->\n", "<!--\n## Tasks\n-->\n\n## Tasks\n\n- new\n"),
    ],
)
def test_line_endings_fences_and_comments(before: str, after: str) -> None:
    """What looks like a heading in a code block or a comment is none."""
    assert append_to_section(before, "Tasks", "- new", ORDER) == after


@pytest.mark.parametrize("text", ["## Tasks\n```\n", "## Tasks\n<!-- never\n", "~~~~\n~~~\n"])
def test_nothing_goes_into_an_open_block(text: str) -> None:
    """A note would disappear in it."""
    with pytest.raises(UnreadableError, match="never closed"):
        append_to_section(text, "Tasks", "- new", what="x.md")


lines = st.sampled_from(
    ["# T", "## Tasks", "## Learned", "- a", "  b", "", "x", "\ufeff", "a\u2028b", "```x```", "1. z"]
)
texts = st.builds("".join, st.lists(st.tuples(lines, st.sampled_from(["\n", "\r\n", "\r", "\n\n"])).map("".join)))


@given(texts, st.sampled_from(ORDER), st.booleans())
def test_every_other_byte_stays(text: str, section: str, cut: bool) -> None:
    """What was inserted is one stretch; without it the text is the old one (but for an ending it may have lacked)."""
    text = text.rstrip("\r\n") if cut else text
    after = append_to_section(text, section, "- new item", ORDER)
    old, new = outline(text), outline(after)
    more = len(after) - len(text)
    assert any(after[:at] + after[at + more :] == text for at in range(len(text) + 1))
    heading = new.find(section)
    assert heading is not None
    assert any(line.startswith("- new item") for line in new.body(heading))
    assert re.search(r"- new item[\r\n]", after)
    assert len(new.lines) - len(old.lines) in range(1, 6)


def test_headings() -> None:
    seen = outline("# A\n##  B  ##\n####### no\n#no\n    # code\n\ufeff# x\n#\n")
    assert [(one.level, one.title, one.line) for one in seen.headings] == [(1, "A", 0), (2, "B", 1), (1, "", 6)]


def test_a_bullet() -> None:
    assert bullet("  one\r\n\r\ntwo  \n## three ") == "- one\n\n  two\n  ## three"
    for wrong in ("", " \n ", "a\0b"):
        with pytest.raises(UsageError):
            bullet(wrong)


def test_what_is_not_utf8_is_not_edited() -> None:
    """MEM-006."""
    with pytest.raises(UnreadableError, match="byte 2"):
        text_of(b"ab\xff", "x.md")


def test_a_block_is_put_once_and_replaced_in_place() -> None:
    """MEM-064: what stands around it stays."""
    first = put_block("# Mine\r\n\r\ntext", "memory", "one\ntwo")
    assert first == (
        "# Mine\r\n\r\ntext\r\n\r\n<!-- adf-format:memory begin -->\r\none\r\ntwo\r\n<!-- adf-format:memory end -->\r\n"
    )
    second = put_block(first + "after\r\n", "memory", "three")
    assert second.endswith("begin -->\r\nthree\r\n<!-- adf-format:memory end -->\r\nafter\r\n")
    assert put_block(second, "memory", "three") == second
    assert put_block("", "memory", "x").startswith("<!-- adf-format:memory begin")


@pytest.mark.parametrize(
    "text", ["<!-- adf-format:m begin -->", "<!-- adf-format:m end -->\n<!-- adf-format:m begin -->"]
)
def test_broken_markers_are_left_alone(text: str) -> None:
    with pytest.raises(UnreadableError):
        put_block(text, "m", "x")

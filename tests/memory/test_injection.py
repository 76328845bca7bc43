"""What stands in a prompt: placeholders, the snapshot of a session, context rows (MEM-150 to MEM-159)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format.errors import UsageError
from adf_format.memory import injection
from adf_format.memory.injection import Snapshot, collect, render

FILES = {"mind.md": b"# Mind\n", "a&b.md": b"x", "nested.md": b"{{mind.md}} and {{none.md}}", "": b"never"}


def snapshot(files: dict[str, bytes] = FILES) -> Snapshot:
    return Snapshot(files.get)


def test_a_placeholder_becomes_the_file_in_tags() -> None:
    """MEM-150: fires on `{{ path }}`, trimmed as JavaScript trims; is silent on braces over two lines."""
    expected = '<injected_file path="mind.md">\n# Mind\n\n</injected_file>'
    assert render("{{mind.md}}", snapshot()) == expected
    assert render("{{ \ufeff mind.md\t}}", snapshot()) == expected
    for text in ("{{mind\n.md}}", "{mind.md}", "{{}}", "{{a{b}}", "{ {mind.md} }"):
        assert render(text, snapshot()) == text


def test_the_attribute_is_escaped() -> None:
    """MEM-150: `&` and `"` in a path cannot end the attribute."""
    assert render("{{a&b.md}}", snapshot()).startswith('<injected_file path="a&amp;b.md">')
    assert render('{{q".md}}', snapshot()) == '<injected_file path="q&quot;.md" missing="true"/>'


@given(st.text(), st.text())
def test_content_cannot_close_its_tags(content: str, more: str) -> None:
    """MEM-150: whatever a file holds, there is one closing tag, and it is ours."""
    whole = injection.wrapped("p", content + "</injected_file" + more)
    assert whole.count("</injected_file") == 1
    assert whole.endswith("\n</injected_file>")


def test_a_missing_file_is_marked() -> None:
    """MEM-151: fires on a path that is not there; an empty file is no missing one."""
    assert render("{{none.md}}", snapshot()) == '<injected_file path="none.md" missing="true"/>'
    assert render("{{e}}", snapshot({"e": b""})) == '<injected_file path="e">\n\n</injected_file>'


def test_both_marks_are_recognised() -> None:
    """D2: old transcripts may hold the mark of the specification's text."""
    assert injection.has_missing_mark("a [missing file: x.md] b")
    assert injection.has_missing_mark(injection.missing('a "b"'))
    assert not injection.has_missing_mark('<injected_file path="x">')


def test_braces_inside_a_file_stay() -> None:
    """MEM-152: one pass; what a file holds is not looked at again."""
    assert "{{mind.md}} and {{none.md}}" in render("{{nested.md}}", snapshot())


def test_each_file_is_read_once_and_a_miss_too() -> None:
    """MEM-153: later writes do not show until the snapshot is dropped."""
    files, asked = dict(FILES), []

    def reader(path: str) -> bytes | None:
        asked.append(path)
        return files.get(path)

    session = Snapshot(reader)
    before = render("{{mind.md}}{{late.md}}", session)
    files |= {"mind.md": b"new", "late.md": b"new"}
    assert render("{{mind.md}}{{late.md}}", session) == before
    assert asked == ["mind.md", "late.md"]
    assert session.missing() == ["late.md"]
    assert "new" in render("{{late.md}}", Snapshot(reader))


def test_bytes_that_are_no_text_do_not_stop_a_prompt() -> None:
    """MEM-158: they show as U+FFFD."""
    assert "\ufffd" in render("{{b}}", snapshot({"b": b"\xff"}))


def test_the_paths_of_several_sources() -> None:
    """MEM-158: each once, in the order met."""
    assert collect(["{{b}} {{a}}", "{{ a }} {{c}}"]) == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("config", "there"),
    [
        ({}, True),
        ({"include_base_prompt": True}, True),
        ({"include_base_prompt": False}, False),
        ({"include_base_prompt": False, "instructions": "read {{ mind.md }}"}, True),
        ({"include_base_prompt": False, "instructions": "read {{mind\n.md}}"}, False),
        ({"include_base_prompt": None}, True),
        ({"bare_prompt": True}, False),
        ({"bare_prompt": True, "instructions": "{{mind.md}}"}, True),
        ({"instructions": 5}, True),
    ],
)
def test_when_the_mind_is_injected(config: dict[str, object], there: bool) -> None:
    """MEM-154: the base prompt holds it, or the instructions name it."""
    assert injection.is_injected(config) is there


def test_other_files_need_a_placeholder() -> None:
    """MEM-154: the base prompt holds the soul and the mind, nothing else."""
    assert injection.is_injected({}, "soul.md")
    assert not injection.is_injected({}, "README.md")


def test_context_rows_are_written_and_read_alike() -> None:
    """MEM-155, MEM-159: category, origin and key come back; other rows are none."""
    assert injection.context_of(injection.context_block("system_prompt", "x]")) == ("system_prompt", None, None)
    keyed = injection.context_block("memory", "text", origin="system:memory", key="pack")
    assert keyed == "[Context: memory | loop_inject=v2 | origin=system:memory | key=pack] text"
    assert injection.context_of(keyed) == ("memory", "system:memory", "pack")
    assert injection.context_of("about [Context: memory] rows") is None


@pytest.mark.parametrize(
    ("category", "origin", "key"),
    [
        ("Big", None, None),
        ("a" * 65, None, None),
        ("a]", None, None),
        ("a", "o p", None),
        ("a", "o", "k]"),
        ("a", None, "k"),
    ],
)
def test_context_that_the_format_forbids(category: str, origin: str | None, key: str | None) -> None:
    """MEM-159: a category, origin or key that could end the bracket is refused."""
    with pytest.raises(UsageError):
        injection.context_block(category, "x", origin=origin, key=key)


def test_of_several_updates_with_one_key_the_latest_is_sent() -> None:
    """MEM-159: unkeyed ones are all sent, and are not replayed after a restart."""

    def keyed(key: str, text: str) -> str:
        return injection.context_block("c", text, origin="o", key=key)

    plain = injection.context_block("c", "once", origin="o")
    pending = [keyed("a", "1"), plain, keyed("b", "1"), keyed("a", "2"), plain]
    assert injection.latest_keyed(pending) == [plain, keyed("b", "1"), keyed("a", "2"), plain]
    assert injection.requeued([*pending, "[Loop Compacted] x"]) == [keyed("b", "1"), keyed("a", "2")]


@pytest.mark.parametrize(("threshold", "bound"), [(100_000, 130_000), (50_000, 65_000), (1_000_000, 1_030_000), (7, 9)])
def test_the_bound_that_waits_for_nobody(threshold: int, bound: int) -> None:
    """MEM-157: the smaller of 30,000 more and 1.3 times the threshold, rounded down."""
    assert injection.emergency_bound(threshold) == bound

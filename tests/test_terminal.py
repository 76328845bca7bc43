"""Nothing from a file reaches a terminal that the terminal might act on or hide."""

from __future__ import annotations

import io
import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adf_format.terminal import Screen, harmless_json, screen, table, visible, width_of

TEXT = st.text(st.characters(codec=None) | st.sampled_from("\x1b\x9b\x07\r\n\t\u202e\u2066\u200b\ufeff\u2028\ud83d"))
DANGEROUS = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
JOINERS = "\u200c\u200d"


def dangers(text: str) -> set[str]:
    return {char for char in text if unicodedata.category(char) in DANGEROUS and char not in JOINERS}


@given(TEXT)
def test_visible_text_holds_no_control_format_or_surrogate_character(text: str) -> None:
    assert not dangers(visible(text))
    assert dangers(visible(text, lines=True)) <= {"\n"}


@given(TEXT)
def test_visible_text_stays_as_it_is_when_shown_again(text: str) -> None:
    assert visible(visible(text)) == visible(text)


@given(st.text("abcäß日本🙂 \u00a0'\"\\{}"))
def test_honest_text_is_shown_unchanged(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", r"\u{1b}[31mred"),
        ("admin\u202egnp.exe", r"admin\u{202e}gnp.exe"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("\ud83d", r"\u{d83d}"),
        ("ad\u200dmin", r"ad\u{200d}min"),
        ("👩\u200d🔬", "👩\u200d🔬"),
        ("\u3164", r"\u{3164}"),
        ("a\U000e0101", r"a\u{e0101}"),
    ],
)
def test_known_tricks_are_spelled_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.recursive(TEXT | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner)))
def test_a_harmless_document_has_the_same_value(value: object) -> None:
    shown = harmless_json(json.dumps(value, ensure_ascii=False, indent=1))
    assert json.loads(shown) == value
    assert dangers(shown) <= {"\n"}


def test_colours_are_off_unless_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    pipe = io.StringIO()
    assert not screen(pipe).color
    assert screen(pipe, "always").color
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert screen(pipe).color
    assert not screen(pipe, "never").color
    monkeypatch.setenv("NO_COLOR", "1")
    assert not screen(pipe).color


def test_no_text_is_wrapped_when_nobody_sees_the_width() -> None:
    assert Screen().wrapped("word " * 100, indent=2) == "  " + "word " * 100


@given(st.lists(st.text("abäß日", min_size=1, max_size=12), min_size=1), st.integers(40, 80), st.integers(0, 8))
def test_wrapped_lines_fit_and_lose_no_word(words: list[str], width: int, indent: int) -> None:
    lines = Screen(width=width).wrapped(" ".join(words), indent=indent).split("\n")
    assert all(width_of(line) <= width for line in lines)
    assert " ".join(lines).split() == words


def test_a_long_word_stays_whole() -> None:
    assert "x" * 100 in Screen(width=40).wrapped(f"see {'x' * 100} there")


def test_columns_are_aligned_by_what_is_seen() -> None:
    painted = Screen(color=True).paint("日本", "red")
    lines = table([("a", "1"), (painted, "2")])
    assert lines == ["a     1", f"{painted}  2"]

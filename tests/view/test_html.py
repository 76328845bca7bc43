"""HTML is escaped unless it is known to be harmless, and what could run is refused where it is made."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from view_support import Checked

from adf_format.view.html import Page, Safe, Url, el, escape, html, text
from adf_format.view.links import Targets, web


@given(st.text())
def test_text_never_becomes_markup(value: str) -> None:
    made = Checked(el("p", value, title=value))
    assert set(made.tags) <= {"p", "span"}
    assert made.attributes <= {"title", "class"}


@given(st.text())
def test_what_would_act_or_hide_is_spelled_out(value: str) -> None:
    for made in (text(value), escape(value)):
        assert not any(char in made for char in "\x00\x1b\u202e\u2066\u200b\ufeff\u2028")
        made.encode("utf-8")


@pytest.mark.parametrize("name", ["onclick", "onerror", "style", "srcdoc"])
def test_attributes_that_run_code_are_refused(name: str) -> None:
    with pytest.raises(TypeError, match="could run code"):
        el("p", **{name: "x"})


@pytest.mark.parametrize("name", ["href", "src"])
def test_an_address_has_to_be_checked(name: str) -> None:
    with pytest.raises(TypeError, match="checked address"):
        el("a", **{name: "https://example.org"})
    assert el("a", **{name: Url("#x")}) == f'<a {name}="#x"></a>'


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        " javascript:alert(1)",
        "JaVaScRiPt:x",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "//example.org",
        "http:x",
        "https://a b",
        "https://a\u0000",
        "java\nscript:x",
        "https://" + "a" * 3000,
        "blob:x",
        "about:blank",
    ],
)
def test_only_addresses_of_the_web_and_of_mail_are_links(address: str) -> None:
    assert web(address) is None
    assert Targets().address(address) is None


def test_addresses_of_the_web_stay_what_they_are() -> None:
    assert web("https://example.org/a?b=c&d=%20#e") == "https://example.org/a?b=c&d=%20#e"
    assert web("mailto:ada@example.org") == "mailto:ada@example.org"


def test_safe_stays_none_goes_and_iterables_are_flattened() -> None:
    assert html(Safe("<b>"), "<i>", None, [1, ["x"]]) == "<b>&lt;i&gt;1x"


def test_an_element_is_ended_whatever_happens_in_it() -> None:
    sink = io.StringIO()
    with pytest.raises(ValueError, match="stop"), Page(sink).inside("ol"):
        raise ValueError("stop")
    assert Checked(sink.getvalue()).tags == {"ol": 1}

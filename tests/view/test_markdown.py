"""Markdown of agents: rendered, harmless, and cited rows are links."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from view_support import Checked

from adf_format.history import SeqSet
from adf_format.view.links import Targets
from adf_format.view.markdown import LONGEST, Markdown

MARKDOWN = Markdown(Targets({"": SeqSet([(1, 9)])}, frozenset({"notes/plan.md", "mind/peas.md"})))
PIECES = st.sampled_from(
    [
        "<script>",
        "</p>",
        "[a](",
        "javascript:x",
        ")",
        "![",
        "]",
        "`",
        "```\n",
        "\n\n",
        "- ",
        "> ",
        "|a|\n|-|\n",
        "**",
        "_",
        "[S3]",
        "<!--",
        "&lt;",
        "#",
        "x",
        " ",
        "http://a.b",
        "\u202e",
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_whatever_the_text_only_our_elements_come_out(source: str) -> None:
    made = Checked(MARKDOWN(source))
    assert not {"script", "img", "iframe", "style", "svg", "form"} & set(made.tags)
    assert all(one.startswith(("#", "http://", "https://", "mailto:")) for one in made.addresses)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("plain", "<p>plain</p>"),
        ("a\n\nb", "<p>a</p><p>b</p>"),
        ("**b** _i_ `c` ~~d~~", "<strong>b</strong> <em>i</em> <code>c</code> <del>d</del>"),
        ("# T", "<h4>T</h4>"),
        ("[S3]", '<a href="#S3" class="cite">S3</a>'),
        ("[S3; S99]", "S99</span>]"),
        ("see [S1, S2]", '<a href="#S2"'),
        ("[a](adf-audit://seq/4)", '<a href="#S4"'),
        ("[p](adf-file://notes/plan.md)", '<a href="#file-'),
        ("![x](http://a.b/c.png)", '<a href="http://a.b/c.png" class="image"'),
        ("![x](data:image/png;base64,AA)", "not fetched"),
        ("<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"),
        ("|a|b|\n|-|:-:|\n|1|2|", '<td class="mid">2</td>'),
        ("- [x] done", "☑"),
        ("3. c", '<ol start="3">'),
        ("```js\n<x>\n```", '<pre data-lang="js" tabindex="0"><code>&lt;x&gt;'),
        ("> q", "<blockquote><p>q</p></blockquote>"),
        ("---", "<hr>"),
        ("a  \nb", "a<br>b"),
    ],
)
def test_markdown_becomes_html(source: str, words: str) -> None:
    assert words in MARKDOWN(source)


def test_a_relative_link_is_relative_to_its_page() -> None:
    assert 'href="#file-' in MARKDOWN("[peas](peas.md)", "mind/beans.md")
    assert "not a link here" in MARKDOWN("[peas](peas.md)", "notes/plan.md")


def test_a_text_that_is_too_long_to_parse_is_shown_as_it_is() -> None:
    made = MARKDOWN("*a* [S3] " + "x" * LONGEST)
    assert made.startswith('<pre class="plain">*a* [<a href="#S3"')

"""`mind.md`: sections, size, the catalog and where its links lead (MEM-120 to MEM-124, MEM-170, MEM-171)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from adf_format.memory.lint.document import Document, Link
from adf_format.memory.lint.examples import lesson, mind, page, put
from adf_format.validation.rule import Severity, rule

LINES, CHARS = 150, 8_000
_HOOK = re.compile(r" (?:\u2014|\u2013|-|:) ?\S|: \S")  # em dash, and what is taken for one
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:")
_FILE = "adf-file://"
_SECTIONS = ("Always", "Pages")

SECTIONS = rule(
    "ADF930",
    "mind-sections",
    Severity.WARNING,
    what="`mind.md` has the sections Always and Pages.",
    why="The agent finds its standing facts and its pages by these headings.",
    source=("MEM-120",),
    since=28,
    fires=put("mind.md", "# Mind\n\n## Always\n\n- I am Ada.\n", "no_delete"),
    silent=mind(),
    fix="add the missing heading",
)
SIZE = rule(
    "ADF931",
    "mind-size",
    Severity.WARNING,
    what=f"`mind.md` has at most {LINES} lines and {CHARS:,} characters.",
    why="Every line of it is paid for in every turn.",
    source=("MEM-124",),
    since=28,
    fires=mind(always="\n".join(f"- fact {number}" for number in range(160))),
    silent=mind(always="\n".join(f"- fact {number}" for number in range(60))),
    fix="move what is not needed each turn into pages",
)
CATALOG = rule(
    "ADF932",
    "catalog-line",
    Severity.WARNING,
    what="A line of the catalog has a hook after its link.",
    why="By the hook a later session decides whether to open the page.",
    source=("MEM-121",),
    since=28,
    fires=f"{mind('- [beds](adf-file://mind/beds.md)')}; {put('mind/beds.md', lesson())}",
    silent=page(lesson()),
    fix="add ` — ` and a few words on when to read it",
)
FORM = rule(
    "ADF933",
    "link-form",
    Severity.WARNING,
    what="A link to a file of the agent is `adf-file://` and its path, without `..` or a leading slash.",
    why="Readers take the text after the scheme for the path, and find nothing.",
    source=("MEM-122", "MEM D7"),
    since=28,
    fires=f"{mind('- [beds](adf-file:///mind/beds.md) — the beds')}; {put('mind/beds.md', lesson())}",
    silent=f"{mind('- [beds](adf-file://mind/the%20beds.md) — the beds')}; {put('mind/the beds.md', lesson())}",
)
DANGLING = rule(
    "ADF934",
    "dangling-link",
    Severity.ERROR,
    what="Every link of the mind leads to a file that is there.",
    why="The agent opens it and finds nothing: what it remembered is lost.",
    source=("MEM-170",),
    since=28,
    fires=mind("- [beds](adf-file://mind/beds.md) — the beds"),
    silent=mind("<!-- - [beds](adf-file://mind/beds.md) — the beds -->"),
    fix="bring the page back, or delete the line",
)
ORPHAN = rule(
    "ADF935",
    "orphan-page",
    Severity.WARNING,
    what="Every page of the mind has a line in the catalog.",
    why="A page that is nowhere linked is never opened again.",
    source=("MEM-170",),
    since=28,
    fires=f"{mind()}; {put('mind/beds.md', lesson())}",
    silent=page(lesson()),
    fix="add a line to the section Pages of mind.md, or delete the page",
)
RULES = (SECTIONS, SIZE, CATALOG, FORM, DANGLING, ORPHAN)


class Target(NamedTuple):
    """Where a link leads; `path` is None for what is no file of the agent."""

    path: str | None
    well_formed: bool


def target_of(link: str) -> Target:
    """Return the path that a link names, as readers resolve it (MEM-122)."""
    if not link.startswith(_FILE):
        return Target(None, bool(_SCHEME.match(link)) or link.startswith("#"))
    path = link.removeprefix(_FILE).partition("?")[0].partition("#")[0]
    bare = unquote(path.strip("/"))
    good = not path.startswith("/") and ".." not in bare.split("/") and bool(bare)
    return Target(bare, good)


def check(index: Document, paths: frozenset[str]) -> None:
    """Look at the index itself."""
    if not index.text.strip():
        return  # cleared by its owner (MEM-114)
    titles = {heading.title.casefold() for heading in index.outline.headings if heading.level == 2}
    missing = [wanted for wanted in _SECTIONS if wanted.casefold() not in titles]
    if missing != [*_SECTIONS] or _has_pages(paths):  # else it is of before 28, which had no pattern
        for wanted in missing:
            index.report(SECTIONS, f"the section {wanted} is missing")
    if index.count > LINES or len(index.text) > CHARS:
        index.report(SIZE, f"{index.count:,} lines with {len(index.text):,} characters")
    for link in _catalog(index):
        path = target_of(link.target).path
        if path is not None and path in paths and not _HOOK.match(link.after):
            index.report(CATALOG, f"{link.title[:60]!a} has no hook", link.line)


def _has_pages(paths: frozenset[str]) -> bool:
    return any(path.startswith("mind/") and path != "mind/log.md" for path in paths)


def check_links(document: Document, paths: frozenset[str]) -> None:
    """Look where the links of the index or a page lead."""
    for link in document.links():
        path, good = target_of(link.target)
        shown = f"{link.target[:80]!a}"
        if not good:
            document.report(FORM, f"{shown} is not adf-file:// and a path", link.line)
        elif path is not None and path not in paths:
            document.report(DANGLING, f"{shown} leads to no file", link.line)


def check_orphans(index: Document, pages: list[Document]) -> None:
    """Look for pages without a line in the catalog; their links to each other do not count (MEM-171)."""
    linked = {target_of(link.target).path for link in index.links()}
    for page_ in pages:
        if page_.path not in linked:
            page_.report(ORPHAN, "mind.md has no line for it")


def _catalog(index: Document) -> Iterator[Link]:
    heading = index.outline.find("Pages")
    if heading is not None:
        inside = {line.number for line in index.section(heading)}
        yield from (link for link in index.links() if link.line in inside)

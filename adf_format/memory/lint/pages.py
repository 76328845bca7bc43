"""Pages of the mind: frontmatter, slug, length (MEM-130 to MEM-135)."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, datetime

from adf_format.memory import frontmatter
from adf_format.memory.frontmatter import Frontmatter
from adf_format.memory.lint.document import Document
from adf_format.memory.lint.examples import lesson, page
from adf_format.validation.rule import Severity, rule

LINES = 300
CORE = frozenset({"person", "project", "decision", "procedure", "lesson", "reference", "open-thread"})
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SOURCE = re.compile(r"adf-audit://seq/[0-9]{1,19}|adf-file://[^\s]+|https?://[^\s/]+\S*")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")

MISSING = rule(
    "ADF936",
    "frontmatter-missing",
    Severity.ERROR,
    what="A page of the mind begins with its frontmatter.",
    why="Nothing says what kind of page it is and where it comes from.",
    source=("MEM-130",),
    since=28,
    fires=page("# Beds\n\nWater early.\n"),
    silent=page(lesson().replace("\n", "\r\n")),
    fix="begin it with `---`, `type: ...`, `---`",
)
YAML = rule(
    "ADF937",
    "frontmatter-not-yaml",
    Severity.ERROR,
    what="A frontmatter is YAML whose keys come once.",
    why="Readers drop the whole block, or keep one of two values without a word.",
    source=("MEM-132",),
    since=28,
    fires=page(lesson("description: beds: all of them")),
    silent=page(lesson('description: "beds: all of them"\nsources: [https://example.org]')),
    fix="put the value into quotes",
)
TYPE = rule(
    "ADF938",
    "frontmatter-type",
    Severity.ERROR,
    what="A page says its type in a word.",
    why="Pages are found and kept up by their type.",
    source=("MEM-130", "MEM-132"),
    since=28,
    fires=page("---\ntype: yes\nsources: [https://example.org]\n---\n# Beds\n"),
    silent=page(lesson(kind="lesson")),
)
ONE_OFF = rule(
    "ADF939",
    "type-oneoff",
    Severity.INFO,
    what="A type of our own is used on more than one page.",
    why="One page of its kind is found under no kind.",
    source=("MEM-130",),
    since=28,
    fires=page(lesson(kind="plant")),
    silent=page(lesson(kind="lesson")),
)
STALE = rule(
    "ADF940",
    "stale-page",
    Severity.WARNING,
    what="A page is checked again when its `stale_after` has passed.",
    why="What stands there was true once, and is used as if it were.",
    source=("MEM-130",),
    since=28,
    fires=page(lesson("stale_after: 2025-01-01\nsources: [https://example.org]")),
    silent=page(lesson("stale_after: 9999-01-01\nsources: [https://example.org]")),
    fix="check it against its sources, and set a new date",
)
STALE_FORM = rule(
    "ADF941",
    "stale-format",
    Severity.ERROR,
    what="`stale_after` is a date of the calendar, as 2026-12-01.",
    why="A date that cannot be read never comes.",
    source=("MEM-132",),
    since=28,
    fires=page(lesson("stale_after: soon\nsources: [https://example.org]")),
    silent=page(lesson('stale_after: "9999-12-01"\nsources: [https://example.org]')),
)
SOURCES = rule(
    "ADF942",
    "source-form",
    Severity.WARNING,
    what="`sources` is a list of adf-audit://seq/N, adf-file:// or http(s) addresses.",
    why="A source in another form cannot be followed.",
    source=("MEM-130",),
    since=28,
    fires=page(lesson("sources: [S391]")),
    silent=page(lesson("sources:\n  - adf-audit://seq/7")),
)
UNSOURCED = rule(
    "ADF943",
    "no-sources",
    Severity.INFO,
    what="A lesson, decision or reference says where it comes from.",
    why="Nobody can check it later.",
    source=("MEM-130",),
    since=28,
    fires=page(lesson("")),
    silent=page(lesson("", kind="project")),
)
SLUG = rule(
    "ADF946",
    "slug",
    Severity.WARNING,
    what="The name of a page is lower-case words and digits joined by hyphens, directly in mind/.",
    why="Links are compared letter by letter; other names are mistyped.",
    source=("MEM-134",),
    since=28,
    fires=page(lesson(), "Raised_Beds"),
    silent=page(lesson(), "raised-beds-2"),
)
LONG = rule(
    "ADF947",
    "page-long",
    Severity.WARNING,
    what=f"A page has at most {LINES} lines.",
    why="Of a longer one the agent is shown the beginning.",
    source=("MEM-135",),
    since=28,
    fires=page(lesson(body="\n".join(f"line {number}" for number in range(320)))),
    silent=page(lesson(body="\n".join(f"line {number}" for number in range(180)))),
    fix="split it by topic",
)
RULES = (MISSING, YAML, TYPE, ONE_OFF, STALE, STALE_FORM, SOURCES, UNSOURCED, SLUG, LONG)
_WITH_SOURCES = ("lesson", "decision", "reference")


def check(page_: Document, today: date) -> str | None:
    """Look at one page; returns its type."""
    slug = page_.path.removeprefix("mind/").removesuffix(".md")
    if not _SLUG.fullmatch(slug) or len(slug) > 64:
        page_.report(SLUG, f"{slug[:80]!a} is no slug")
    if page_.count > LINES:
        page_.report(LONG, f"{page_.count:,} lines")
    block = frontmatter.split(page_.text)
    if block is None:
        page_.report(MISSING, "it begins without `---`", 1)
        return None
    front = frontmatter.parse(block)
    if front.error is not None:
        page_.report(YAML, f"the frontmatter cannot be read: {front.error}", front.error_line)
        return None
    page_.facts["frontmatter"] = front
    _check_stale(page_, front, today)
    _check_sources(page_, front)
    kind = front.values.get("type")
    if not isinstance(kind, str) or not kind.strip():
        page_.report(TYPE, "there is no type" if kind is None else "its type is no word", front.lines.get("type", 1))
        return None
    return kind


def _check_stale(page_: Document, front: Frontmatter, today: date) -> None:
    value = front.values.get("stale_after")
    if value is None:
        return
    line = front.lines.get("stale_after")
    day = value.date() if isinstance(value, datetime) else value
    if isinstance(day, str) and _DAY.fullmatch(day.strip()):
        try:
            day = date.fromisoformat(day.strip())
        except ValueError:
            day = None
    if not isinstance(day, date):
        page_.report(STALE_FORM, f"{str(value)[:40]!a} is no date", line)
    elif day < today:
        page_.report(STALE, f"stale since {day.isoformat()}", line)


def _check_sources(page_: Document, front: Frontmatter) -> None:
    value, line = front.values.get("sources"), front.lines.get("sources")
    if value is None:
        if front.values.get("type") in _WITH_SOURCES:
            page_.report(UNSOURCED, "it names no sources")
    elif not isinstance(value, list):
        page_.report(SOURCES, "sources is no list", line)
    else:
        for one in value:
            if not isinstance(one, str) or not _SOURCE.fullmatch(one):
                page_.report(SOURCES, f"{str(one)[:60]!a} is none of the forms of a source", line)


def check_types(pages: list[Document], kinds: list[str | None]) -> None:
    """Look for types that only one page has."""
    count = Counter(kind for kind in kinds if kind)
    for page_, kind in zip(pages, kinds, strict=True):
        if kind and kind not in CORE and count[kind] == 1:
            page_.report(ONE_OFF, f"{kind[:40]!a} is on this page only")

"""From an open file to pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TextIO

import apsw

from adf_format.config.fresh import icon
from adf_format.container import Container
from adf_format.errors import AdfError
from adf_format.history import Coverage, SeqSet, coverage
from adf_format.history.coverage import LoopCoverage
from adf_format.history.loops import names
from adf_format.history.model import MAIN
from adf_format.history.snapshots import file_of
from adf_format.history.survey import Survey
from adf_format.inspection.file import File
from adf_format.validation.report import FileReport
from adf_format.view import files, page
from adf_format.view.context import Agent, View
from adf_format.view.html import Sink
from adf_format.view.index import Index, index
from adf_format.view.links import Targets, short_hash
from adf_format.view.options import Options
from adf_format.view.roster import order
from adf_format.view.story import Story

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}\Z")
INDEX = "index.html"


def prepare(container: Container, options: Options, report: FileReport) -> tuple[View, dict[str, Story]]:
    """Read what has to be known before the first line can be written: every row once.

    :raises LimitError: the deadline has passed, or something does not fit into bounded memory
    """
    file = file_of(container)
    agent = who(file)
    known = _known(container)
    loops = [name for name in order(agent.config, list(known.loops)) if not options.loops or name in options.loops]
    stories = {name: Story(container, known, name) for name in loops}
    found = index(container, known, stories, options)
    view = View(container, file, options, agent, known, found, loops, report)
    view.targets = Targets(_single(found), files.paths(view))
    return view, stories


def _single(found: Index) -> dict[str, SeqSet]:
    union = SeqSet()
    for loop in found.loops.values():
        for seqs in loop.pages:
            union = union | seqs
    return {"": union}


def write_page(view: View, stories: dict[str, Story], sink: Sink) -> None:
    """Write everything as one page."""
    page.whole(view, stories, sink)


def write_folder(view: View, stories: dict[str, Story], folder: Path) -> int:
    """Write a folder with one page per part of a transcript, and `index.html`; return how many pages there are."""
    view.page_names = {name: _page_names(name, max(1, len(view.index.loops[name].pages))) for name in view.loops}
    pages = {
        name: seqs
        for loop in view.loops
        for name, seqs in zip(view.page_names[loop], view.index.loops[loop].pages or [SeqSet()], strict=True)
    }
    shown = view.targets.files
    view.targets = Targets(pages, shown, "", INDEX)
    with _opened(folder / INDEX) as sink:
        page.index(view, sink)
    for loop in view.loops:
        if not view.index.loops[loop].pages:
            view.index.loops[loop].pages = [SeqSet()]
        for number, name in enumerate(view.page_names[loop]):
            view.targets = Targets(pages, shown, INDEX, name)
            with _opened(folder / name) as sink:
                page.chunk(view, stories[loop], number, sink)
    return 1 + len(pages)


def _opened(path: Path) -> TextIO:
    return path.open("w", encoding="utf-8", newline="\n")


def _page_names(loop: str, count: int) -> list[str]:
    base = f"loop-{loop}" if _PLAIN.match(loop) else f"loop--{short_hash(loop)}"
    return [f"{base}-{number}.html" for number in range(1, count + 1)]


def _known(container: Container) -> Coverage:
    """Return where every row is; of a damaged archive, only which loops there are."""
    try:
        return coverage(container)
    except apsw.Error:
        found = Coverage(0, None, Survey(), {})
        try:
            loops = names(container)
        except apsw.Error:
            loops = [MAIN]
        found.loops = {name: LoopCoverage(name) for name in dict.fromkeys([MAIN, *loops])}
        return found


def who(file: File) -> Agent:
    """Return who a file is about, whatever can be read of it."""
    config, trouble = {}, None
    try:
        config = file.config
    except (AdfError, apsw.Error, UnicodeDecodeError) as error:
        trouble = error.message if isinstance(error, AdfError) else str(error)
    name = _text(config.get("name")) or _meta(file, "adf_name") or "An agent without a name"
    handle = _text(config.get("handle")) or _meta(file, "adf_handle") or ""
    number = _text(config.get("id"))
    picked = _text(config.get("icon")) or (icon(number) if number else "🤖")
    return Agent(name[:120], handle[:80], picked[:4], config, trouble)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _meta(file: File, key: str) -> str | None:
    try:
        return file.meta_text(key)
    except (AdfError, apsw.Error, UnicodeDecodeError):
        return None

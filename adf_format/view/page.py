"""A page as a whole: navigation, overview, transcripts, everything else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adf_format.history import SeqSet
from adf_format.view import files, frame, gauge, logs, memory, messages, overview, roster, schedule, settings
from adf_format.view.colors import identity
from adf_format.view.context import View
from adf_format.view.guard import guarded
from adf_format.view.html import Child, Page, Safe, Sink, el, html
from adf_format.view.links import beside, here, loop_id
from adf_format.view.pieces import icon, notice, shape
from adf_format.view.story import Story
from adf_format.view.transcript import Transcript
from adf_format.view.words import counted
from adf_format.view.woven import Woven

SECTIONS = (
    ("memory", "Memory"),
    ("files", "Files"),
    ("messages", "Messages"),
    ("config", "Configuration"),
    ("log", "Log"),
)
KINDS = (
    ("owner", "Owner"),
    ("agent", "Agent"),
    ("delivery", "Between loops"),
    ("context", "Context"),
    ("trigger", "Triggers"),
    ("summary", "Compactions"),
    ("task", "Tasks"),
    ("system", "Notices and log"),
)


def whole(view: View, stories: dict[str, Story], sink: Sink) -> None:
    """Write everything as one page."""
    page = Page(sink)
    with _body(view, page, view.agent.name, _nav(view)):
        overview.write(view, page)
        with page.inside("section", class_="view", id="transcripts", aria_labelledby="h-transcripts"):
            page.write(el("h2", "Transcripts", id="h-transcripts"), _tabs(view), _tools(view))
            for name in view.loops:
                wanted = view.index.loops[name].pages[0] if view.index.loops[name].pages else SeqSet()
                _loop(view, page, stories[name], wanted, _left_out(view, name))
        _sections(view, page)


def index(view: View, sink: Sink) -> None:
    """Write the first page of a folder: everything but transcripts."""
    page = Page(sink)
    with _body(view, page, view.agent.name, _nav(view)):
        overview.write(view, page)
        _sections(view, page)


def chunk(view: View, story: Story, number: int, sink: Sink) -> None:
    """Write one page of a transcript."""
    page, names = Page(sink), view.page_names[story.loop]
    title = f"{view.agent.name}: {story.loop}, page {number + 1} of {len(names)}"
    steps = _steps(names, number)
    with _body(view, page, title, _nav(view, story.loop)):  # noqa: SIM117
        with page.inside("section", class_="view", id="transcripts", aria_labelledby="h-transcripts"):
            page.write(el("h1", title, id="h-transcripts", class_="title"), steps, _tools(view))
            last = number == len(names) - 1
            left = _left_out(view, story.loop)
            words = (left[0] if number == 0 else None, left[1] if last else None)
            _loop(view, page, story, view.index.loops[story.loop].pages[number], words, ends=(number == 0, last))
            page.write(steps)


class _body:  # noqa: N801
    """Begin and end a page."""

    def __init__(self, view: View, page: Page, title: str, nav: Safe) -> None:
        self._page, self._nav, self._title, self._view = page, nav, title, view

    def __enter__(self) -> None:
        agent = self._view.agent
        who = html(el("span", agent.icon, class_="avatar small", aria_hidden="true"), el("span", agent.name))
        home = beside("index.html") if self._view.targets.index else here("overview")
        theme = el(
            "button",
            icon("theme"),
            el("span", "Theme", class_="sr"),
            type="button",
            id="theme",
            class_="js-only",
            title="Light or dark",
        )
        self._page.write(
            frame.head(self._title),
            Safe("<body>"),
            frame.symbols(),
            el("a", "Skip to the content", href=here("main"), class_="skip"),
            el("header", el("a", who, href=home, class_="brand"), self._nav, theme, class_="top"),
            Safe('<main id="main" tabindex="-1">\n'),
        )

    def __exit__(self, *_: object) -> None:
        source = (
            f"Made from {self._view.options.title} by adf-format view; nothing in this page is loaded from elsewhere."
        )
        self._page.write(
            Safe("</main>\n"), el("footer", source, class_="colophon"), frame.script(), Safe("</body></html>\n")
        )


def _nav(view: View, loop: str | None = None) -> Safe:
    at = view.targets.index
    links: list[Child] = [_nav_link("Overview", "overview", at)]
    if view.page_names:
        links += [
            el(
                "a",
                shape(identity(name).shape),
                name,
                href=beside(pages[0]),
                class_=f"who {identity(name).css}",
                aria_current="page" if name == loop else None,
            )
            for name, pages in view.page_names.items()
        ]
    else:
        links.append(_nav_link("Transcripts", "transcripts", at))
    links += [_nav_link(words, anchor, at) for anchor, words in SECTIONS]
    return el("nav", el("ul", [el("li", link) for link in links]), aria_label="Sections", class_="main-nav")


def _nav_link(words: str, anchor: str, page: str) -> Safe:
    return el("a", words, href=here(anchor, page))


def _tab_class(view: View, name: str) -> str:
    ended = " ended" if roster.state_of(view, name) == "deleted" else ""
    return f"tab {identity(name).css}{ended}"


def _tabs(view: View) -> Safe:
    tabs = [
        el(
            "a",
            shape(identity(name).shape),
            el("span", name[:40]),
            el("span", f"{view.index.loops[name].rows:,}", class_="count"),
            href=here(loop_id(name)),
            class_=_tab_class(view, name),
            id=f"tab-{loop_id(name)}",
        )
        for name in view.loops
    ]
    return el("div", tabs, class_="tabs") if len(tabs) > 1 else Safe("")


def _tools(view: View) -> Safe:
    """Return the bar with search and filters, which needs the script."""
    kinds = [el("option", "Everybody", value=""), [el("option", words, value=kind) for kind, words in KINDS]]
    names = [el("option", "All tools", value=""), [el("option", name, value=name) for name in sorted(view.index.tools)]]
    search = el(
        "label",
        icon("search"),
        el("span", "Search", class_="sr"),
        el("input", type="search", id="q", placeholder="Search", autocomplete="off", spellcheck="false"),
        class_="find",
    )
    roles = el("label", el("span", "Who", class_="sr"), el("select", kinds, id="f-kind"))
    tools = el("label", el("span", "Tool", class_="sr"), el("select", names, id="f-tool"))
    failed = el("label", el("input", type="checkbox", id="f-failed"), " Errors", class_="check")
    jump = el(
        "label",
        el("span", "Go to row", class_="sr"),
        el("input", type="text", id="jump", placeholder="S…", inputmode="numeric", size=6, autocomplete="off"),
    )
    unfold = el("button", "Unfold all", type="button", id="unfold")
    found = el("output", id="found", aria_live="polite")
    return el(
        "form",
        search,
        roles,
        tools,
        failed,
        jump,
        unfold,
        found,
        class_="tools js-only",
        role="search",
        aria_label="Search in the transcripts",
    )


def _loop(
    view: View,
    page: Page,
    story: Story,
    wanted: SeqSet,
    left: tuple[Safe | None, Safe | None],
    ends: tuple[bool, bool] = (True, True),
) -> None:
    name = story.loop
    look, anchor = identity(name), loop_id(name)
    with page.inside("section", class_=f"loop-view {look.css}", id=anchor, aria_labelledby=f"h-{anchor}"):
        page.write(_loop_head(view, name, f"h-{anchor}"), left[0])
        threads = [*schedule_threads(view, name)] if all(ends) else []
        transcript = Transcript(view, story, wanted, Woven(threads))
        guarded(page, lambda: transcript.write(page, gaps=ends[0] or all(ends)))
        if not view.index.loops[name].rows:
            page.write(notice("Nothing was said in this loop yet."))
        page.write(left[1])


def schedule_threads(view: View, loop: str) -> list[Any]:
    """Return what is woven into the transcript of a loop."""
    found = []
    if view.file.has("adf_tasks"):
        found += schedule.threads(view, loop)
    return found + logs.threads(view, loop)


def _loop_head(view: View, name: str, anchor: str) -> Safe:
    look, state = identity(name), roster.state_of(view, name)
    title = el(
        "h3", shape(look.shape), name, el("span", state, class_=f"tag state-{state.replace(' ', '-')}"), id=anchor
    )
    goal = roster.goal(view, name) if name != "main" else None
    return el(
        "div",
        title,
        el("p", goal, class_="goal", dir="auto") if goal else None,
        gauge.gauge(view, name),
        class_="loop-head",
    )


def _left_out(view: View, name: str) -> tuple[Safe | None, Safe | None]:
    found = view.index.loops[name]
    earlier = later = None
    if found.earlier:
        words = counted(found.earlier, "earlier entry is", "earlier entries are")
        earlier = notice(icon("gap"), f"{words} not included.", class_="left")
    if found.later:
        later = notice(
            icon("gap"), f"{counted(found.later, 'later entry is', 'later entries are')} not included.", class_="left"
        )
    if found.trouble:
        later = html(
            later, notice(icon("alert"), f"The rows could not be read to their end: {found.trouble}", class_="problem")
        )
    return earlier, later


def _steps(names: list[str], number: int) -> Safe:
    before = el("a", "← Earlier", href=beside(names[number - 1]), rel="prev") if number else el("span", "The beginning")
    after = (
        el("a", "Later →", href=beside(names[number + 1]), rel="next")
        if number + 1 < len(names)
        else el("span", "The end")
    )
    return el(
        "nav",
        before,
        el("span", f"{number + 1} / {len(names)}"),
        after,
        class_="steps",
        aria_label="Pages of this loop",
    )


def _sections(view: View, page: Page) -> None:
    made: dict[str, Callable[[], None]] = {
        "memory": lambda: page.write(memory.section(view)),
        "files": lambda: files.section(view, page),
        "messages": lambda: page.write(messages.section(view)),
        "config": lambda: page.write(settings.section(view)),
        "log": lambda: page.write(logs.section(view)),
    }
    for anchor, words in SECTIONS:
        with page.inside("section", class_="view", id=anchor, aria_labelledby=f"h-{anchor}"):
            page.write(el("h2", words, id=f"h-{anchor}"))
            guarded(page, made[anchor])

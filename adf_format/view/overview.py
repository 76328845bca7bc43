"""The first thing to see: who the agent is, what it did, its loops, what was compacted away, what it remembers."""

from __future__ import annotations

from typing import Any

from adf_format.inspection import contents
from adf_format.view import chart, findings, memory, roster, schedule
from adf_format.view.colors import identity
from adf_format.view.context import View
from adf_format.view.guard import guarded
from adf_format.view.html import Child, Page, Safe, el, html
from adf_format.view.links import here, loop_id
from adf_format.view.pieces import details, first_line, icon, notice, shape
from adf_format.view.transcript import reasons
from adf_format.view.words import counted, duration, moment, short, size

TOOLS = 12


def write(view: View, page: Page) -> None:
    """Write the overview."""
    with page.inside("section", class_="view", id="overview", aria_labelledby="name"):
        page.write(_hero(view), _in_short(view), _tiles(view))
        _part(page, "Token use", lambda: chart.tokens(view) or notice("The rows record no token use."))
        with page.inside("div", class_="two"):
            _part(page, "What it used", lambda: _tools(view))
            _part(page, "Where its past is", lambda: chart.strips(view) or notice("There are no rows yet."))
        _part(page, "Loops", lambda: roster.cards(view))
        _part(page, "Timers", lambda: schedule.timers(view))
        _part(page, "Tasks and approvals", lambda: schedule.task_list(view), "tasks")
        _part(page, "What the validator says", lambda: findings.section(view), "findings")
        _part(page, "The file", lambda: _file(view))


def _part(page: Page, title: str, make: Any, anchor: str | None = None) -> None:
    with page.inside("section", class_="part", id=anchor):
        page.write(el("h3", title))
        guarded(page, lambda: page.write(make()))


def _hero(view: View) -> Safe:
    agent, config = view.agent, view.agent.config
    facts = _facts(view)
    state = facts.get("state")
    model = " / ".join(part for part in (facts.get("provider"), facts.get("model")) if part)
    chips = [
        el("span", state, class_="pill state") if state else None,
        el("span", "autonomous", class_="pill") if facts.get("autonomous") else None,
        el("span", model, class_="pill") if model else None,
        el("span", f"storage version {_version(view)}", class_="pill"),
    ]
    about = config.get("description")
    words = el("p", first_line(about, 400), class_="about", dir="auto") if isinstance(about, str) and about else None
    handle = el("span", f"@{agent.handle}", class_="handle") if agent.handle else None
    title = el("h1", agent.name, " ", handle, id="name")
    return el(
        "div",
        el("div", agent.icon, class_="avatar", aria_hidden="true"),
        el("div", title, words, el("p", chips, class_="pills")),
        class_="hero",
    )


def _version(view: View) -> str:
    return "unknown" if view.file.version is None else str(view.file.version)


def _facts(view: View) -> dict[str, Any]:
    return contents.agent(view.file) if view.agent.trouble is None and view.agent.config else {}


def _in_short(view: View) -> Safe:
    lines = [_life(view), _loops(view), _past(view), _remembers(view), _waits(view), _verdict(view)]
    return el("ul", [el("li", icon(name), el("span", words)) for name, words in filter(None, lines)], class_="short")


Line = tuple[str, Child] | None


def _life(view: View) -> Line:
    first, last = view.index.times()
    counts = view.index.counts
    if not counts:
        return "clock", "It has not said or heard anything yet."
    said = [
        counted(counts["owner"], "message"),
        " from its owner, ",
        counted(counts["agent"], "reply", "replies"),
        " and ",
    ]
    said.append(counted(counts["calls"], "tool call"))
    failed = f" ({counts['errors']:,} failed)" if counts["errors"] else ""
    span = f", from {moment(first)} to {moment(last)}" if first is not None and last is not None else ""
    lived = f", {duration(last - first)}" if first is not None and last is not None and last > first else ""
    return "clock", html(said, f"{failed}{span}{lived}.")


def _loops(view: View) -> Line:
    links = [
        el(
            "a",
            shape(identity(name).shape),
            name,
            href=here(loop_id(name)) if not view.page_names else here("overview"),
            class_=f"who {identity(name).css}",
        )
        for name in view.loops
    ]
    inner = len(links) - 1
    words = "One loop: " if not inner else f"main and {counted(inner, 'inner loop')}: "
    return "loops", html(words, [html(link, " ") for link in links])


def _past(view: View) -> Line:
    known = view.known
    kept = sum((one.archived - one.live).count() for one in known.loops.values())
    gone = sum(gap.count for gap in known.gone)
    parts: list[Child] = []
    if known.summaries:
        parts.append("Compacted once. " if len(known.summaries) == 1 else f"Compacted {len(known.summaries):,} times. ")
    parts.append(
        f"{counted(kept, 'row')} {'is' if kept == 1 else 'are'} no longer in the transcript and kept in the archive"
        if kept
        else "Nothing is in the archive"
    )
    parts.append(
        f"; {counted(gone, 'row')} gone ({reasons(known.gone)})." if gone else "; nothing is lost." if kept else "."
    )
    damaged = len(known.survey.damaged())
    if damaged:
        parts.append(el("strong", f" {counted(damaged, 'snapshot')} damaged."))
    return "fold", html(parts)


def _remembers(view: View) -> Line:
    facts = contents.memory(view.file) if view.file.has("adf_files", "path", "content") else None
    if facts is None:
        return None
    pages = len(memory.page_paths(view))
    index = (
        "no mind.md"
        if facts["mind"] is None
        else "an empty mind.md"
        if not facts["mind"]
        else f"mind.md ({size(facts['mind'])})"
    )
    words = f"It remembers in {index}" if facts["mind"] else f"It has {index}"
    return "page", html(
        words,
        f" and {counted(pages, 'page')}" if pages else "",
        ". ",
        el("a", "Look into its memory", href=here("memory")),
    )


def _waits(view: View) -> Line:
    parts: list[Child] = []
    if view.file.has("adf_tasks", "status"):
        waiting = contents.tasks(view.file).get("pending_approval", 0)
        parts += (
            [
                html(
                    el("a", counted(waiting, "task"), href=here("tasks")),
                    f" {'waits' if waiting == 1 else 'wait'} for approval",
                )
            ]
            if waiting
            else []
        )
    for box, status, words in (("inbox", "unread", "unread in the inbox"), ("outbox", "pending", "not yet sent")):
        if view.file.has(f"adf_{box}", "status"):
            count = view.file.counts(f"adf_{box}", "status").get(status, 0)
            parts += [html(el("a", counted(count, "message"), href=here("messages")), f" {words}")] if count else []
    if not parts:
        return None
    return "hand", html([html(", " if at else "", part) for at, part in enumerate(parts)], ".")


def _verdict(view: View) -> Line:
    return ("check" if view.report.valid else "alert"), html(
        "The file is ", el("a", findings.verdict(view), href=here("findings")), "."
    )


def _tiles(view: View) -> Safe:
    counts, usage = view.index.counts, view.index.usage
    live = sum(one.live.count() for one in view.known.loops.values())
    kept = sum((one.archived - one.live).count() for one in view.known.loops.values())
    found = [
        ("Rows", short(live + kept), f"{live:,} live, {kept:,} archived"),
        (
            "Model calls",
            short(usage.calls),
            f"{counted(counts['thoughts'], 'thought')} recorded" if counts["thoughts"] else "with recorded use",
        ),
        (
            "Tokens",
            short(usage.totals["input"] + usage.totals["output"]),
            f"{short(usage.totals['input'])} in, {short(usage.totals['output'])} out",
        ),
        ("Tool calls", short(counts["calls"]), f"{counts['errors']:,} failed" if counts["errors"] else "none failed"),
    ]
    if usage.cost:
        found.append(("Cost", f"${usage.cost:,.2f}", "as recorded in the rows"))
    tiles = [el("div", el("dt", name), el("dd", el("b", value), el("span", more))) for name, value, more in found]
    return el("dl", tiles, class_="tiles")


def _tools(view: View) -> Safe:
    tools = view.index.tools.most_common(TOOLS)
    if not tools:
        return notice("No tool was called.")
    top = tools[0][1]
    rows = [
        _tool(name, count, view.index.failed[name], top)
        for name, count in sorted(tools, key=lambda one: (-one[1], one[0]))
    ]
    more = len(view.index.tools) - len(tools)
    return html(
        el("ul", rows, class_="bars"),
        el("p", f"and {counted(more, 'more tool')}", class_="numbers") if more > 0 else None,
    )


def _tool(name: str, count: int, failed: int, top: int) -> Safe:
    bars = [
        el("rect", x=0, y=0, width=count, height=1, class_="ok"),
        el("rect", x=count - failed, y=0, width=failed, height=1, class_="bad") if failed else None,
    ]
    drawn = el("svg", bars, viewBox=f"0 0 {top} 1", preserveAspectRatio="none", aria_hidden="true", class_="bar")
    words = el(
        "span", f"{count:,}", el("span", f" ({failed:,} failed)", class_="bad") if failed else None, class_="value"
    )
    return el("li", el("code", name), drawn, words)


def _file(view: View) -> Safe:
    source = view.container.source
    identity_facts = contents.identity(view.file) if view.file.has("adf_meta", "key", "value") else {}
    names = {
        "did": "DID",
        "owner_did": "Owner",
        "runtime_did": "Runtime",
        "parent_did": "Parent",
        "created_at": "Created",
        "updated_at": "Updated",
    }
    names |= {"clean_close": "Closed", "status": "Status"}
    rows = [(words, identity_facts[key]) for key, words in names.items() if identity_facts.get(key)]
    keys = identity_facts.get("keys") or []
    rows += (
        [("Keys", f"{counted(len(keys), 'purpose')}: {', '.join(keys)}; their values are not shown")] if keys else []
    )
    how = (
        "read in place"
        if source.mode == "immutable"
        else f"read from a private copy with {counted(source.wal_frames, 'frame')} of the log"
    )
    rows.append(
        ("File", f"{size(source.size)}, {source.page_count:,} pages, journal mode {source.journal_mode}; {how}")
    )
    listed = el("dl", [html(el("dt", words), el("dd", value, dir="auto")) for words, value in rows], class_="pairs")
    tables = [
        (name, "unreadable" if count is None else f"{count:,}") for name, count in contents.tables(view.file).items()
    ]
    rows_of = el("dl", [html(el("dt", name), el("dd", count)) for name, count in tables], class_="pairs")
    return html(listed, details("Rows of every table", rows_of, class_="quiet"))

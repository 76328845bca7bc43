"""Token use over time, and where the rows of each loop are, as drawings that also say in words what they show."""

from __future__ import annotations

from collections.abc import Iterator

from adf_format.history import Coverage, SeqSet
from adf_format.view.colors import identity
from adf_format.view.context import View
from adf_format.view.html import Safe, el
from adf_format.view.index import Usage, spans
from adf_format.view.words import counted, duration, interval, moment, short, utc

HEIGHT = 100
COLUMNS = 240  # of a strip
_LEAST = 1.5  # units, so that a bar can be seen


def tokens(view: View) -> Safe | None:
    """Return the chart of token use, None if the file records none."""
    usage = view.index.usage
    points = list(spans(usage))
    if not points or not any(values[0] or values[1] for _, values in points):
        return None
    top = max(values[0] + values[1] for _, values in points)
    bars = [_bar(at, start, values, top, usage.width) for at, (start, values) in enumerate(points)]
    marks = [_mark(when, points[0][0], usage.width) for when in view.index.compactions]
    width = len(points)
    drawing = el(
        "svg",
        _lines(width),
        bars,
        marks,
        viewBox=f"0 0 {width} {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=_told(usage, len(view.index.compactions)),
    )
    scale = el(
        "div", el("span", short(top)), el("span", short(top // 2)), el("span", "0"), class_="ys", aria_hidden="true"
    )
    first, last = points[0][0], points[-1][0] + usage.width
    days = _pattern(last - first)
    times = [found.strftime(days) if (found := utc(when)) else "" for when in (first, (first + last) // 2, last)]
    axis = el("div", [el("span", one) for one in times], class_="xs", aria_hidden="true")
    keys = [("in", "tokens in"), ("out", "tokens out")] + ([("cut", "compaction")] if marks else [])
    legend = el("div", [el("span", el("i", class_=f"key {css}"), words) for css, words in keys], class_="legend")
    caption = el("figcaption", f"From {moment(first)} on; each bar is {duration(usage.width)}.", legend)
    return el(
        "figure", el("div", scale, el("div", drawing, class_="plot"), axis, class_="graph"), caption, class_="chart"
    )


def _pattern(span: int) -> str:
    if span < 600_000:
        return "%H:%M:%S"
    return "%Y-%m-%d %H:%M" if span < 40 * 86_400_000 else "%Y-%m-%d"


def _told(usage: Usage, compactions: int) -> str:
    words = f"{counted(usage.calls, 'model call')}, {usage.totals['input']:,} tokens in, {usage.totals['output']:,} out"
    return f"Token use over time: {words}, {counted(compactions, 'compaction')}"


def _bar(at: int, start: int, values: list[int], top: int, width: int) -> Safe | None:
    came, went, calls = values
    if not came and not went:
        return None
    low, high = (max(_LEAST if value else 0, value * (HEIGHT - 4) / top) for value in (went, came))
    title = f"{moment(start, seconds=width < 60_000)}: {came:,} in, {went:,} out, {counted(calls, 'call')}"
    parts = []
    for css, size, base in (("out", low, HEIGHT), ("in", high, HEIGHT - low)):
        if size:
            parts.append(
                el("rect", x=f"{at + 0.1:.1f}", y=f"{base - size:.2f}", width="0.8", height=f"{size:.2f}", class_=css)
            )
    return el("g", el("title", title), parts)


def _mark(when: int, first: int, width: int) -> Safe:
    at = f"{(when - first) / width:.2f}"
    return el("path", d=f"M{at} 0V{HEIGHT}", class_="cut")


def _lines(width: int) -> Safe:
    return el("path", d="".join(f"M0 {y}H{width}" for y in (4, 52)), class_="grid")


def strips(view: View) -> Safe | None:
    """Return one strip per loop: which of all seqs are live, archived and gone."""
    known = view.known
    if known.highest <= 0:
        return None
    rows = [_strip(view, name) for name in view.loops if name in known.loops and _has_rows(known, name)]
    gone = SeqSet((gap.start, gap.end) for gap in known.gone)
    if gone:
        label = el("span", "nowhere", class_="label")
        words = el("span", f"{counted(gone.count(), 'row')} gone", class_="value")
        rows.append(el("li", label, _drawing(known.highest, [("gone", gone)], "rows that are gone"), words))
    ends = el("div", el("span", "S1"), el("span", f"S{known.highest}"), class_="xs", aria_hidden="true")
    names = (("live", "live"), ("kept", "archived"), ("gone", "gone"))
    legend = el("div", [el("span", el("i", class_=f"key {css}"), words) for css, words in names], class_="legend")
    return el("figure", el("ul", rows, class_="strips"), ends, el("figcaption", legend), class_="coverage")


def _has_rows(known: Coverage, name: str) -> bool:
    return bool(known.loops[name].live or known.loops[name].archived)


def _strip(view: View, name: str) -> Safe:
    one, look = view.known.loops[name], identity(name)
    kept = one.archived - one.live
    words = f"{one.live.count():,} live" + (f", {kept.count():,} archived" if kept else "")
    told = f"{name}: {words} of the rows up to S{view.known.highest}"
    drawn = _drawing(view.known.highest, [("kept", kept), ("live", one.live)], told)
    return el(
        "li", el("span", name, class_=f"label {look.css}"), drawn, el("span", words, class_="value"), class_=look.css
    )


def _drawing(highest: int, layers: list[tuple[str, SeqSet]], told: str) -> Safe:
    """Draw sets of seqs; more than a few intervals are drawn as columns."""
    heights = {"live": (0, 10), "kept": (4, 6), "gone": (7, 3)}
    parts = []
    for css, seqs in layers:
        top, height = heights[css]
        for start, end in _intervals(seqs, highest):
            title = el("title", f"{interval(start, end)}: {'archived' if css == 'kept' else css}")
            parts.append(
                el("g", title, el("rect", x=start - 1, y=top, width=end - start + 1, height=height, class_=css))
            )
    return el(
        "svg",
        parts,
        viewBox=f"0 0 {highest} 10",
        preserveAspectRatio="none",
        role="img",
        aria_label=told,
        class_="strip",
    )


def _intervals(seqs: SeqSet, highest: int) -> Iterator[tuple[int, int]]:
    """Yield the intervals of a set from 1 on; where there are many, those that touch the same column as one."""
    found = seqs.within(1, highest)
    if len(found) <= COLUMNS:
        yield from found
        return
    step = highest / COLUMNS
    columns = SeqSet((int((start - 1) / step), int((end - 1) / step)) for start, end in found)
    for start, end in columns:
        yield int(start * step) + 1, min(highest, int((end + 1) * step))

"""The story of a case as SVG: a row per step, a lane per loop, model calls as intervals while they are open."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from adf_conformance.report.words import Told

ROW, LANE, LEFT, WIDTH = 18, 70, 430, 62
SHOWN = 120  # steps


def svg(timeline: list[Told]) -> str:
    """Return the picture."""
    steps = timeline[-SHOWN:]
    lanes = list(dict.fromkeys(loop for step in steps for loop in step["loops"]))
    width, height = LEFT + max(len(lanes), 1) * LANE + 10, (len(steps) + 1) * ROW + 8
    body = "\n".join([*_lanes(lanes, height), *_steps(steps), *_intervals(steps, lanes)])
    return f'<svg role="img" width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n{body}\n</svg>'


def _lanes(lanes: list[str], height: int) -> Iterator[str]:
    for number, loop in enumerate(lanes):
        middle = LEFT + number * LANE + LANE // 2
        yield f'<text x="{middle}" y="12" text-anchor="middle">{escape(loop[:10])}</text>'
        yield f'<line x1="{middle}" y1="18" x2="{middle}" y2="{height}" stroke="#8884"/>'


def _steps(steps: list[Told]) -> Iterator[str]:
    for number, step in enumerate(steps):
        y = (number + 1) * ROW + 12
        colour = ' fill="#c62828"' if step.get("note") or step["do"] == "kill" else ""
        text = f"{step['step']} {step['do']} {step['says']}"
        title = escape(step.get("note") or step["says"])
        yield f'<text x="4" y="{y}"{colour}><title>{title}</title>{escape(text[:WIDTH])}</text>'


def _intervals(steps: list[Told], lanes: list[str]) -> Iterator[str]:
    """Yield a bar for each model call, from the step after which it was open to the last one at which it still was."""
    spans: dict[tuple[str, str], list[int]] = {}
    for number, step in enumerate(steps):
        for label, loop in zip(step["open"], step["loops"], strict=True):
            spans.setdefault((label, loop), []).append(number)
    for (label, loop), rows in spans.items():
        x = LEFT + lanes.index(loop) * LANE + LANE // 2 - 8
        y, height = (rows[0] + 1) * ROW, (rows[-1] - rows[0] + 1) * ROW
        name = escape(f"model call {label} of {loop}")
        yield f'<rect x="{x}" y="{y}" width="16" height="{height}" rx="4" fill="#1565c0"><title>{name}</title></rect>'

"""Badges: an SVG of our own, and the JSON that shields.io reads."""

from __future__ import annotations

from xml.sax.saxutils import escape

from adf_conformance.report.words import Told

LABEL = "adf conformance"
_COLOURS = {0: ("#2e7d32", "brightgreen"), 1: ("#c62828", "red"), 3: ("#757575", "lightgrey")}
_CHARACTER = 6.6  # width of a character in units of the SVG
_PADDING = 12


def message(report: Told) -> str:
    """Return what the badge says: `passed / required`."""
    total = report["summary"]["total"]
    if not total["required"]:
        return "nothing tested"
    told = f"{total['passed']} / {total['required']}"
    return told if report["exit_code"] != 3 else f"{told}, inconclusive"


def shields(report: Told) -> Told:
    """Return the JSON of an endpoint badge of shields.io."""
    colour = _COLOURS[report["exit_code"]][1]
    return {"schemaVersion": 1, "label": LABEL, "message": message(report), "color": colour}


def svg(report: Told) -> str:
    """Return the badge as SVG."""
    told, colour = message(report), _COLOURS[report["exit_code"]][0]
    left, right = (round(len(text) * _CHARACTER + _PADDING) for text in (LABEL, told))
    style = 'font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" fill="#fff" text-anchor="middle"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img">'
        f"<title>{LABEL}: {escape(told)}</title>"
        f'<rect width="{left}" height="20" fill="#444"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/>'
        f'<g {style}><text x="{left / 2}" y="14">{LABEL}</text>'
        f'<text x="{left + right / 2}" y="14">{escape(told)}</text></g></svg>\n'
    )

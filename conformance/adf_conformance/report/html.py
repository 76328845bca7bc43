"""The report as one HTML page: no script, no font, nothing from the network.

What drivers and files say is hostile until proven otherwise: every text is escaped, and the page forbids everything
but its own style (Content-Security-Policy).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape

from adf_conformance.report import badge, timeline, words
from adf_conformance.report.words import Told

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = """
:root { color-scheme: light dark; --line: #8886; --good: #2e7d32; --bad: #c62828; --odd: #ef6c00; --dim: #757575 }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .2rem .6rem; vertical-align: top }
details { border-top: 1px solid var(--line); padding: .15rem 0 } summary { cursor: pointer }
code, pre { font: 13px/1.4 ui-monospace, monospace } pre { overflow-x: auto; background: #8881; padding: .6rem }
.v { display: inline-block; min-width: 8.5rem; font-weight: 600 } .pass { color: var(--good) }
.fail, .flaky, .stale-expectation, .protocol-error { color: var(--bad) }
.inconclusive, .untestable, .harness-error { color: var(--odd) } .not-claimed, .expected-fail { color: var(--dim) }
.n { color: var(--dim) } .story { margin: .4rem 0 1rem 1rem }
svg text { font: 11px ui-monospace, monospace; fill: currentColor }
"""


def page(report: Told, cases: str = "") -> str:
    """Return the page.

    :param cases: folder in which cases were saved
    """
    return "\n".join(_lines(report, cases)) + "\n"


def _lines(report: Told, cases: str) -> Iterator[str]:
    title = escape(words.conclusion(report))
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield f'<meta name="viewport" content="width=device-width"><title>{title}</title>'
    yield f"<style>{STYLE}</style></head><body>"
    yield f"<h1>{title}</h1>"
    yield f"<p>{badge.svg(report)}</p>"
    yield from _facts(report)
    if attention := words.attention(report):
        yield f"<h2>What needs attention ({len(attention)})</h2>"
        for row in attention:
            yield from _row(report, row, cases, opened=len(attention) == 1)
    for profile, counts in report["summary"]["profiles"].items():
        yield f'<h2 id="{escape(profile)}">{escape(profile)}: {escape(words.tally(counts))}</h2>'
        for row in report["requirements"]:
            if row["profile"] == profile:
                yield from _row(report, row, cases)
    yield "</body></html>"


def _facts(report: Told) -> Iterator[str]:
    driver = report["driver"]
    facts = {"Driver": driver["command"]}
    if driver.get("name"):
        facts["Implementation"] = f"{driver['name']} {driver['version']} ({driver['language']})"
        facts["Claims"] = ", ".join(driver["capabilities"])
    facts |= {"Suite": f"{report['suite']}, specification {report['spec']}", "Seed": report["seed"]}
    facts |= {"Time": f"{report['seconds']} s"}
    facts |= {"Trouble": report["trouble"]} if report["trouble"] else {}
    if report["malformed"]:
        facts["Lines that were no messages"] = "; ".join(report["malformed"][:5])
    for pattern in report["unmatched_expectations"]:
        facts["Expectation that means nothing"] = pattern
    yield "<table>"
    for name, value in facts.items():
        yield f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>"
    yield "</table>"


def _row(report: Told, row: Told, cases: str, *, opened: bool = False) -> Iterator[str]:
    count = f'<span class="n">{row["exercised"]}x</span>' if row["exercised"] else ""
    head = f'<span class="v {escape(row["verdict"])}">{escape(row["verdict"])}</span> {escape(row["id"])} {count}'
    yield f"<details{' open' if opened else ''}><summary>{head}</summary><div class=story>"
    yield f"<p>{escape(row['text'])}</p>"
    facts = f"{row['level']} · {', '.join(row['source'])} · when {row['when']}"
    facts += f" · checks {', '.join(row['checks']) or 'none'}"
    yield f'<p class="n">{escape(facts)}</p>'
    if row["note"]:
        yield f"<p>{escape(row['note'])}</p>"
    if "failure" in row:
        yield from _failure(row["failure"])
    if command := words.replay_command(report, row, cases):
        yield f"<pre>{escape(command)}</pre>"
    yield "</div></details>"


def _failure(failure: Told) -> Iterator[str]:
    again, tries = failure["reproduced"]
    yield f"<p>Happened again on {again} of {tries} fresh processes; {len(failure['case']['steps'])} steps.</p>"
    yield timeline.svg(failure["timeline"])
    if failure["changes"]:
        yield f"<p>Rows that the last step changed:</p><pre>{escape(chr(10).join(failure['changes']))}</pre>"
    if failure["details"]:
        text = json.dumps(failure["details"], indent=1, ensure_ascii=False, default=str)
        yield f"<details><summary>Details</summary><pre>{escape(text[:20000])}</pre></details>"
    text = json.dumps(failure["case"], indent=1, ensure_ascii=False)
    yield f"<details><summary>The case</summary><pre>{escape(text[:50000])}</pre></details>"
    if failure["stderr"].strip():
        tail = failure["stderr"][-4000:]
        yield f"<details><summary>End of stderr</summary><pre>{escape(tail)}</pre></details>"

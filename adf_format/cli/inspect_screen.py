"""The facts of `adf-format inspect` on a terminal, with rich: panels, a table of loops, a bar of coverage.

Where output goes to a file or a pipe, the plain lines of `adf-format inspect` are written: they are what scripts read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from adf_format.terminal import visible
from adf_format.view.words import counted, short

BAR = 40
_STYLES = {"errors": "bold red", "warnings": "yellow", "infos": "blue"}


def show(console: Console, facts: Mapping[str, Any], lines: Iterable[tuple[str, str]]) -> None:
    """Show facts; `lines` are the plain ones, already harmless, for every section that has no form of its own."""
    console.print(Panel(_who(facts), box=box.ROUNDED, border_style="cyan", title=_title(facts), title_align="left"))
    if facts.get("loops"):
        console.print(_loops(facts))
    coverage = (facts.get("audit") or {}).get("coverage")
    if coverage and coverage["highest"]:
        console.print(_coverage(coverage))
    console.print(_rest(lines))


def _title(facts: Mapping[str, Any]) -> Text:
    identity = facts.get("identity") or {}
    handle = f" @{visible(identity['handle'])}" if identity.get("handle") else ""
    return Text.assemble((visible(identity.get("name") or "an agent without a name"), "bold"), (handle, "dim"))


def _who(facts: Mapping[str, Any]) -> RenderableType:
    agent = facts.get("agent") or {}
    version = facts.get("schema_version")
    words = Text()
    if agent.get("state"):
        words.append(f" {visible(agent['state'])} ", "black on green")
        words.append("  ")
    model = "/".join(visible(part) for part in (agent.get("provider"), agent.get("model")) if part)
    words.append(f"{model or 'no model set'}   storage version {'unknown' if version is None else version}", "dim")
    about = visible(agent.get("description") or "")
    return Group(*([Text(about)] if about else []), words, _verdict(facts.get("findings") or {}))


def _verdict(found: Mapping[str, Any]) -> Text:
    if "error" in found:
        return Text(f"could not be validated: {visible(found['error'])}", "bold red")
    parts = [(counted(found[key], key.removesuffix("s")), style) for key, style in _STYLES.items() if found.get(key)]
    if not parts:
        return Text("✓ nothing found at a quick look", "green")
    return Text("  ").join(Text(words, style) for words, style in parts)


def _loops(facts: Mapping[str, Any]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim", show_edge=False)
    for name, justify in (("loop", "left"), ("rows", "right"), ("seqs", "left"), ("", "left")):
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for loop in facts["loops"]:
        state = ("" if loop["enabled"] else "disabled") if loop["declared"] else "not declared"
        seqs = f"S{loop['seqs'][0]:,} to S{loop['seqs'][1]:,}" if loop["seqs"] else ""
        table.add_row(
            Text(visible(str(loop["name"]))[:60], "bold cyan"),
            f"{loop['rows']:,}",
            Text(seqs, "dim"),
            Text(state, "yellow"),
        )
    return table


def _coverage(coverage: Mapping[str, Any]) -> Text:
    total = max(1, coverage["live"] + coverage["by_ranges"] + coverage["neither"])
    line = Text.assemble(("past  ", "dim"))
    for key, char, style in (("live", "█", "cyan"), ("by_ranges", "▒", "cyan"), ("neither", "·", "red")):
        width = round(BAR * coverage[key] / total)
        line.append(char * (max(1, width) if coverage[key] else 0), style)
    told = (("live", "live"), ("by_ranges", "archived"), ("neither", "gone"))
    return line.append("  " + ", ".join(f"{short(coverage[key])} {word}" for key, word in told), "dim")


def _rest(lines: Iterable[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for label, words in lines:
        table.add_row(label, Text(words, "bold red" if label == "UNREADABLE" else ""))
    return table

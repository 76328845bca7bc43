"""How a mind inside an `.adf` is (MEM-102)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from adf_format.config.access import section
from adf_format.memory import injection
from adf_format.memory.agentfiles import AgentFiles
from adf_format.memory.folder import Imported
from adf_format.memory.frontmatter import values_of
from adf_format.memory.pack import tokens
from adf_format.memory.placing import outline
from adf_format.memory.status import status
from adf_format.memory.transfer.manifest import PATH, PREFIX, parse

INDEX, LOG = "mind.md", "mind/log.md"
_LINK = re.compile(r"\]\(adf-file://([^()\s]+)\)")
_CITED = re.compile(r"\[S[0-9]+\]")
_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)|^(?P<fence>```|~~~).*?(?:^(?P=fence)|\Z)", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"\[(\d{4}-\d{2}-\d{2})\] ")


def status_of_mind(files: AgentFiles, config: Mapping[str, Any], root: str, now: datetime) -> dict[str, Any]:
    """Return the state of a mind as a document, with that of an imported workspace, if there is one."""
    index = _text(files, INDEX)
    linked = _links(index)
    pages = [path for path in files.paths("mind/") if path != LOG]
    known = [path for path in (INDEX, *files.paths("mind/"), "soul.md") if path in files]
    return {
        "root": root,
        "kind": "mind" if INDEX in files else "none",
        "timezone": str(now.tzinfo),
        "now": now.isoformat(timespec="seconds"),
        "files": [_file(files, path) for path in known],
        "pages": [_page(files, path, path in linked) for path in pages],
        "orphans": [path for path in pages if path not in linked],
        "dangling": sorted(path for path in linked if path not in files),
        "log": _log(_text(files, LOG)),
        "injected": injection.is_injected(config),
        "auditLoop": _audited(config),
        "lastMemoryWrite": _latest(files, known),
        "workspace": _workspace(files, now),
    }


def _workspace(files: AgentFiles, now: datetime) -> dict[str, Any] | None:
    stored = files.read(PATH)
    if stored is None:
        return None
    times = {one.path: one.mtime_ns for one in parse(stored).files}
    return status(Imported(files, PREFIX, times), PREFIX, now)


def _text(files: AgentFiles, path: str) -> str:
    return (files.read(path) or b"").decode("utf-8", "replace")


def _links(text: str) -> set[str]:
    """Return the files that a text links, comments and code aside (MEM-122, MEM-171)."""
    found = _LINK.findall(_HIDDEN.sub("", text))
    return {unquote(one.partition("?")[0].partition("#")[0].rstrip("/")) for one in found}


def _file(files: AgentFiles, path: str) -> dict[str, Any]:
    row, text = files.row(path), _text(files, path)
    facts = {"path": path, "bytes": row.size if row else 0, "chars": len(text), "lines": len(text.splitlines())}
    return facts | {"estTokens": tokens(len(text)), "lastChange": row.updated_at if row else None}


def _page(files: AgentFiles, path: str, linked: bool) -> dict[str, Any]:
    text = _text(files, path)
    facts = values_of(text)
    sources = facts.get("sources")
    return {
        "slug": path.removeprefix("mind/").removesuffix(".md"),
        "type": _shown(facts.get("type")),
        "status": _shown(facts.get("status")),
        "staleAfter": _shown(facts.get("stale_after")),
        "inCatalog": linked,
        "sources": len(sources) if isinstance(sources, list) else 0,
        "cites": len(_CITED.findall(text)),
    }


def _shown(value: object) -> str | None:
    return None if value is None else str(value)[:200]


def _log(text: str) -> dict[str, Any]:
    entries = [found[1] for one in outline(text).headings if one.level == 2 and (found := _ENTRY.match(one.title))]
    return {"entries": len(entries), "newest": max(entries, default=None)}


def _audited(config: Mapping[str, Any]) -> bool:
    """Whether loop rows are archived; without a setting they count as not (D6)."""
    inside = section(config, "context", "audit")
    value = inside.get("loop") if "loop" in inside else section(config, "audit").get("loop")
    return value is True


def _latest(files: AgentFiles, known: list[str]) -> dict[str, str] | None:
    dated = [(row.updated_at, path) for path in known if (row := files.row(path)) and row.updated_at]
    newest = max(dated, default=None)
    return {"path": newest[1], "at": newest[0] or ""} if newest else None


def lines(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what a person is shown, as name and value."""
    log, pages, last = document["log"], document["pages"], document["lastMemoryWrite"]
    index = next((one for one in document["files"] if one["path"] == INDEX), None)
    loaded = "loaded on every turn" if document["injected"] else "NEVER LOADED: no base prompt, and no {{mind.md}}"
    size = f"{index['chars']:,} characters, about {index['estTokens']:,} tokens; " if index else "not there; "
    return [
        ("memory", f"{document['kind']}, in {document['root']}"),
        ("last write", f"{last['path']} at {last['at']}" if last else "none known"),
        ("index", size + loaded),
        ("pages", f"{len(pages)}, {len(document['orphans'])} not in the index"),
        *(("", f"not in the index: {path}") for path in document["orphans"]),
        *(("", f"linked, but not there: {path}") for path in document["dangling"]),
        *(("", f"to be checked since {one['staleAfter']}: {one['slug']}") for one in pages if _stale(one, document)),
        ("log", f"{log['entries']} entries" + (f", the newest of {log['newest']}" if log["newest"] else "")),
        ("transcript", "archived" if document["auditLoop"] else "NOT archived: citations of it may be lost"),
    ]


def _stale(page: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    until = page["staleAfter"]
    return (
        isinstance(until, str)
        and re.fullmatch(r"\d{4}-\d{2}-\d{2}", until) is not None
        and until < document["now"][:10]
    )

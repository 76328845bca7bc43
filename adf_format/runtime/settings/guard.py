"""What an agent may not change of its own configuration (config.md 7).

Two grades: some things are the owner's alone, others may be approved by the owner once. The change is made first, on
a copy, and the two configurations are compared: a gate is not opened by any path that leads around it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from adf_format import loops
from adf_format.audit import javascript_json
from adf_format.config import tools as declarations
from adf_format.config.access import entries, section, texts
from adf_format.config.loops import MAX_LOOPS, declared
from adf_format.runtime.settings.paths import Segment, names
from adf_format.schemas import LATEST, checker, document, storage_version

FORBIDDEN_NAMES = frozenset({"locked", "locked_fields", "restricted", "restricted_methods"})
OWNERS = ("adf_version", "id", "metadata", "locked_fields", "providers")
OWNERS_SECURITY = ("allow_unsigned", "require_middleware_authorization", "middleware", "fetch_middleware")
ALWAYS_LOCKED = ("security.allow_local_fetch", "stream_bind")
STATES = ("active", "idle", "hibernate", "off")
UNIQUE = (
    ("tools", "name"),
    ("serving.api", "id"),
    ("ws_connections", "id"),
    ("stream_bindings", "id"),
    ("umbilical_taps", "name"),
    ("mcp.servers", "name"),
    ("loops", "name"),
)
MOST_ISSUES = 5


@dataclass(frozen=True)
class Denial:
    """Why a change is not made.

    :ivar approvable: whether the owner can let it pass once
    :ivar level: `locked` or `locked_fields` for what is locked, else ""
    """

    text: str
    approvable: bool = False
    level: Literal["", "locked", "locked_fields"] = ""


def denial(
    before: Mapping[str, Any], after: Mapping[str, Any], segments: tuple[Segment, ...], path: str
) -> Denial | None:
    """Say why a change may not be made by the agent; None if it may.

    :param segments: where the change is, resolved in `before`; `path` is what the agent called it
    """
    never = next(_never(before, after, segments), None)
    if never:
        return Denial(never)
    wrong = next(_wrong(before, after, segments), None)
    if wrong:
        return Denial(wrong)
    lock = _lock(before, after, names(segments))
    return Denial(f"'{path[:80]}' is locked.", approvable=True, level=lock) if lock else None


def _never(before: Mapping[str, Any], after: Mapping[str, Any], segments: tuple[Segment, ...]) -> Iterator[str]:
    path = names(segments)
    if not path:
        yield "the configuration cannot be replaced as a whole"
    for name in sorted(FORBIDDEN_NAMES.intersection(path)):
        yield f"`{name}` can be set by the owner only"
    if path == ("security",):
        yield "`security` cannot be replaced as a whole; name the setting"
    for key in OWNERS:
        if before.get(key) != after.get(key):
            yield f"`{key}` can be set by the owner only"
    for key in OWNERS_SECURITY:
        if section(before, "security").get(key) != section(after, "security").get(key):
            yield f"`security.{key}` can be set by the owner only"
    yield from _gates(dict(before), dict(after))


def _gates(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """Yield gates that would be open after the change: of tools, of MCP servers, of code methods."""
    is_gated, still = declarations.restriction(before), declarations.restriction(after)
    for _, tool in entries(before, "tools"):
        name = tool.get("name")
        if isinstance(name, str) and is_gated(name) and not still(name):
            yield f"the gate of `{name[:60]}` can be opened by the owner only"
    if section(before, "code_execution").get("restricted_methods") != section(after, "code_execution").get(
        "restricted_methods"
    ):
        yield "`restricted_methods` can be set by the owner only"


def _lock(
    before: Mapping[str, Any], after: Mapping[str, Any], path: tuple[str, ...]
) -> Literal["", "locked", "locked_fields"]:
    listed = [entry for _, entry in texts(before, "locked_fields")]
    for entry in (*listed, *ALWAYS_LOCKED):
        parts = tuple(entry.split("."))
        shorter = min(len(parts), len(path))
        if parts[:shorter] == path[:shorter]:
            return "locked_fields" if entry in listed else "locked"
    lost = Counter(_locked_objects(before)) - Counter(_locked_objects(after))
    return "locked" if lost else ""


def _locked_objects(value: Any) -> Iterator[str]:
    """Yield the JSON of every object that says `locked: true`."""
    if isinstance(value, dict):
        if value.get("locked") is True:
            yield javascript_json(value, exact=True)
        value = value.values()
    elif not isinstance(value, list):
        return
    for item in value:
        yield from _locked_objects(item)


def _wrong(before: Mapping[str, Any], after: Mapping[str, Any], segments: tuple[Segment, ...]) -> Iterator[str]:
    """Yield what the change would break that was in order before (LOOP-018)."""
    top = str(segments[0]) if segments else ""
    if top not in before and top not in _known():
        yield f"there is no setting {top[:60]!r}"
    state = after.get("state")
    if state != before.get("state") and state not in STATES:
        yield f"`state` is one of {', '.join(STATES)}"
    worse = Counter(issues(after)) - Counter(issues(before))
    if worse:
        yield "; ".join(list(worse)[:MOST_ISSUES])
    most = max(MAX_LOOPS, sum(1 for _ in declared(dict(before))))
    if sum(1 for _ in declared(dict(after))) > most:
        yield f"an agent has at most {MAX_LOOPS} inner loops"


def issues(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a configuration, without the indexes of arrays: what moves is not new."""
    for problem in checker(storage_version(LATEST).agent_config).problems(dict(config)):
        if problem.severity != "info":
            parts = [part for part in problem.pointer.split("/") if not part.isdecimal()]
            yield f"{'/'.join(parts) or '/'}: {problem.message}"
    for _, loop in entries(config, "loops"):
        yield from (f"/loops{problem}" for problem in loops.problems(loop))
    for path, key in UNIQUE:
        yield from _repeated(config, path, key)


def _repeated(config: Mapping[str, Any], path: str, key: str) -> Iterator[str]:
    *parents, last = path.split(".")
    found = [entry.get(key) for _, entry in entries(section(config, *parents) if parents else config, last)]
    counted = Counter(name.lower() if path == "loops" else name for name in found if isinstance(name, str))
    for name, count in counted.items():
        yield from [f"/{path.replace('.', '/')}: {name[:60]!r} is there more than once"] * (count - 1)


def _known() -> set[str]:
    return set(document(storage_version(LATEST).agent_config)["properties"])

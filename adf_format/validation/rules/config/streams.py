"""Streams and the event bus: endpoints, bindings, taps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adf_format.config import events
from adf_format.config.access import entries, is_filled, is_number, section
from adf_format.schemas.checker import brief
from adf_format.validation.context import Context, Pass
from adf_format.validation.rule import Severity, rule

from .reporting import put, report

BINDING = "$.stream_bindings[0]"
TAP = "$.umbilical_taps[0]"

NO_IMAGE = rule(
    "ADF438",
    "isolated-process-without-image",
    Severity.WARNING,
    what="A process endpoint of isolation `container_isolated` names an image.",
    why="There is no container to start; the binding fails when it is made.",
    source=("CFG X8",),
    fires=put((f"{BINDING}.b", {"kind": "process", "isolation": "container_isolated", "command": ["cat"]})),
    silent=put((f"{BINDING}.b", {"kind": "process", "isolation": "container_shared", "command": ["cat"]})),
    fix="name an image, or choose `container_shared`",
)
UMBILICAL_SINK = rule(
    "ADF439",
    "binding-into-umbilical",
    Severity.ERROR,
    what="The end `b` of a stream binding is not `umbilical`.",
    why="The event bus can be read as a stream but not written to.",
    source=("CFG X9",),
    fires=put((f"{BINDING}.b", {"kind": "umbilical", "filter": {"event_types": ["turn.completed"]}})),
    silent=put((f"{BINDING}.a", {"kind": "umbilical", "filter": {"event_types": ["turn.completed"]}})),
    fix="swap the two ends",
)
ENDPOINT_WILDCARD = rule(
    "ADF440",
    "endpoint-wildcard",
    Severity.ERROR,
    what="An umbilical endpoint with `*`, a `….*` or no event types at all sets `filter.allow_wildcard`.",
    why="The whole event bus must be asked for on purpose; without the switch the binding is refused.",
    source=("CFG X10",),
    fires=put((f"{BINDING}.a", {"kind": "umbilical"})),
    silent=put((f"{BINDING}.a", {"kind": "umbilical", "filter": {"allow_wildcard": True}})),
    fix="list the event types, or set `filter.allow_wildcard` to true",
)
TAP_WILDCARD = rule(
    "ADF441",
    "tap-wildcard",
    Severity.ERROR,
    what="A tap with `*`, a `….*` or no list of event types sets `filter.allow_wildcard`.",
    why="Without a list the tap stands for `*`, which must be asked for on purpose.",
    source=("CFG X11", "CFG K25"),
    fires=put((f"{TAP}.filter", {"event_types": ["turn.*"]})),
    silent=put((f"{TAP}.filter", {"event_types": ["turn.*"], "allow_wildcard": True})),
    fix="list the event types, or set `filter.allow_wildcard` to true",
)
UNKNOWN_EVENT = rule(
    "ADF442",
    "unknown-event-type",
    Severity.WARNING,
    what="An event type that is selected exists, or stands below `custom.`.",
    why="Nothing will ever match it; it may be a typing mistake or a newer runtime's event.",
    source=("CFG X12", "CFG 2.21"),
    fires=put((f"{TAP}.filter.event_types", ["turn.complete"])),
    silent=put((f"{TAP}.filter.event_types", ["custom.harvest", "agent.state.changed"])),
)
NO_ALLOWLIST = rule(
    "ADF456",
    "tcp-bind-without-allowlist",
    Severity.WARNING,
    what="`stream_bind.allow_tcp_bind` comes with a `tcp_allowlist` that is not empty.",
    why="Every TCP binding is denied all the same.",
    source=("CFG X26",),
    fires=put(("$.stream_bind", {"allow_tcp_bind": True, "tcp_allowlist": []})),
    silent=put(("$.stream_bind", {"allow_tcp_bind": True, "tcp_allowlist": [{"host": "localhost"}]})),
    fix="list the addresses",
)
UNKNOWN_CONNECTION = rule(
    "ADF470",
    "unknown-ws-connection",
    Severity.WARNING,
    what="The `connection_id` of a stream endpoint is the id of an entry of `ws_connections`.",
    why="The binding waits for a connection that nobody opens.",
    source=("CFG 3", "CFG 2.20"),
    fires=put((f"{BINDING}.a.connection_id", "food")),
    silent=put(("$.ws_connections[0].id", "food"), (f"{BINDING}.a.connection_id", "food")),
    fix="add the connection to `ws_connections`",
)
EMPTY_PORTS = rule(
    "ADF480",
    "empty-port-range",
    Severity.WARNING,
    what="In an entry of `tcp_allowlist`, `min_port` is not above `max_port`.",
    why="The entry allows nothing, whatever its author meant.",
    source=("CFG 2.20",),
    fires=put(("$.stream_bind", {"tcp_allowlist": [{"host": "localhost", "min_port": 9000, "max_port": 8000}]})),
    silent=put(("$.stream_bind", {"tcp_allowlist": [{"host": "localhost", "min_port": 9000, "max_port": 9000}]})),
    fix="swap the two",
)
RULES = (
    NO_IMAGE, UMBILICAL_SINK, ENDPOINT_WILDCARD, TAP_WILDCARD, UNKNOWN_EVENT, NO_ALLOWLIST, UNKNOWN_CONNECTION,
    EMPTY_PORTS,
)  # fmt: skip


def check(context: Context) -> None:
    """Look at bindings, taps and the rights to bind."""
    connections = {entry["id"] for _, entry in entries(context.config, "ws_connections") if is_filled(entry.get("id"))}
    for index, binding in entries(context.config, "stream_bindings"):
        for side in ("a", "b"):
            endpoint = binding.get(side)
            if isinstance(endpoint, dict):
                _check_endpoint(context, endpoint, ("stream_bindings", index, side), connections)
    for index, tap in entries(context.config, "umbilical_taps"):
        _check_tap(context, tap, ("umbilical_taps", index, "filter"))
    _check_rights(context, section(context.config, "stream_bind"))


def _check_endpoint(
    context: Context, endpoint: dict[str, Any], path: tuple[str | int, ...], connections: set[str]
) -> None:
    kind = endpoint.get("kind")
    if kind == "ws":
        name = endpoint.get("connection_id")
        if is_filled(name) and name not in connections:
            report(context, UNKNOWN_CONNECTION, f"no connection {brief(name)}", *path, "connection_id")
    elif kind == "process":
        if endpoint.get("isolation") == "container_isolated" and not endpoint.get("image"):
            report(context, NO_IMAGE, "an isolated process without an image", *path)
    elif kind == "umbilical":
        if path[-1] == "b":
            report(context, UMBILICAL_SINK, "end b is the event bus", *path)
        selected = section(endpoint, "filter")
        types = list(_selectors(selected))
        if selected.get("allow_wildcard") is not True and (not types or any(map(events.is_wildcard, types))):
            report(context, ENDPOINT_WILDCARD, _wildcard(types), *path)
        _check_types(context, types, (*path, "filter", "event_types"))


def _check_tap(context: Context, tap: dict[str, Any], path: tuple[str | int, ...]) -> None:
    selected = section(tap, "filter")
    types = list(_selectors(selected))
    everything = selected.get("event_types") is None
    if selected.get("allow_wildcard") is not True and (everything or any(map(events.is_wildcard, types))):
        report(context, TAP_WILDCARD, _wildcard(types), *path)
    _check_types(context, types, (*path, "event_types"))


def _check_types(context: Context, types: list[str], path: tuple[str | int, ...]) -> None:
    for name in types:
        if not events.is_known(name):
            report(context, UNKNOWN_EVENT, f"{brief(name)} is not a known event type", *path)


def _check_rights(context: Context, rights: dict[str, Any]) -> None:
    if rights.get("allow_tcp_bind") is True and not rights.get("tcp_allowlist"):
        report(context, NO_ALLOWLIST, "TCP bindings are allowed to no address", "stream_bind")
    for index, entry in entries(rights, "tcp_allowlist"):
        low, high = entry.get("min_port"), entry.get("max_port")
        if is_number(low) and is_number(high) and low > high:
            report(context, EMPTY_PORTS, "min_port is above max_port", "stream_bind", "tcp_allowlist", index)


def _selectors(selected: dict[str, Any]) -> Iterator[str]:
    types = selected.get("event_types")
    return (name for name in types if isinstance(name, str)) if isinstance(types, list) else iter(())


def _wildcard(types: list[str]) -> str:
    named = next((name for name in types if events.is_wildcard(name)), None)
    return f"{brief(named)} without allow_wildcard" if named else "no event types and no allow_wildcard"


PASSES = (Pass("streams and event taps", RULES, check, ("adf_config",)),)

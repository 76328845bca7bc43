"""What is served over HTTP: routes and shared files."""

from __future__ import annotations

from adf_format.config.access import entries, section, texts
from adf_format.schemas.checker import brief
from adf_format.validation.context import Context, Pass
from adf_format.validation.rule import Severity, rule

from .reporting import put, report

RESERVED = frozenset({"inbox", "card", "health"})
ROUTE = "$.serving.api[0]"

NO_LAMBDA = rule(
    "ADF435",
    "route-without-lambda",
    Severity.ERROR,
    what="Every route of `serving.api` names a lambda, those of method `WS` too.",
    why="A request to the route has nothing that could answer it.",
    source=("CFG X5",),
    fires=put((f"{ROUTE}.lambda", "")),
    silent=put((f"{ROUTE}.method", "WS")),
    fix="name a lambda, or remove the route",
)
RESERVED_ROUTE = rule(
    "ADF436",
    "route-reserved",
    Severity.ERROR,
    what="The first part of a route's path is not `inbox`, `card` or `health`.",
    why="The runtime serves those itself; the route would never be reached.",
    source=("CFG X6",),
    fires=put((f"{ROUTE}.path", "//inbox/read")),
    silent=put((f"{ROUTE}.path", "/inboxes/card")),
    fix="choose another path",
)
RESERVED_PATTERN = rule(
    "ADF437",
    "shared-pattern-reserved",
    Severity.WARNING,
    what="The first part of a shared pattern is not `inbox`, `card` or `health`.",
    why="The runtime serves those addresses itself; the shared files would never be reached.",
    source=("CFG X7",),
    fires=put(("$.serving.shared.patterns", ["card/*"])),
    silent=put(("$.serving.shared.patterns", ["cards/*", "*/card"])),
    fix="choose another folder",
)
RULES = (NO_LAMBDA, RESERVED_ROUTE, RESERVED_PATTERN)


def check(context: Context) -> None:
    """Look at routes and shared patterns; a missing lambda is found by the schema (see `shape`)."""
    serving = section(context.config, "serving")
    for index, route in entries(serving, "api"):
        path = route.get("path")
        if isinstance(path, str) and _first(path) in RESERVED:
            report(context, RESERVED_ROUTE, f"{brief(_first(path))} is reserved", "serving", "api", index, "path")
    for index, pattern in texts(section(serving, "shared"), "patterns"):
        if _first(pattern) in RESERVED:
            place = ("serving", "shared", "patterns", index)
            report(context, RESERVED_PATTERN, f"{brief(_first(pattern))} is reserved", *place)


def _first(path: str) -> str:
    return path.lstrip("/").partition("/")[0]


PASSES = (Pass("served routes", RULES, check, ("adf_config",)),)

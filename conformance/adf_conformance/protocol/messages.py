"""Check every message, in both directions, against its published schema."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from adf_conformance.format_data import PREFIX, document

PROTOCOL = 1
TO_DRIVER = frozenset(
    [
        "initialize",
        "file/validate",
        "file/migrate",
        "audit/read",
        "audit/resolve",
        "transcript/read",
        "agent/create",
        "agent/start",
        "agent/stop",
        "agent/idle",
        "chat/send",
        "message/deliver",
        "config/update",
        "state/clear",
        "code/loop_inject",
        "clock/advance",
        "shutdown",
    ]
)
REQUESTS_TO_SUITE = frozenset({"model/complete", "owner/approve", "owner/ask"})
NOTIFICATIONS_TO_SUITE = frozenset({"model/cancel", "message/outbound", "log"})
ENVELOPE = f"{PREFIX}protocol:envelope:1"
MODEL_ERROR = f"{PREFIX}protocol:model-error:1"


def envelope_problem(message: object) -> str | None:
    """Say what is wrong with one line as JSON-RPC, None if nothing is."""
    return _problem(_checker(ENVELOPE, ""), message)


def params_problem(method: str, params: object) -> str | None:
    """Say what is wrong with the parameters of a request or notification, None if nothing is."""
    return _problem(_checker(_urn(method), "params"), params)


def result_problem(method: str, result: object) -> str | None:
    """Say what is wrong with the result of a request, None if nothing is."""
    return _problem(_checker(_urn(method), "result"), result)


def model_error_problem(data: object) -> str | None:
    """Say what is wrong with `error.data` of a model that fails, None if nothing is."""
    return _problem(_checker(MODEL_ERROR, ""), data)


def _urn(method: str) -> str:
    return f"{PREFIX}protocol:{method.replace('/', '-')}:{PROTOCOL}"


@cache
def _checker(urn: str, part: str) -> Callable[[object], str | None]:
    import jsonschema_rs

    place = f"{urn}#/properties/{part}" if part else urn
    compiled = jsonschema_rs.validator_for({"$ref": place}, retriever=document)

    def check(value: object) -> str | None:
        for error in compiled.iter_errors(value):
            where = "/".join(str(step) for step in error.instance_path)
            return f"{where or 'the message'}: {error.message}"[:500]
        return None

    return check


def _problem(check: Callable[[object], str | None], value: object) -> str | None:
    try:
        return check(value)
    except (ValueError, TypeError, OverflowError):  # lone surrogates, huge numbers: jsonschema-rs has no room for them
        return check(_tame(value))


def _tame(value: Any) -> Any:
    """Return a value of the same shape that can be checked: only types count for the schemas of the protocol."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, int) and not isinstance(value, bool):
        return max(min(value, 2**53), -(2**53))
    if isinstance(value, float):
        return value if abs(value) < 1e300 else 0.5  # also NaN
    if isinstance(value, dict):
        return {_tame(key): _tame(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_tame(item) for item in value]
    return value

"""A model from a short text: `scripted:FILE` or `openai:MODEL`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from adf_format.errors import UsageError

if TYPE_CHECKING:
    from adf_format.models.endpoint import Endpoint
    from adf_format.models.port import Model

FORMS = "scripted:FILE, or openai:MODEL (openai: alone takes the model that the agent names)"


def build(spec: str, endpoint: Endpoint) -> Model:
    """Return the model that a text names.

    :param endpoint: where `openai:` asks
    :raises UsageError: no such kind of model, or its package is not installed
    :raises UnreadableError: the script cannot be read
    """
    kind, colon, rest = spec.partition(":")
    if kind == "scripted" and rest:
        from adf_format.models import scripted

        return scripted.load(Path(rest))
    if kind == "openai" and colon:
        from adf_format.models.endpoint import EndpointModel

        return EndpointModel(endpoint, rest)
    raise UsageError(f"{spec!r} is not a model", hint=f"write {FORMS}")

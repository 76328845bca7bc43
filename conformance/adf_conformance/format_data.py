"""The schema documents of the format: the one thing that the suite shares with the toolkit, as data."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import Any

PREFIX = "urn:adf-format:"


class MissingDataError(Exception):
    """The schema documents are not installed: a broken installation."""


@cache
def root() -> Path:
    """Return the folder of the schemas: of the checkout, or package data of the toolkit, which is not imported.

    :raises MissingDataError: neither is there
    """
    checkout = Path(__file__).resolve().parents[2] / "schemas"
    spec = importlib.util.find_spec("adf_format")
    packaged = Path(spec.origin).parent / "_data" / "schemas" if spec and spec.origin else checkout
    for folder in (checkout, packaged):
        if (folder / "catalog.json").is_file():
            return folder
    raise MissingDataError("the schema documents of the format are missing: install adf-format again")


@cache
def document(urn: str) -> dict[str, Any]:
    """Load one document by its URN, `urn:adf-format:tables:adf_loop:28`.

    :raises MissingDataError: there is no such document
    """
    path = root().joinpath(*urn.removeprefix(PREFIX).split(":"))
    try:
        loaded: dict[str, Any] = json.loads(path.with_name(path.name + ".json").read_bytes())
    except OSError:
        raise MissingDataError(f"no schema {urn!r}") from None
    return loaded


def catalog() -> dict[str, Any]:
    """Return the catalogue: which document applies at which storage version."""
    return document(PREFIX + "catalog")


def oldest() -> int:
    """Return the oldest storage version that is described."""
    return int(catalog()["oldest"])


def latest() -> int:
    """Return the newest storage version that is described."""
    return int(catalog()["latest"])

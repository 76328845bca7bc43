"""Secrets where they do not belong. A value found is never shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from adf_format.config.memory import SectionMemory
from adf_format.rows import Row
from adf_format.validation.context import Columns, Context
from adf_format.validation.rules.hostile import catalogue, walk

SECRET_KEY = re.compile(
    r"(?:.*[_-])?(?:api[_-]?key|secret|passw(?:or)?d|passphrase|private[_-]?key|secret[_-]?key|client[_-]?secret"
    r"|access[_-]?key|credentials?|token|bearer|authorization)",
    re.IGNORECASE,
)
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
PLACEHOLDER = re.compile(r"\$|<.*>|\{.*\}|[*x.]+|env:.*|(?:bearer|basic|token)\s+[\$<{].*", re.IGNORECASE | re.DOTALL)
SHAPES = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}|\bgithub_pat_\w{20,}"
    r"|\bglpat-[\w-]{20}|\bxox[abpr]-[\w-]{10,}|\bxapp-[\w-]{10,}|\bsk-(?:proj-|ant-)?[\w-]{32,}|\bAIza[\w-]{35}"
    r"|\bnpm_[A-Za-z0-9]{36}|\bpypi-AgE[\w-]{20,}|\bsk_live_\w{16,}|://[^/\s:@]+:[^/\s:@]{3,}@"
)
SHORTEST_SHAPE = 15  # characters of the shortest credential known by its form, an address with a password aside
SHORTEST, LONGEST_KEY = 8, 64
FREE_TEXT = frozenset({"instructions", "description"})
WORTH = frozenset({str, dict, list})
MEMORY: SectionMemory[list[tuple[str, str]]] = SectionMemory()
IDENTITY = ("purpose", "encryption_algo", "code_access", "value")
OWNERS = ("mcp:", "adapter:", "provider:")


def in_config(context: Context) -> None:
    """Report strings in the configuration that look like a secret, by their key or by their shape."""
    place = {"table": "adf_config", "rowid": 1, "column": "config_json"}
    for pointer, said in _secrets(context.config):
        context.report(catalogue.SECRET_IN_CONFIG, said, **place, pointer=pointer)


def _secrets(config: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for section, value in config.items():
        if section in FREE_TEXT:
            continue
        if type(value) in WORTH:
            yield from MEMORY.recall(section, value, lambda: list(_in_section(section, value)))  # noqa: B023


def _in_section(section: str, value: Any) -> Iterator[tuple[str, str]]:
    for link, key, text in _texts(section, value):
        if key not in FREE_TEXT and (why := _why(_named(value, link, key), text)):
            yield f"/{section}{walk.spelled(link)}", why


def _texts(section: str, value: Any) -> Iterator[tuple[walk.Link, Any, str]]:
    """Yield `(path, key it goes by, text)` of every key and text that is long enough to be a secret."""
    stack: list[tuple[walk.Link, Any, Any]] = [(None, section, value)]
    while stack:
        link, name, item = stack.pop()
        if type(item) is str:
            if len(item) >= SHORTEST:
                yield link, name, item
        elif type(item) is dict:
            for key in item:
                if len(key) >= SHORTEST:
                    yield link, name, key
            stack += [((link, key), key, inner) for key, inner in item.items() if type(inner) in WORTH]
        elif type(item) is list:
            stack += [((link, at), at, inner) for at, inner in enumerate(item) if type(inner) in WORTH]


def _named(value: Any, link: walk.Link, key: Any) -> Any:
    """Return the key that a value goes by: of `{"key": "api_key", "value": "..."}` that is `api_key`."""
    if key != "value" or link is None:
        return key
    parts: list[Any] = []
    above = link[0]
    while above is not None:
        above, part = above
        parts.append(part)
    for part in reversed(parts):
        value = value[part]
    return value.get("key", key) if isinstance(value, dict) else key


def _why(key: Any, text: str) -> str | None:
    if (len(text) >= SHORTEST_SHAPE or "://" in text) and SHAPES.search(text):
        return "the value has the form of a credential"
    if not isinstance(key, str) or not _names_a_secret(key):
        return None
    if text.startswith("$") or PLACEHOLDER.fullmatch(text):
        return None
    return "by its key the value is a credential"


@lru_cache(maxsize=4096)
def _names_a_secret(key: str) -> bool:
    return len(key) <= LONGEST_KEY and SECRET_KEY.fullmatch(CAMEL.sub("_", key)) is not None


class IdentitySecrets:
    """Looks for a signing key that code can read, and for credentials stored in plain form."""

    def __init__(self, context: Context, columns: Columns) -> None:
        self._report = context.report
        self._positions = [columns.position[name] for name in IDENTITY]

    def row(self, rowid: int, values: Row, json: dict[str, Any]) -> None:  # noqa: ARG002
        """Look at one row."""
        purpose, algorithm, access, value = (values[position] for position in self._positions)
        place = {"table": "adf_identity", "rowid": rowid}
        if purpose == "crypto:signing:private_key" and access == 1:
            self._report(catalogue.KEY_EXPOSED, "code may read the private key", **place, column="code_access")
        owned = isinstance(purpose, str) and purpose.startswith(OWNERS)
        if owned and algorithm in (None, "plain") and value not in (None, b"", ""):
            said = f"a credential of {purpose.partition(':')[0]} is not encrypted"
            self._report(catalogue.PLAIN_SECRET, said, **place, column="encryption_algo")

    def finish(self) -> None:
        """Nothing more."""

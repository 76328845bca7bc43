"""Faults of every JSON value of a file, each after a valid value was put in its place."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import apsw

from adf_format.schemas import storage_version
from mutation.bench import sample
from mutation.fault import Fault
from mutation.json_faults import faults
from mutation.slots import Slot, slots, text_of
from mutation.values import bases, complete, node_of

VERSIONS = (21, 24, 28, 32)


@dataclass(frozen=True)
class JsonCase:
    """A valid value in its place, and the faults to try from there."""

    slot: Slot
    base: Any
    faults: list[Fault]


@cache
def last_versions() -> dict[tuple[str, str], int]:
    """Say for each place and schema at which of `VERSIONS` it is tried: the last that has both."""
    return {(slot.name, slot.urn): version for version in VERSIONS for slot in slots(version)}


def json_cases(version: int) -> Iterator[JsonCase]:
    """Yield the cases of a version that no later one repeats."""
    tried = last_versions()
    for slot in slots(version):
        if tried[slot.name, slot.urn] == version:
            done: set[str] = set()
            for base in bases(slot.urn):
                made = [fault for fault in _faults(slot, base, f"json/{slot.name}") if fault.id not in done]
                done |= {fault.id for fault in made}
                yield JsonCase(slot, base, made)


def _faults(slot: Slot, base: Any, prefix: str) -> Iterator[Fault]:
    for one in faults(slot.urn, base):
        # the values share all but the changed part, their texts would not: so those are written when they are needed
        change = partial(_put, slot, one.value)
        name = f"{prefix}{one.pointer}/{one.kind}"
        yield Fault(name, change, (slot.table,), slot.column, one.pointer)
    if isinstance(base, dict | list):
        yield from _text_faults(slot, base, prefix)


def _put(slot: Slot, value: Any, connection: apsw.Connection) -> None:
    slot.put(connection, text_of(value))


def _text_faults(slot: Slot, base: Any, prefix: str) -> Iterator[Fault]:
    """Yield faults of the text itself."""
    text = text_of(base)
    yield _fault(slot, f"{prefix}/text:cut", text[:-1])
    yield _fault(slot, f"{prefix}/text:trailing", f"{text}]")
    yield _fault(slot, f"{prefix}/text:empty", "")
    if isinstance(base, dict) and base:
        key = next(iter(base))
        yield _fault(slot, f"{prefix}/text:duplicate-key", text_of({key: 1})[:-1] + "," + text[1:])
    nan = text_of(base).replace("{", '{"zz":NaN,', 1) if "{" in text else "NaN"
    yield _fault(slot, f"{prefix}/text:nan", nan.replace(",}", "}"))


def _fault(slot: Slot, name: str, text: str) -> Fault:
    return Fault(name, lambda connection: slot.put(connection, text), (slot.table,), slot.column)


CONFIG = "UPDATE adf_config SET config_json = ? WHERE id = 1"


def config_case(version: int) -> JsonCase:
    """Return the configuration of the rich sample, filled up with every documented key, and all its faults."""
    urn = storage_version(version).agent_config
    connection = apsw.Connection(str(sample(version)), flags=apsw.SQLITE_OPEN_READONLY)
    stored = json.loads(connection.execute("SELECT config_json FROM adf_config WHERE id = 1").get)
    connection.close()
    base = complete([node_of(urn)], copy.deepcopy(stored))
    if "pre_llm_hook" in base:
        base["pre_llm_hook"]["scope"] = "loops"  # the scope in which its other keys mean something
    assert node_of(urn).accepts(base)
    slot = Slot(
        "adf_config.config_json", urn, "adf_config", "config_json", "SELECT 1",
        lambda connection, text: connection.execute(CONFIG, (text,)),
    )  # fmt: skip
    return JsonCase(slot, base, list(_faults(slot, base, "config")))

"""Creating, changing and deleting loops: a configuration goes in, a new one comes out, or a refusal.

Callers write the result and never an older snapshot: these functions are applied to the configuration as it is at the
moment of writing (LOOP-074, LOOP-090, LOOP-109).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adf_format.config.access import section
from adf_format.config.loops import MAX_LOOPS, declared

from .derive import Config, effective_tools, find
from .grants import Grant, classifier, grantable
from .locks import LOCKED, is_locked
from .rules import DEFAULT_NEW_LOOP_TOOLS, FIELDS, MAIN, is_name, problems


class Refused(Exception):  # noqa: N818
    """An edit that is not made; the text is meant for whoever asked, and names nothing internal."""


@dataclass(frozen=True)
class Edit:
    """An edit that is made.

    :ivar config: the new configuration
    :ivar loop: the declaration as it is stored now; as it was, for a deletion
    :ivar tools: the tools that the loop really has now
    :ivar excluded: names that are kept and granted once the owner enables them (LOOP-042)
    :ivar changed: changed keys of an update
    """

    config: Config
    loop: Config
    tools: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    changed: tuple[str, ...] = field(default=())


def create(config: Mapping[str, Any], wanted: Mapping[str, Any], *, now: str) -> Edit:
    """Declare a loop (LOOP-016, LOOP-073 to LOOP-078, LOOP-195).

    :param wanted: fields of the loop; unknown keys are ignored, missing ones take the defaults of a creator
    :param now: time of the edit, ISO 8601
    :raises Refused: nothing may be written
    """
    _unlocked(config)
    name = wanted.get("name")
    if name == MAIN:
        raise Refused("`main` always exists and cannot be created")
    loop: Config = {"name": name, "goal": wanted.get("goal"), "enabled": True, "autostart": True}
    loop |= {key: copy.deepcopy(wanted[key]) for key in FIELDS if key in wanted}
    loop = {key: value for key, value in loop.items() if not (value is None and key in ("model", "compact_threshold"))}
    if "tools" not in wanted:
        judge = classifier(config)
        loop["tools"] = [tool for tool in DEFAULT_NEW_LOOP_TOOLS if judge(tool) == "ok"]
    _valid(loop)
    _free(config, str(name))
    excluded = _granted(config, loop["tools"])
    made = _with(config, [*_loops(config), loop], now)
    return Edit(made, loop, tuple(effective_tools(made, loop)), excluded)


def update(config: Mapping[str, Any], name: str, patch: Mapping[str, Any], *, now: str) -> Edit:
    """Change fields of a loop: what is given replaces, what is absent stays, null takes an override away (LOOP-090).

    :raises Refused: nothing may be written
    """
    _unlocked(config)
    loop = _existing(config, name, "updated: it runs the agent's own configuration")
    if "name" in patch and patch["name"] != name:
        raise Refused(f"a loop cannot be renamed; `{name}` keeps its name, which binds it to its history")
    changes = {key: copy.deepcopy(patch[key]) for key in FIELDS if key in patch and key != "name"}
    if not changes:
        raise Refused(f"Nothing to update: give at least one of {', '.join(FIELDS[1:])}")
    removed = {key for key in ("model", "compact_threshold") if key in changes and changes[key] is None}
    merged = {key: value for key, value in (loop | changes).items() if key not in removed}
    old = set(problems(loop))
    _valid(merged, known=old)
    before = [tool for tool in loop.get("tools") or () if isinstance(tool, str)]
    excluded = _granted(config, changes.get("tools", before), known=before)
    position = next(index for index, _, found in declared(dict(config)) if found is loop)
    loops = list(_loops(config))
    loops[position] = merged
    made = _with(config, loops, now)
    return Edit(made, merged, tuple(effective_tools(made, merged)), excluded, tuple(changes))


def delete(config: Mapping[str, Any], name: str, *, now: str) -> Edit:
    """Take every declaration of a loop out of the configuration.

    :raises Refused: nothing may be written
    """
    _unlocked(config)
    loop = _existing(config, name, "deleted")
    kept = [entry for entry in _loops(config) if not (isinstance(entry, dict) and entry.get("name") == name)]
    return Edit(_with(config, kept, now), loop)


def loaded(config: Mapping[str, Any]) -> Config:
    """Return a configuration as a runtime holds it: a marker of derived ones is dropped (LOOP-022)."""
    made: Config = dict(config)
    if "loop_name" in section(made, "metadata"):
        made["metadata"] = {key: value for key, value in made["metadata"].items() if key != "loop_name"}
    return made


def _loops(config: Mapping[str, Any]) -> Sequence[Any]:
    found = config.get("loops")
    return found if isinstance(found, list) else []


def _with(config: Mapping[str, Any], loops: Sequence[Any], now: str) -> Config:
    """Return the configuration with other loops and a fresh date (LOOP-076)."""
    made = copy.deepcopy({key: value for key, value in config.items() if key != "loops"})
    made["loops"] = copy.deepcopy(list(loops))
    made["metadata"] = section(made, "metadata") | {"updated_at": now}
    # the place of the key stays where it was
    order = {key: made[key] for key in config if key in made}
    return order | made


def _unlocked(config: Mapping[str, Any]) -> None:
    if is_locked(config):
        raise Refused(LOCKED)


def _names(config: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(name for _, name, _ in declared(dict(config))))


def _existing(config: Mapping[str, Any], name: str, what: str) -> Config:
    if name == MAIN:
        raise Refused(f"`main` cannot be {what}")
    loop = find(config, name)
    if loop is None:
        names = _names(config)
        raise Refused(f"there is no inner loop `{name:.40}`; there are: {', '.join(names) or 'none'}")
    return loop


def _free(config: Mapping[str, Any], name: str) -> None:
    names = _names(config)
    if name.lower() in {other.lower() for other in names}:
        raise Refused(f"a loop named `{name}` already exists")
    if sum(1 for _ in declared(dict(config))) >= MAX_LOOPS:
        raise Refused(f"this agent has the maximum ({MAX_LOOPS}) of inner loops; delete one first")


def _valid(loop: Mapping[str, Any], known: Sequence[str] | set[str] = ()) -> None:
    """Refuse what breaks a rule; what was broken before may stay (LOOP-018)."""
    found = [problem for problem in problems(loop) if problem not in known]
    if found:
        raise Refused("Invalid loop config: " + "; ".join(found[:5]))


def _granted(config: Mapping[str, Any], names: Sequence[str], known: Sequence[str] = ()) -> tuple[str, ...]:
    """Refuse names that can never be granted, and return those that only wait for the owner (LOOP-041, LOOP-042)."""
    judge = classifier(config)
    wrong: dict[str, Grant] = {
        name: judge(name) for name in names if judge(name) in ("unknown", "prohibited") and name not in known
    }
    if wrong:
        told = ", ".join(f"{name:.60} ({grant})" for name, grant in wrong.items())
        can = ", ".join(grantable(config)) or "none"
        raise Refused(f"these tools cannot be granted to a loop: {told}. Grantable tools: {can}")
    return tuple(name for name in names if judge(name) == "disabled")


def name_of(wanted: Mapping[str, Any], name: object) -> str:
    """Return the name for a creation, from its fields or from beside them (LOOP-195).

    :raises Refused: none, two different ones, or none that a loop can have
    """
    given = [value for value in (wanted.get("name"), name) if value is not None]
    if not given:
        raise Refused("a new loop needs a name: give `config.name`")
    if len(given) == 2 and given[0] != given[1]:
        raise Refused("`name` and `config.name` differ; give one of them")
    if given[0] == MAIN:
        raise Refused("`main` always exists and cannot be created")
    if not is_name(given[0]):
        raise Refused("Invalid loop config: /name: 1 to 32 lower-case letters, digits, `_` or `-`")
    return str(given[0])

"""What is protected from the agent, and the owner's word that lifts a protection once (LOOP-056, config.md 4.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from adf_format.loops import MAIN, Refused

if TYPE_CHECKING:
    from adf_format.runtime.host import Host
    from adf_format.runtime.tools.protocol import Call

Kind = Literal["file_protection", "meta_protection", "config_lock"]


@dataclass(frozen=True)
class Protection:
    """Why a call may not go through unasked.

    :ivar target: path, key or setting that is protected
    :ivar level: `read_only`, `no_delete`, `readonly`, `increment`, `locked` or `locked_fields`
    :ivar text: the same for people and for the model
    """

    kind: Kind
    target: str
    level: str
    text: str


async def demand(call: Call, host: Host, protection: Protection) -> None:
    """Ask the owner whether a protected thing may be changed this once.

    :raises Refused: it may not; an inner loop has nobody to ask, so it is answered at once and nothing is left behind
    """
    if call.loop != MAIN:
        raise Refused(f"{protection.text}; a loop cannot ask the owner: leave it to `main`")
    about = {"kind": protection.kind, "target": protection.target, "level": protection.level}
    meta = {"reason": "protection", "protection": about | {"description": protection.text}}
    if not await ask(call, host, meta, f"protection: {protection.text}", closed="approved"):
        raise Refused(f"{protection.text}, and the owner did not approve")
    host.log("info", "bypass", protection.text, origin="protection", target=protection.target)


async def ask(
    call: Call, host: Host, meta: Mapping[str, object], reason: str, *, closed: str | None = None
) -> str | None:
    """Put a question to the owner, as a task that waits; gives the id of the task, None if it was denied.

    :param closed: result with which an approved task ends at once; None: it runs, and the caller ends it
    """
    task = host.store.tasks.ask(call.id, call.name, call.input, meta, call.loop)
    try:
        approved = await host.owner.approve(loop=call.loop, tool=call.name, given=call.input, reason=reason)
    except BaseException:
        host.store.tasks.end(task, "cancelled", error="the question was withdrawn")
        raise
    if not approved:
        host.store.tasks.end(task, "denied", error="Rejected")
        return None
    if closed is None:
        host.store.tasks.run(task)
    else:
        host.store.tasks.end(task, "completed", result=closed)
    return task


async def demand_file(call: Call, host: Host, path: str, what: Literal["write", "delete"]) -> None:
    """Make sure that a file may be written or deleted.

    :raises Refused: it is protected, and the owner does not let it pass
    """
    info = host.store.files.info(path)
    blocking = {"write": ("read_only",), "delete": ("read_only", "no_delete")}[what]
    if info is not None and info.protection in blocking:
        verb = {"write": "written", "delete": "deleted"}[what]
        text = f"{path[:200]} is {info.protection} and cannot be {verb}"
        await demand(call, host, Protection("file_protection", path, info.protection, text))


async def demand_meta(call: Call, host: Host, key: str, value: str | None) -> None:
    """Make sure that a key may get a value, or (None) be deleted (STO-039).

    :raises Refused: it is protected, and the owner does not let it pass
    """
    level = host.store.meta.protection(key)
    if level == "readonly" or (level == "increment" and not grows(host.store.meta.get(key), value)):
        how = "can only be raised" if level == "increment" else "is readonly"
        text = f"the key {key[:200]} {how}"
        await demand(call, host, Protection("meta_protection", key, level, text))


def grows(old: str | None, new: str | None) -> bool:
    """Whether a value is a number above another one; what is no number counts as 0."""
    after = _number(new)
    return after is not None and after > (_number(old) or 0)


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else None
    except ValueError:
        return None
    return number if number is not None and abs(number) < float("inf") else None

"""Timers against adversarial schedules: loops come and go, the agent sleeps, stops and starts, time jumps."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from adf_format.runtime.clock import VirtualClock
from adf_format.runtime.timers.model import Timer
from adf_format.runtime.timers.schedule import Schedule
from adf_format.runtime.timers.service import Timers
from adf_format.runtime.triggers.service import Triggers

CONFIG = {"triggers": {"on_timer": {"enabled": True, "targets": [{"scope": "agent"}]}}}
LOOPS = ("a", "b")


class Rows:
    """`adf_timers`, in memory."""

    def __init__(self) -> None:
        self.rows: dict[int, Timer] = {}

    def waiting(self) -> list[Timer]:
        return [timer for timer in self.rows.values() if not timer.expired]

    def update(self, timer: Timer) -> None:
        self.rows[timer.id] = timer


class World:
    """A host of two loops; :ivar woken: `(moment, loop, timer)` of every turn."""

    def __init__(self) -> None:
        self.config, self.state, self.clock = CONFIG, "active", VirtualClock()
        self.store = SimpleNamespace(timers=Rows(), tasks=SimpleNamespace(sweep=lambda: 0))
        self.running = set(LOOPS)
        self.woken: list[tuple[int, str, int]] = []
        self.drops: list[str] = []
        self.start()

    def start(self) -> None:
        self.attachments = [Triggers(), Timers()]
        for one in self.attachments:
            one.attach(self)  # type: ignore[arg-type]
            one.start()

    def stop(self) -> None:
        for one in self.attachments:
            one.stop()

    def changed(self) -> None:
        for one in self.attachments:
            one.config_changed()

    def obstacle(self, loop: str) -> str | None:
        return None if loop in self.running else f'loop "{loop}" is disabled'

    def wake(self, loop: str, dispatch: Any) -> str | None:
        assert self.obstacle(loop) is None, "nobody wakes a loop that does not run"
        assert self.state == "active"
        for timer in dispatch.token:
            self.woken.append((self.clock.now(), loop, timer.id))
        return None

    def emit(self, event: Any) -> None:
        for one in self.attachments:
            one.handle(event)

    def log(self, _level: str, event: str, _message: str, **fields: Any) -> None:
        self.drops.append(f"{event}:{fields.get('target')}")

    def note(self, *_: Any) -> None:
        raise AssertionError


WHEN = st.integers(0, 5000)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("once"), st.sampled_from(LOOPS), WHEN),
        st.tuples(st.just("every"), st.sampled_from(LOOPS), st.integers(200, 3000)),
        st.tuples(st.just("advance"), st.just(""), WHEN),
        st.tuples(st.just("toggle"), st.sampled_from(LOOPS), st.just(0)),
        st.tuples(st.sampled_from(["sleep", "restart"]), st.just(""), WHEN),
    ),
    max_size=25,
)


@settings(max_examples=200)
@given(STEPS)
def test_a_once_timer_fires_once_and_a_recurring_one_never_twice_for_one_moment(steps: list[Any]) -> None:
    async def play() -> None:
        world = World()
        for kind, loop, number in steps:
            await act(world, kind, loop, number)
        world.running, world.state = set(LOOPS), "active"
        world.changed()
        await world.clock.advance(5001)
        judge(world)

    asyncio.run(play())


async def act(world: World, kind: str, loop: str, number: int) -> None:
    now = world.clock.now()
    if kind in {"once", "every"}:
        schedule = Schedule("once", at=now + number) if kind == "once" else Schedule("interval", every_ms=number)
        text = str(schedule.as_json()).replace("'", '"')
        identity = len(world.store.timers.rows) + 1
        first = schedule.first(now) or 0
        world.store.timers.rows[identity] = Timer(identity, text, first, ("agent",), loop=loop)
        world.emit(SimpleNamespace(type="timer", data={"added": identity}, loop="main"))
    elif kind == "advance":
        await world.clock.advance(number)
    elif kind == "toggle":
        world.running ^= {loop}
        world.changed()
    elif kind == "sleep":
        world.state = "suspended"
        world.changed()
        await world.clock.advance(number)
        world.state = "active"
        world.changed()
    else:
        world.stop()
        await world.clock.advance(number)
        world.start()


def judge(world: World) -> None:
    for identity, timer in world.store.timers.rows.items():
        moments = [moment for moment, loop, fired in world.woken if fired == identity and loop == timer.loop]
        assert len(moments) == sum(fired == identity for _, _, fired in world.woken), "only its own loop is woken"
        if timer.is_once:
            assert len(moments) == 1
            assert (timer.expired, timer.run_count) == (True, 1)
        else:
            assert moments == sorted(set(moments)), "never twice for one moment"
            assert timer.next_wake_at > world.clock.now()
            assert timer.run_count >= len(moments)
            if moments:
                every = timer.schedule.every_ms or 0
                assert timer.next_wake_at - world.clock.now() <= every, "it keeps its rhythm"


def test_a_held_timer_is_told_of_once_however_often_time_moves() -> None:
    async def play() -> None:
        world = World()
        world.running = set()
        await act(world, "once", "a", 10)
        for _ in range(5):
            await world.clock.advance(1000)
            world.changed()
        assert world.drops == ["loop_dispatch_dropped:a"]
        assert world.woken == []

    asyncio.run(play())

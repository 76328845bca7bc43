"""When a failed call is tried again: `config.recovery` as a pure policy, and a model that follows it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from adf_format.models.port import Completion, Model, ModelError


@dataclass(frozen=True)
class RecoveryPolicy:
    """How often and how late a call is repeated (config.md 2.10); delays double, up to a limit.

    :ivar auto_retry: False: never
    :ivar max_attempts: calls in all, the first one included
    :ivar base_delay_ms: wait before the second call
    :ivar max_delay_ms: longest wait
    """

    auto_retry: bool = True
    max_attempts: int = 5
    base_delay_ms: int = 15_000
    max_delay_ms: int = 300_000

    @classmethod
    def from_config(cls, config: object) -> RecoveryPolicy:
        """Read `recovery` of an agent configuration; what is missing or out of range takes its default."""
        section = config.get("recovery") if isinstance(config, dict) else None
        found = section if isinstance(section, dict) else {}
        return cls(
            auto_retry=found.get("auto_retry") is not False,
            max_attempts=_within(found.get("max_attempts"), 100, cls.max_attempts),
            base_delay_ms=_within(found.get("base_delay_ms"), 3_600_000, cls.base_delay_ms),
            max_delay_ms=_within(found.get("max_delay_ms"), 86_400_000, cls.max_delay_ms),
        )

    def delay_ms(self, failed: int, error: ModelError) -> int | None:
        """Return how long to wait after `failed` failed calls (1 or more), None to give up.

        What the provider asks for counts if it is longer than our own delay and not longer than the limit.
        """
        if not (self.auto_retry and error.transient) or failed >= self.max_attempts:
            return None
        doubled = self.base_delay_ms << min(failed - 1, 32)
        return min(max(doubled, error.retry_after_ms or 0), max(self.max_delay_ms, self.base_delay_ms))


async def _sleep_ms(delay: int) -> None:
    await asyncio.sleep(delay / 1000)


class Retrying:
    """A model that repeats failed calls of another one, for callers that have no clock of their own.

    :param sleep: waits so many milliseconds
    """

    def __init__(
        self, model: Model, policy: RecoveryPolicy, sleep: Callable[[int], Awaitable[None]] = _sleep_ms
    ) -> None:
        self._model, self._policy, self._sleep = model, policy, sleep

    async def complete(self, **request: Any) -> Completion:
        """Ask until there is an answer or the policy gives up.

        :raises ModelError: the last failure
        """
        failed = 0
        while True:
            try:
                return await self._model.complete(**request)
            except ModelError as error:
                failed += 1
                delay = self._policy.delay_ms(failed, error)
                if delay is None:
                    raise
            await self._sleep(delay)


def _within(value: object, most: int, default: int) -> int:
    usable = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most
    return value if usable else default  # type: ignore[return-value]

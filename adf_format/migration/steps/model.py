"""What a step is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from adf_format.migration.work import Work


@dataclass(frozen=True)
class Step:
    """One step of the ladder; it runs in a transaction of its own, which also writes the new version.

    :ivar source: version it starts from; :ivar target: the next one
    :ivar rules: ids of the rules that describe it
    :ivar rewrites: what it touches, for readers
    """

    source: int
    target: int
    rules: tuple[str, ...]
    rewrites: str
    run: Callable[[Work], None]

    @property
    def name(self) -> str:
        """Its name, `27->28`."""
        return f"{self.source}->{self.target}"


def nothing(_work: Work) -> None:
    """Change nothing but the version."""

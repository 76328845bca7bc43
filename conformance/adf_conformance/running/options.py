"""What a run is asked to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from adf_conformance.requirements import SPEC, Selection
from adf_conformance.running.expectations import Expectation

DEFAULT_SECONDS = 300.0
"""Time of a run without `--budget`: with two jobs it ends within six minutes on two cores."""
DEFAULT_EXAMPLES = 60
THOROUGH_SECONDS = 3600.0


@dataclass(frozen=True)
class Options:
    """What a run is asked to do.

    :ivar seconds: time after which no generated check draws another scenario
    :ivar examples: scenarios of a generated check; None: as many as time allows
    :ivar cases: folder for cases of failures, None: they are not saved
    :ivar env: environment variables of the driver, besides ours
    """

    command: tuple[str, ...]
    selection: Selection = field(default_factory=Selection)
    seconds: float = DEFAULT_SECONDS
    examples: int | None = DEFAULT_EXAMPLES
    seed: int = 0
    jobs: int = 1
    spec: str = SPEC
    patience: float = 10.0
    expectations: tuple[Expectation, ...] = ()
    cases: Path | None = None
    env: dict[str, str] = field(default_factory=dict)
    shrink_seconds: float = 20.0
    confirmations: int = 2

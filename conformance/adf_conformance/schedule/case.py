"""A case: a schedule with the names of its judges, as one small file that can be replayed without Hypothesis."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from adf_conformance.schedule import steps
from adf_conformance.schedule.outcome import Step

FORMAT = 1


class NoCase(Exception):  # noqa: N818 - a state of a file
    """The file is no case, or one of another format."""


@dataclass
class Case:
    """One scenario.

    :ivar check: id of the check that it belongs to
    :ivar requirement: the requirement that it shows to be broken; empty for a case of the suite itself
    :ivar message: how it was broken
    :ivar law: requirement that a step breaks which says none itself
    :ivar judges: names of the judges that watch
    :ivar found: the driver that failed, and the seed
    """

    name: str
    check: str
    steps: list[Step]
    judges: list[str] = field(default_factory=list)
    law: str = ""
    requirement: str = ""
    message: str = ""
    found: dict[str, Any] = field(default_factory=dict)
    format: int = FORMAT

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=True) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Case:
        """Read a case.

        :raises NoCase: the file is no case
        """
        try:
            told = json.loads(path.read_bytes())
            case = cls(**{key: value for key, value in told.items() if key in cls.__dataclass_fields__})
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise NoCase(f"{path}: no case ({error})") from None
        if case.format != FORMAT:
            raise NoCase(f"{path}: a case of format {case.format}, this suite reads format {FORMAT}")
        for step in case.steps if isinstance(case.steps, list) else [None]:
            if problem := steps.problem(step):
                raise NoCase(f"{path}: {problem}")
        return case

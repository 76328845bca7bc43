"""A plugin of pytest: `pytest --adf-driver ./driver` runs the suite, one item per requirement.

Nothing of the suite is imported until the option is used. Items carry the markers `requirement` and `profile`, so that
`-m profile` and `-k` select, and properties for JUnit.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from adf_conformance.requirements import Requirement
    from adf_conformance.running import Report, Row

_REPORT: pytest.StashKey[Any] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("adf-conformance", "conformance of programs that work with .adf files")
    group.addoption("--adf-driver", metavar="CMD", help="command that starts the driver; nothing is run without it")
    group.addoption("--adf-profile", action="append", metavar="NAME", help="only this profile; may be repeated")
    group.addoption("--adf-budget", metavar="TIME", default="60s", help="time for drawing scenarios, 60s by default")
    group.addoption("--adf-seed", type=int, default=0, metavar="N", help="other scenarios for another seed")
    group.addoption("--adf-expect", metavar="FILE", help="TOML file of expected failures")
    group.addoption("--adf-cases", metavar="FOLDER", default="adf-cases", help="where cases of failures are saved")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers."""
    config.addinivalue_line("markers", "requirement(id): the requirement of the .adf format that a test is about")
    config.addinivalue_line("markers", "profile(name): the profile of the conformance suite that a test belongs to")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add an item per requirement, before others select among the items."""
    if not config.getoption("--adf-driver"):
        return
    from adf_conformance.requirements import Selection, load

    profiles = tuple(config.getoption("--adf-profile") or ())
    suite = Suite.from_parent(session, name="adf-conformance", nodeid="adf-conformance")
    chosen = Selection(profiles).of(load().values())
    items.extend(RequirementItem.from_parent(suite, name=one.id, requirement=one) for one in chosen)


class Suite(pytest.Collector):
    """The collector that all items belong to."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield nothing: the items are added by the plugin."""
        return iter(())


class NotKept(Exception):  # noqa: N818 - shown to people
    """A requirement is not kept, or it is not known whether it is."""


class RequirementItem(pytest.Item):
    """One requirement."""

    def __init__(self, *, requirement: Requirement, **rest: Any) -> None:
        super().__init__(**rest)
        self.requirement = requirement
        self.add_marker(pytest.mark.requirement(requirement.id))
        self.add_marker(pytest.mark.profile(requirement.profile))
        self.user_properties += [
            ("requirement", requirement.text),
            ("level", requirement.level),
            ("source", ", ".join(requirement.source)),
        ]

    def runtest(self) -> None:
        """Take the verdict from the run, which the first item starts."""
        row = next(row for row in _report(self.session).rows if row.requirement.id == self.requirement.id)
        self.user_properties += [("verdict", str(row.verdict)), ("exercised", row.judgement.exercised)]
        _conclude(row)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show words, not a traceback of the suite."""
        if isinstance(excinfo.value, NotKept):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Say where it is: in the list of requirements."""
        return self.path, None, f"{self.requirement.id}: {self.requirement.text}"


def _conclude(row: Row) -> None:
    """End an item as its verdict says."""
    verdict, note = str(row.verdict), row.judgement.note
    if verdict == "pass":
        return
    if verdict == "expected-fail":
        pytest.xfail(note)
    if verdict == "not-claimed" or row.judgement.by_design or not row.counts:
        pytest.skip(f"{verdict}: {note}")
    told = [f"{verdict}: {row.requirement.text}", f"  {note}"]
    if row.judgement.failure:
        steps = row.judgement.failure.timeline[-15:]
        told += [f"  {step['step']:>3} {step['do']:<9} {step['says'][:120]}" for step in steps]
    if row.case:
        told.append(f"  saved as {row.case}; adf-conformance replay plays it again")
    raise NotKept("\n".join(told))


def _report(session: pytest.Session) -> Report:
    """Return the report of the run of this session; the run is done when it is first asked for."""
    if _REPORT not in session.stash:
        session.stash[_REPORT] = _run(session)
    report: Report = session.stash[_REPORT]
    return report


def _run(session: pytest.Session) -> Report:
    from adf_conformance.cli.options import command_of, seconds_of
    from adf_conformance.requirements import Selection
    from adf_conformance.running import Options, load_expectations, run

    config = session.config
    ids = tuple(item.requirement.id for item in session.items if isinstance(item, RequirementItem))
    expect = config.getoption("--adf-expect")
    options = Options(
        command_of(config.getoption("--adf-driver")),
        Selection(patterns=ids),
        seconds_of(config.getoption("--adf-budget")),
        seed=config.getoption("--adf-seed"),
        expectations=load_expectations(Path(expect)) if expect else (),
        cases=Path(config.getoption("--adf-cases")),
    )
    return run(options)

"""Do a run: shake hands, run the checks side by side within the time, make a report."""

from __future__ import annotations

import datetime as dt
import multiprocessing
import shlex
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from adf_conformance.checks import all_checks
from adf_conformance.checks.bench import Bench, Terms
from adf_conformance.checks.registry import Check
from adf_conformance.protocol import Driver, DriverFault, HarnessError, Hello, ProtocolError, Refused
from adf_conformance.requirements import Requirement, load
from adf_conformance.running.expectations import unmatched
from adf_conformance.running.options import Options
from adf_conformance.running.report import Report, Row
from adf_conformance.running.verdicts import CheckResult, Judgement, Verdict, judge
from adf_conformance.schedule import Impossible

Progress = Callable[[CheckResult, int, int], None]


def suite_name() -> str:
    """Return the name of the suite with its version."""
    try:
        return f"adf-conformance {version('adf-format')}"
    except PackageNotFoundError:
        return "adf-conformance"


def run(options: Options, progress: Progress | None = None) -> Report:
    """Run the checks of the selected requirements and make a report.

    :param progress: called after each check with its result, how many are done, and how many there are
    """
    started = time.monotonic()
    requirements = options.selection.of(load(options.spec).values())
    known = list(load(options.spec))
    hello, trouble = shake_hands(options)
    capabilities = hello.capabilities if hello else frozenset()
    checks = _needed(requirements, capabilities) if hello else []
    results = {}
    for result in _results(checks, options, hello, started):
        results[result.check] = result
        if progress:
            progress(result, len(results), len(checks))
    rows = _rows(requirements, results, capabilities, options, trouble)
    told = (
        {**asdict(hello), "capabilities": sorted(hello.capabilities), "storage": list(hello.storage)} if hello else {}
    )
    return Report(
        options.spec,
        suite_name(),
        shlex.join(options.command),
        options.seed,
        time.monotonic() - started,
        told,
        rows,
        [results[check.id] for check in checks if check.id in results],
        trouble,
        unmatched(options.expectations, known),
    )


def shake_hands(options: Options) -> tuple[Hello | None, str]:
    """Start the driver once and let it introduce itself; else say why it cannot."""
    said = ""
    try:
        with tempfile.TemporaryDirectory() as place, Driver(options.command, env=options.env) as driver:
            try:
                return driver.initialize(Path(place)), ""
            finally:
                said = driver.stderr_tail.strip()[-500:]
    except (DriverFault, Refused) as error:
        return None, f"the driver does not introduce itself: {error}{f'; its last words: {said}' if said else ''}"


def _needed(requirements: Sequence[Requirement], capabilities: frozenset[str]) -> list[Check]:
    """Return the checks to run: named ones first, so that they are done whatever the time."""
    able = [check for check in all_checks().values() if {check.profile, *check.needs} <= capabilities]
    wanted = [check for check in able if any(one.covered_by(check.id) for one in requirements)]
    return sorted(wanted, key=lambda check: (check.generated, check.id))


def _results(checks: Sequence[Check], options: Options, hello: Hello | None, started: float) -> Iterator[CheckResult]:
    if not checks or hello is None:
        return
    terms = Terms(
        options.command,
        options.seed,
        options.examples,
        options.patience,
        options.shrink_seconds,
        options.confirmations,
        hello.capabilities,
        hello.storage,
        options.env,
    )
    named = [check for check in checks if not check.generated]
    generated = [check for check in checks if check.generated]
    with _pool(options.jobs) as do:
        yield from do([(check.id, terms, options.seconds) for check in named])
        left = max(options.seconds - (time.monotonic() - started), 1.0) * options.jobs
        total = sum(check.weight for check in generated)
        yield from do([(check.id, terms, left * check.weight / total) for check in generated])


class _pool:  # noqa: N801 - a small helper
    """Do work in order of completion, in this process or in several."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._executor: ProcessPoolExecutor | None = None

    def __enter__(self) -> Callable[[Sequence[tuple[str, Terms, float]]], Iterator[CheckResult]]:
        if self._jobs > 1:
            self._executor = ProcessPoolExecutor(self._jobs, mp_context=multiprocessing.get_context("spawn"))
        return self._do

    def __exit__(self, *_: object) -> None:
        if self._executor:
            self._executor.shutdown(cancel_futures=True)

    def _do(self, work: Sequence[tuple[str, Terms, float]]) -> Iterator[CheckResult]:
        if self._executor is None:
            yield from (run_check(*item) for item in work)
            return
        yield from (future.result() for future in [self._executor.submit(run_check, *item) for item in work])


def run_check(name: str, terms: Terms, seconds: float = 3600.0) -> CheckResult:
    """Run one check and return what it saw; whatever goes wrong becomes its `fault`."""
    bench, started, fault = Bench(name, terms, seconds), time.monotonic(), None
    try:
        all_checks()[name].run(bench)
        _demand_known(name, bench)
    except ProtocolError as error:
        fault = ("protocol-error", str(error))
    except (DriverFault, Refused) as error:
        fault = ("untestable", str(error))
    except (HarnessError, Impossible) as error:
        fault = ("harness-error", f"{type(error).__name__}: {error}")
    except Exception as error:  # noqa: BLE001 - a fault of ours must be a verdict, not the end of the run
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        fault = ("harness-error", f"{type(error).__name__}: {error} ({where})")
    finally:
        bench.close()
    return CheckResult(
        name,
        dict(bench.ledger.exercised),
        bench.failures,
        fault,
        bench.malformed,
        bench.examples,
        time.monotonic() - started,
    )


def _demand_known(name: str, bench: Bench) -> None:
    """Demand that a check spoke only of requirements that exist.

    :raises HarnessError: it did not
    """
    if unknown := bench.ledger.exercised.keys() - load().keys():
        raise HarnessError(f"the check {name} speaks of {', '.join(sorted(unknown))}, which are no requirements")


def _rows(
    requirements: Sequence[Requirement],
    results: Mapping[str, CheckResult],
    capabilities: frozenset[str],
    options: Options,
    trouble: str,
) -> list[Row]:
    today = dt.datetime.now(dt.UTC).date()
    rows = []
    for requirement in requirements:
        if trouble and not requirement.untestable:
            found = _untested(trouble)
        else:
            found = judge(requirement, results, capabilities, options.expectations, today)
        rows.append(Row(requirement, found, options.selection.counts(requirement)))
    return [_saved(row, options.cases) for row in rows]


def _untested(trouble: str) -> Judgement:
    return Judgement(Verdict.UNTESTABLE, f"prerequisite failed: {trouble.partition(':')[0]}")


def _saved(row: Row, folder: Path | None) -> Row:
    """Write the case of a failure."""
    failure = row.judgement.failure
    if folder is None or failure is None:
        return row
    name = f"{row.requirement.id}.json"
    failure.case.save(folder / name)
    return replace(row, case=name)

"""Every single-fault mutation of the rich sample is caught at its place, or on the list of tolerated ones.

The mutations come from the schemas, the registries and the rows of the sample; mutations of declarations are
enumerated in `tests/validation/test_schema_mutations.py`.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase

import pytest

from adf_format.schemas import document, storage_version, urns
from mutation import bench
from mutation.audit_faults import audit_faults
from mutation.bench import FileBench, Found, MemoryBench
from mutation.fault import Fault, unique
from mutation.json_faults import ANNOTATIONS, HANDLED
from mutation.json_groups import VERSIONS, JsonCase, config_case, json_cases
from mutation.meta_faults import meta_faults, prepared
from mutation.row_faults import row_faults
from mutation.slots import text_of
from mutation.tolerated import TOLERATED
from mutation.transcript_faults import transcript_faults

END_TO_END = 40  # mutations of each JSON group that also go through a file on disk
PARTS = 3  # of the mutations of a configuration, so that they can run side by side
LEAST_FILE = {  # classes of mutations, and how many there are at least at each version
    "rows": (row_faults, 500),
    "audit": (audit_faults, 180),
    "transcript": (transcript_faults, 90),
    "meta": (meta_faults, 60),
}
LEAST_JSON = {21: 40, 24: 200, 28: 0, 32: 2400}
LEAST_CONFIG = {28: 2500, 32: 2700}


@pytest.fixture(scope="module", autouse=True)
def _no_leftovers() -> Iterator[None]:
    yield
    bench.clean_up()


def reason(version: int, fault: Fault) -> str | None:
    """Return why a mutation is tolerated, None if it must be caught."""
    name = f"{version}/{fault.id}"
    return next((why for pattern, why in TOLERATED.items() if fnmatchcase(name, pattern)), None)


class Tally:
    """Counts what was caught and what was tolerated, by class, and remembers what is wrong."""

    def __init__(self, version: int) -> None:
        self._version = version
        self.caught: Counter[str] = Counter()
        self.tolerated: Counter[str] = Counter()
        self.missed: list[str] = []
        self.stale: list[str] = []

    def count(self, fault: Fault, before: Found, after: Found) -> None:
        found, why = fault.caught_by(before, after), reason(self._version, fault)
        group = fault.id.split("/")[0]
        if found and why is None:
            self.caught[group] += 1
        elif found:
            self.stale.append(f"{fault.id} is tolerated, but {found[0].rule} reports it: {found[0].message}")
        elif why is None:
            elsewhere = sorted({f"{place.rule} in {place.table}.{place.column}" for place in after - before})
            self.missed.append(f"{fault.id}{f' (only: {elsewhere})' if elsewhere else ''}")
        else:
            self.tolerated[group] += 1

    def close(self, least: int) -> None:
        """Print the counts and judge them."""
        total = sum((self.caught + self.tolerated).values())
        sys.stdout.write(f"caught {dict(self.caught)}, tolerated {dict(self.tolerated)}\n")
        assert not self.missed, "\n".join(self.missed)
        assert not self.stale, "\n".join(self.stale)
        assert total >= least, "there are fewer mutations than there were"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("group", LEAST_FILE)
def test_every_fault_of_rows_audit_transcript_and_meta_is_caught_in_a_file(group: str, version: int) -> None:
    """Each mutation is made in a file of its own and goes through `validate_file`."""
    make, least = LEAST_FILE[group]
    trial = FileBench(version, prepared(version) if group == "meta" else None)
    tally = Tally(version)
    for fault in unique(make(version)):
        tally.count(fault, trial.before, trial.run(fault.change))
    tally.close(least)


@pytest.mark.parametrize("version", [version for version, least in LEAST_JSON.items() if least])
def test_every_fault_of_every_json_value_is_caught(version: int) -> None:
    """Columns, meta values, snapshots, envelopes, skills files: each keyword of each schema, each key, the text."""
    trial, tally = MemoryBench(version), Tally(version)
    for case in json_cases(version):
        _try_case(trial, tally, case, case.faults)
    tally.close(LEAST_JSON[version])


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("version", LEAST_CONFIG)
def test_every_fault_of_the_configuration_is_caught(version: int, part: int) -> None:
    """Every documented field of every section, loops included."""
    case = config_case(version)
    assert len(case.faults) >= LEAST_CONFIG[version]
    tally = Tally(version)
    _try_case(MemoryBench(version), tally, case, case.faults[part::PARTS])
    tally.close(LEAST_CONFIG[version] // PARTS - 1)


def _try_case(trial: MemoryBench, tally: Tally, case: JsonCase, faults: list[Fault]) -> None:
    with trial.changed(lambda connection: case.slot.put(connection, text_of(case.base))):
        before = trial.run((case.slot.table,))
    for fault in faults:
        with trial.changed(fault.change):
            tally.count(fault, before, trial.run(fault.tables))


def _sampled(version: int, group: str) -> list[tuple[JsonCase, Fault]]:
    """Choose mutations of the JSON groups, always the same ones."""
    cases = [config_case(version)] if group == "config" else list(json_cases(version))
    pairs = [(case, fault) for case in cases for fault in case.faults]
    return random.Random(f"{group}/{version}").sample(pairs, min(END_TO_END, len(pairs)))


@pytest.mark.parametrize(("group", "version"), [("json", 24), ("json", 32), ("config", 28), ("config", 32)])
def test_what_is_caught_in_memory_is_caught_in_a_file(group: str, version: int) -> None:
    """A seeded sample of the JSON mutations goes through files on disk, with the same verdict for each."""
    tally = Tally(version)
    chosen = _sampled(version, group)
    for case in {id(case): case for case, _ in chosen}.values():
        trial = FileBench(version, lambda connection, case=case: case.slot.put(connection, text_of(case.base)))
        for other, fault in chosen:
            if other is case:
                tally.count(fault, trial.before, trial.run(fault.change))
    tally.close(len(chosen))


def _all_ids(version: int) -> list[str]:
    makers: list[Callable[[int], Iterator[Fault]]] = [make for make, _ in LEAST_FILE.values()]
    found = [fault.id for make in makers for fault in make(version)]
    found += [fault.id for case in json_cases(version) for fault in case.faults]
    return found + ([fault.id for fault in config_case(version).faults] if version in LEAST_CONFIG else [])


def test_every_tolerated_pattern_names_a_mutation_and_has_a_reason() -> None:
    """What was renamed or cannot happen any more leaves the list."""
    every = [f"{version}/{name}" for version in VERSIONS for name in _all_ids(version)]
    for pattern, why in TOLERATED.items():
        assert why
        assert any(fnmatchcase(name, pattern) for name in every), pattern


def test_every_schema_keyword_has_a_mutation() -> None:
    """A keyword that the generator does not know would silently have no mutation."""
    used = {keyword for urn in urns() if urn.split(":")[2] in PARTS_OF_FILES for keyword in _keywords(document(urn))}
    assert used <= HANDLED | ANNOTATIONS, used - HANDLED - ANNOTATIONS


PARTS_OF_FILES = {"tables", "values", "config", "audit"}
CONTAINERS = {"properties", "$defs"}
NO_SCHEMAS = {"examples", "enum", "const", "default", "x-adf-table", "x-adf-column", "sources", "locators"}


def _keywords(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        if "sources" in schema:
            return
        for keyword, inner in schema.items():
            yield keyword
            if keyword in CONTAINERS:
                for value in inner.values():
                    yield from _keywords(value)
            elif keyword not in NO_SCHEMAS and not keyword.startswith("x-adf-"):
                yield from _keywords(inner)
    elif isinstance(schema, list):
        for item in schema:
            yield from _keywords(item)


def test_the_sample_has_a_row_of_every_table() -> None:
    """A table without rows would have no mutation of its columns."""
    for version in VERSIONS:
        tables = {fault.tables[0] for fault in row_faults(version)}
        assert tables == set(storage_version(version).tables)

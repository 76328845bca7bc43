"""Each rule of the contract has a test that bears its name, and each known fault is excluded by one of them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CONTRACT = """
    001 002 003 005 006 008 009 010 011 012 013 014 015 016 018 019 020 021 023 030 033 034 038 039 040 041
    042 044 045 046 047 048 049 050 051 052 053 056 058 059 060 070 077 080 081 082 083 090 092 093 094 100
    101 103 104 105 106 111 112 113 120 121 124 125 132 140 141 143 144 150 151 153 155 160 161 162 163 164
    169 170 171 172 175 176 190 193 194 197 201 210 211 212 213 214 215 216 219 230 231 233 235 236 237 238
    239 241 242 243 244 250 251 252 257 260 262 263 264 265 270 272 273
""".split()  # noqa: SIM905 - a list of numbers, as one reads it
"""Numbers of the rules of loops.md that are documented contract (tags D, M, S)."""
FAULTS = {
    1: "163 171",
    2: "172",
    3: "164 165",
    4: "160",
    5: "160",
    6: "166",
    7: "168",
    8: "169",
    9: "167",
    10: "163 179",
    11: "176",
    12: "142",
    13: "106",
    14: "105 106 111",
    15: "231 243",
    16: "242",
    17: "235",
    18: "239",
    19: "233 234",
    20: "240",
    21: "100 101 108",
    22: "109",
    23: "110",
    24: "094 100",
    25: "095",
    26: "103 105",
    27: "120",
    28: "076 090",
    29: "054 055",
    30: "036 039",
    31: "037",
    32: "049",
    33: "049",
    34: "056",
    35: "057",
    36: "059",
    37: "047",
    38: "192",
    39: "122",
    40: "022",
    41: "023",
    42: "042",
    43: "077",
    44: "246",
    45: "271",
    46: "217 254",
    47: "134 255",
    48: "253",
    49: "256",
    50: "162 263",
    51: "177 214",
    52: "199",
    53: "003 004",
}
"""Numbers of the faults in loops.md 9, and the rules that forbid each."""
BUGS = range(1, 31)
"""Numbers of the faults in storage.md 9."""


@cache
def covered() -> frozenset[str]:
    """Return the ids in the names of all tests, such as `LOOP-023`."""
    names = (name for path in TESTS.rglob("test_*.py") for name in re.findall(r"def (test_\w+)", path.read_text()))
    found = (match for name in names for match in re.findall(r"(loop|bug)_(\d+)", name, re.IGNORECASE))
    return frozenset(f"{kind.upper()}-{number}" for kind, number in found)


@cache
def mentioned() -> frozenset[str]:
    """Return the ids that tests speak of anywhere."""
    return frozenset(match for path in TESTS.rglob("test_*.py") for match in re.findall(r"BUG-\d+", path.read_text()))


@pytest.mark.parametrize("number", CONTRACT)
def test_a_rule_of_the_contract_has_a_test(number: str) -> None:
    """By name."""
    assert f"LOOP-{number}" in covered()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_known_fault_of_loops_is_excluded(fault: int) -> None:
    """By the test of a rule that forbids it."""
    assert any(f"LOOP-{number}" in covered() for number in FAULTS[fault].split())


@pytest.mark.parametrize("number", BUGS)
def test_a_known_fault_of_storage_is_excluded(number: int) -> None:
    """By name, or where another room is concerned, by a test that says so."""
    assert f"BUG-{number:02d}" in covered() | mentioned()

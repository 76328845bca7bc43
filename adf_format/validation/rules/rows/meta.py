"""The keys of `adf_meta`: required ones, protections, and the form of each value."""

from __future__ import annotations

from typing import Any

from adf_format.errors import JsonTextError
from adf_format.jsontext import decode
from adf_format.schemas import metakeys
from adf_format.schemas.checker import brief
from adf_format.validation.context import Context, Meta, Pass
from adf_format.validation.explained import explained
from adf_format.validation.rule import Severity, rule

VERSION_KEY = "adf_schema_version"  # ADF104 says whether it is there and a number
MIRRORS = frozenset({"adf_name", "adf_handle", "adf_updated_at"})

MISSING = rule(
    "ADF320",
    "meta-key-missing",
    Severity.ERROR,
    what="`adf_meta` holds the keys that every file has.",
    why="Without its versions a file cannot be told apart from a foreign or half-written one.",
    source=("STO-002", "STO-038"),
    fires="DELETE FROM adf_meta WHERE key = 'adf_version'",
    silent="DELETE FROM adf_meta WHERE key = 'adf_did_history'",
)
PROTECTION = rule(
    "ADF321",
    "meta-protection-differs",
    Severity.WARNING,
    what="A key of the format has the protection that the format gives it.",
    why="An agent can overwrite or delete a key that should be `readonly` with an ordinary tool call.",
    source=("STO-038", "STO-039", "MIG-015"),
    fires="UPDATE adf_meta SET protection = 'none' WHERE key = 'adf_did'",
    silent="UPDATE adf_meta SET protection = 'readonly' WHERE key = 'progress'",
)
MIRROR_PROTECTION = rule(
    "ADF322",
    "meta-mirror-unprotected",
    Severity.INFO,
    what="The copies of name, handle and update time in `adf_meta` are `readonly`.",
    why="The reference runtime creates them late and without protection; nothing reads authority from them.",
    source=("STO-039",),
    fires="UPDATE adf_meta SET protection = 'none' WHERE key = 'adf_name'",
    silent="UPDATE adf_meta SET protection = 'readonly' WHERE key = 'adf_name'",
)
VALUE = rule(
    "ADF323",
    "meta-value",
    Severity.ERROR,
    what="The value of a key of the format has its form.",
    why="Runtimes read these values without asking.",
    source=("STO-038", "CFG 4.8"),
    fires="UPDATE adf_meta SET value = '0.3' WHERE key = 'adf_version'",
    silent="UPDATE adf_meta SET value = '[\"did:key:z6MkOld\"]' WHERE key = 'adf_did_history'",
)
VALUE_TOLERATED = rule(
    "ADF324",
    "meta-value-tolerated",
    Severity.WARNING,
    what="The value of a key of the format has the form that current writers give it.",
    why="Readers treat it as absent or unknown.",
    source=("CFG 4.8", "ROW-025", "ROW-031"),
    fires="UPDATE adf_meta SET value = 'soon' WHERE key = 'adf_created_at'",
    silent="UPDATE adf_meta SET value = 'pondering' WHERE key = 'status'",
)
RETIRED = rule(
    "ADF325",
    "meta-key-retired",
    Severity.WARNING,
    what="A key that a migration removes is gone.",
    why="Its presence says that a migration stopped half way, or that an old tool wrote to a newer file.",
    source=("MIG-020", "MIG-030", "STO-038"),
    fires="INSERT INTO adf_meta (key, value, protection) VALUES ('adf_attestations', '[]', 'none')",
    silent="INSERT INTO adf_meta (key, value, protection) VALUES ('attestations', '[]', 'none')",
)
LOOP_KEY = rule(
    "ADF326",
    "meta-key-of-unknown-loop",
    Severity.INFO,
    what="A key kept per loop names a loop that the configuration declares.",
    why="It is left over from a deleted loop; a later loop of that name would inherit it.",
    source=("STO-038", "CLS-007"),
    since=29,
    fires=(
        "INSERT INTO adf_meta (key, value, protection) VALUES ('context_baseline_tokens:drafter',"
        ' \'{"tokens":10,"estimated":false,"updated_at":1767225600000}\', \'readonly\')'
    ),
    silent=(
        "INSERT INTO adf_meta (key, value, protection) VALUES ('context_baseline_tokens:gardener',"
        ' \'{"tokens":10,"estimated":false,"updated_at":1767225600000}\', \'readonly\')'
    ),
)
RULES = (MISSING, PROTECTION, MIRROR_PROTECTION, VALUE, VALUE_TOLERATED, RETIRED, LOOP_KEY)


def check(context: Context) -> None:
    """Look at every key of the format."""
    for entry in metakeys.registry():
        if entry.required and entry.name not in context.meta and entry.name != VERSION_KEY:
            context.report(MISSING, f"the key {entry.name!r} is missing", table="adf_meta")
    for key, row in context.meta.items():
        known = metakeys.find(key) if isinstance(key, str) else None
        if known is not None:
            _check_key(context, key, row, known)


def _check_key(context: Context, key: str, row: Meta, entry: metakeys.MetaKey) -> None:
    place: dict[str, Any] = {"table": "adf_meta", "rowid": row.rowid}
    if entry.until is not None and context.version.number > entry.until:
        context.report(RETIRED, f"the key {entry.name!r} belongs to schema {entry.until} and older", **place)
        return
    if entry.protection not in (None, row.protection) and isinstance(row.protection, str):
        mirror = key in MIRRORS
        name = "a copy" if mirror else repr(entry.name)
        text = f"{name} is {brief(row.protection)} where {brief(entry.protection)} is expected"
        broken = MIRROR_PROTECTION if mirror else PROTECTION
        context.report(broken, text, **place, column="protection")
    if entry.per_loop and ":" in key:
        loop = key.partition(":")[2]
        if loop == "main":
            context.report(LOOP_KEY, f"{entry.name!r} is kept under the name of main, whose key has no name", **place)
        elif loop not in context.declared_loops:
            context.report(LOOP_KEY, f"{entry.name!r} is kept for a loop that is not declared", **place)
    if isinstance(row.value, str) and key != VERSION_KEY:
        _check_value(context, row.value, entry, place)


def _check_value(context: Context, text: str, entry: metakeys.MetaKey, place: dict[str, Any]) -> None:
    value: Any = text
    if entry.json:
        try:
            decoded = decode(text)
        except JsonTextError as error:
            context.report(VALUE_TOLERATED, f"{entry.name!r} is not JSON: {error.message}", **place, column="value")
            return
        value = decoded.value
        if decoded.duplicates:
            text = f"{entry.name!r}: an object names a key more than once"
            context.report(VALUE_TOLERATED, text, **place, column="value")
    if entry.check.is_valid(value):
        return
    for problem in explained(context, entry.check, value, f"the value of {entry.name!r}"):
        broken = VALUE if problem.severity == "error" else VALUE_TOLERATED
        pointer = problem.pointer or None
        context.report(broken, f"{entry.name!r}: {problem.message}", **place, column="value", pointer=pointer)


PASSES = (Pass("keys of adf_meta", RULES, check, ("adf_meta",)),)

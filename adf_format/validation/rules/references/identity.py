"""Identity rows: purpose and algorithm, encrypted forms, envelopes, and the key behind the DID."""

from __future__ import annotations

from typing import Any

from adf_format.errors import JsonTextError
from adf_format.jsontext import decode
from adf_format.rows import Row
from adf_format.schemas import checker
from adf_format.schemas.checker import brief
from adf_format.validation.context import Columns, Context, Visit
from adf_format.validation.explained import explained
from adf_format.validation.rule import Severity, rule

PRIVATE, PUBLIC = "crypto:signing:private_key", "crypto:signing:public_key"
ENVELOPES = {"crypto:envelope:identity": "identity-envelope", "crypto:envelope:credentials": "credentials-envelope"}
SEALED = 28  # bytes of an encrypted value at least: iv 12 + tag 16
SPKI_PREFIX = bytes.fromhex("302a300506032b6570032100")
PKCS8_PREFIX = bytes.fromhex("302e020100300506032b657004220420")

ALGORITHM = rule(
    "ADF740",
    "identity-algorithm-for-purpose",
    Severity.WARNING,
    what="The private signing key is sealed under `env:identity`, other `crypto:*` rows are plain, secrets are sealed"
    " under `env:credentials`; plain and the legacy algorithm are tolerated.",
    why="A runtime unlocks the two envelopes at different times; a row under the wrong one cannot be opened.",
    source=("CFG 4.7",),
    fires="UPDATE adf_identity SET encryption_algo = 'env:identity' WHERE purpose LIKE 'adapter:%'",
    silent="UPDATE adf_identity SET encryption_algo = 'plain' WHERE purpose LIKE 'adapter:%'",
)
SEALED_FORM = rule(
    "ADF741",
    "sealed-value-form",
    Severity.WARNING,
    what="A value sealed under an envelope has no salt and no key derivation parameters, and at least 28 bytes.",
    why="It cannot be opened: iv and tag alone take 28 bytes.",
    source=("CFG 4.7",),
    fires="UPDATE adf_identity SET value = x'00112233' WHERE purpose LIKE 'adapter:%'",
    silent="UPDATE adf_identity SET value = zeroblob(28) WHERE purpose LIKE 'adapter:%'",
)
ENVELOPE = rule(
    "ADF742",
    "envelope-shape",
    Severity.ERROR,
    what="An envelope descriptor is a JSON object with key slots of the documented form.",
    why="Every secret behind the envelope is lost to a reader that cannot parse it.",
    source=("CFG 4.7", "CFG K4"),
    fires="UPDATE adf_identity SET value = CAST('{\"v\":1}' AS BLOB) WHERE purpose = 'crypto:envelope:credentials'",
    silent=(
        "UPDATE adf_identity SET value = CAST(json_set(CAST(value AS TEXT), '$.note', 'x') AS BLOB)"
        " WHERE purpose = 'crypto:envelope:credentials'"
    ),
)
ENVELOPE_TOLERATED = rule(
    "ADF743",
    "envelope-shape-tolerated",
    Severity.WARNING,
    what="An envelope descriptor has the form that current writers give it.",
    why="The specification speaks of a bare list of key slots, the reference runtime writes an object.",
    source=("CFG K4",),
    fires=(
        "UPDATE adf_identity SET value = CAST(json_extract(CAST(value AS TEXT), '$.slots') AS BLOB)"
        " WHERE purpose = 'crypto:envelope:credentials'"
    ),
    silent="UPDATE adf_identity SET code_access = 0 WHERE purpose = 'crypto:envelope:credentials'",
)
SIGNING_KEY = rule(
    "ADF744",
    "signing-key-form",
    Severity.WARNING,
    what="A plain signing key is an Ed25519 key in DER (PKCS#8 or SubjectPublicKeyInfo).",
    why="The agent cannot sign, or nobody can check what it signed.",
    source=("CFG 4.7",),
    fires="UPDATE adf_identity SET value = x'0011' WHERE purpose = 'crypto:signing:public_key'",
    silent="DELETE FROM adf_identity WHERE purpose = 'crypto:signing:public_key'",
)
DID = rule(
    "ADF745",
    "did-differs-from-key",
    Severity.WARNING,
    what="`adf_did`, where it is a did:key, names the public signing key in the file.",
    why="Signatures made with the key in the file are refused by everybody who knows the agent by its DID.",
    source=("CFG 4.7", "STO-038"),
    fires=(
        "UPDATE adf_meta SET value = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK' WHERE key = 'adf_did'"
    ),
    silent="UPDATE adf_meta SET value = 'did:web:example.org:ada' WHERE key = 'adf_did'",
)
RULES = (ALGORITHM, SEALED_FORM, ENVELOPE, ENVELOPE_TOLERATED, SIGNING_KEY, DID)
COLUMNS = ("purpose", "value", "encryption_algo", "salt", "kdf_params")


class IdentityRows:
    """Looks at every identity row."""

    def __init__(self, context: Context, columns: Columns) -> None:
        self._context = context
        self._positions = [columns.position[name] for name in COLUMNS]

    def row(self, rowid: int, values: Row, json: dict[str, Any]) -> None:  # noqa: ARG002
        """Look at one row."""
        purpose, value, algorithm, salt, parameters = (values[position] for position in self._positions)
        if not isinstance(purpose, str) or not isinstance(value, bytes):
            return
        place = {"table": "adf_identity", "rowid": rowid}
        _check_algorithm(self._context, purpose, algorithm, place)
        sealed = isinstance(algorithm, str) and algorithm.startswith("env:")
        if sealed and (len(value) < SEALED or salt is not None or parameters is not None):
            self._context.report(SEALED_FORM, "not the form of a sealed value", **place, column="value")
        if algorithm in (None, "plain"):
            _check_plain(self._context, purpose, value, place)

    def finish(self) -> None:
        """Nothing more."""


def _check_algorithm(context: Context, purpose: str, algorithm: Any, place: dict[str, Any]) -> None:
    wrong: tuple[str, ...]
    if purpose == PRIVATE:
        wrong = ("env:credentials",)
    elif purpose.startswith("crypto:"):
        wrong = ("env:credentials", "env:identity")
    else:
        wrong = ("env:identity",)
    if algorithm in wrong:
        kind = "the private signing key" if purpose == PRIVATE else f"{brief(purpose.partition(':')[0])} row"
        context.report(ALGORITHM, f"{kind} under {algorithm!r}", **place, column="encryption_algo")


def _check_plain(context: Context, purpose: str, value: bytes, place: dict[str, Any]) -> None:
    if purpose in ENVELOPES:
        _check_envelope(context, ENVELOPES[purpose], value, place)
    elif purpose == PUBLIC:
        _check_public(context, value, place)
    elif purpose == PRIVATE and not value.startswith(PKCS8_PREFIX):
        context.report(SIGNING_KEY, "not an Ed25519 private key in PKCS#8 form", **place, column="value")


def _check_envelope(context: Context, name: str, value: bytes, place: dict[str, Any]) -> None:
    try:
        decoded = decode(value)
    except JsonTextError as error:
        context.report(ENVELOPE, f"the descriptor is not JSON: {error.message}", **place, column="value")
        return
    if decoded.duplicates:
        context.report(ENVELOPE_TOLERATED, "an object names a key more than once", **place, column="value")
    check_shape = checker(context.version.value(name))
    if not check_shape.is_valid(decoded.value):
        for problem in explained(context, check_shape, decoded.value, "an envelope in adf_identity"):
            broken = ENVELOPE if problem.severity == "error" else ENVELOPE_TOLERATED
            context.report(broken, problem.message, **place, column="value", pointer=problem.pointer or None)


def _check_public(context: Context, value: bytes, place: dict[str, Any]) -> None:
    from adf_format.identity import did_key

    if not value.startswith(SPKI_PREFIX) or len(value) != len(SPKI_PREFIX) + 32:
        context.report(SIGNING_KEY, "not an Ed25519 public key in DER form", **place, column="value")
        return
    said = context.meta.get("adf_did")
    expected = did_key(value[len(SPKI_PREFIX) :])
    if said is not None and str(said.value).startswith("did:key:") and said.value != expected:
        text = f"adf_did is {brief(str(said.value), 60)}, the key in the file is {expected}"
        context.report(DID, text, table="adf_meta", rowid=said.rowid, column="value")


VISITS = (Visit("identity rows", RULES, "adf_identity", IdentityRows, COLUMNS),)

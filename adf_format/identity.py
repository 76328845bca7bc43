"""The identity of an agent: an Ed25519 key pair, its DID, and the rows that hold them (CFG 4.7, STO-038).

The private key is written in plain form. Sealing it for an owner is the work of a runtime, which alone knows
the owner's key.
"""

from __future__ import annotations

from dataclasses import dataclass

from adf_format.errors import UsageError

PRIVATE_KEY, PUBLIC_KEY = "crypto:signing:private_key", "crypto:signing:public_key"
SPKI_PREFIX = bytes.fromhex("302a300506032b6570032100")
PKCS8_PREFIX = bytes.fromhex("302e020100300506032b657004220420")
KEY_SIZE = 32

_DID_KEY = "did:key:z"  # z = base58btc
_ED25519 = b"\xed\x01"  # multicodec ed25519-pub as a varint
_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


@dataclass(frozen=True)
class Identity:
    """One signing key pair.

    :ivar private_key: PKCS #8 DER, 48 bytes
    :ivar public_key: SubjectPublicKeyInfo DER, 44 bytes
    """

    private_key: bytes
    public_key: bytes

    def __repr__(self) -> str:
        return f"Identity({self.did})"

    @property
    def did(self) -> str:
        """The `did:key` of the public key."""
        return did_key(self.public_key.removeprefix(SPKI_PREFIX))

    def sign(self, message: bytes) -> bytes:
        """Return the Ed25519 signature (64 bytes); the same message always gives the same one."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        seed = self.private_key.removeprefix(PKCS8_PREFIX)
        return Ed25519PrivateKey.from_private_bytes(seed).sign(message)

    def rows(self) -> list[dict[str, object]]:
        """Return the two rows of `adf_identity`."""
        keys = ((PRIVATE_KEY, self.private_key), (PUBLIC_KEY, self.public_key))
        return [{"purpose": purpose, "value": value, "encryption_algo": "plain"} for purpose, value in keys]


def generate(seed: bytes | None = None) -> Identity:
    """Make a key pair.

    :param seed: 32 bytes that determine it; random when left out
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate() if seed is None else Ed25519PrivateKey.from_private_bytes(seed)
    public = key.public_key().public_bytes_raw()
    return Identity(PKCS8_PREFIX + key.private_bytes_raw(), SPKI_PREFIX + public)


def did_key(public: bytes) -> str:
    """Return the `did:key` of a raw Ed25519 public key.

    :param public: 32 bytes
    :raises UsageError: not 32 bytes
    """
    if len(public) != KEY_SIZE:
        raise UsageError(f"an Ed25519 public key has {KEY_SIZE} bytes, not {len(public)}")
    return _DID_KEY + _encode(_ED25519 + public)


def parse_did_key(did: str) -> bytes:
    """Return the raw Ed25519 public key that a `did:key` names.

    :raises UsageError: another DID method, another kind of key, or a misspelt one
    """
    if not did.startswith(_DID_KEY):
        raise UsageError("not a did:key in base58btc")
    text = did.removeprefix(_DID_KEY)
    raw = _decode(text) if len(text) <= 64 else b""
    if not raw.startswith(_ED25519) or len(raw) != len(_ED25519) + KEY_SIZE:
        raise UsageError("not the did:key of an Ed25519 key")
    return raw.removeprefix(_ED25519)


def _encode(data: bytes) -> str:
    number, digits = int.from_bytes(data), ""
    while number:
        number, digit = divmod(number, 58)
        digits = _ALPHABET[digit] + digits
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + digits


def _decode(text: str) -> bytes:
    number = 0
    for character in text:
        digit = _ALPHABET.find(character)
        if digit < 0:
            raise UsageError(f"{character!a} is not a base58 digit")
        number = number * 58 + digit
    zeros = len(text) - len(text.lstrip("1"))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8)

"""The DID of an agent is a pure function of its key."""

import subprocess
import sys

import pytest

from adf_format import identity
from adf_format.errors import UsageError

RFC_8032_SEED = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
RFC_8032_PUBLIC = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
RFC_8032_SIGNATURE = bytes.fromhex(
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
    "d25bf5f0595bbe24655141438e7a100b"
)
# the second pair is the example of the did:key method specification
VECTORS = {
    "did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw": RFC_8032_PUBLIC,
    "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK": bytes.fromhex(
        "2e6fcce36701dc791488e0d0b1745cc1e33a4c1c9fcc41c63bd343dbbe0970e6"
    ),
}


@pytest.mark.parametrize(("did", "public"), VECTORS.items())
def test_a_did_names_its_key_and_a_key_its_did(did: str, public: bytes) -> None:
    assert identity.did_key(public) == did
    assert identity.parse_did_key(did) == public


def test_a_seed_determines_the_key_pair() -> None:
    made = identity.generate(RFC_8032_SEED)
    assert made.public_key == identity.SPKI_PREFIX + RFC_8032_PUBLIC
    assert made.private_key == identity.PKCS8_PREFIX + RFC_8032_SEED
    assert made == identity.generate(RFC_8032_SEED)


def test_the_der_forms_are_those_of_the_cryptography_package() -> None:
    from cryptography.hazmat.primitives import serialization as form

    made = identity.generate(RFC_8032_SEED)
    private = form.load_der_private_key(made.private_key, None)
    public = form.load_der_public_key(made.public_key)
    options = form.Encoding.DER, form.PublicFormat.SubjectPublicKeyInfo
    assert private.public_key().public_bytes(*options) == public.public_bytes(*options) == made.public_key


def test_a_signature_is_deterministic() -> None:
    assert identity.generate(RFC_8032_SEED).sign(b"") == RFC_8032_SIGNATURE


def test_without_a_seed_every_identity_is_new() -> None:
    assert identity.generate() != identity.generate()


def test_the_private_key_does_not_show_in_a_traceback() -> None:
    assert RFC_8032_SEED.hex() not in repr(identity.generate(RFC_8032_SEED))
    assert "private" not in repr(identity.generate(RFC_8032_SEED))


def test_both_keys_are_stored_plain() -> None:
    rows = identity.generate(RFC_8032_SEED).rows()
    assert [row["purpose"] for row in rows] == ["crypto:signing:private_key", "crypto:signing:public_key"]
    assert {row["encryption_algo"] for row in rows} == {"plain"}


@pytest.mark.parametrize(
    "did",
    [
        "did:web:example.org",
        "did:key:f00",
        "did:key:z",
        "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2do0",
        "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2do",
        "did:key:z1" + "6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
        "did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme",
        "did:key:z" + "2" * 100_000,
        "",
    ],
    ids=["web", "hex", "empty", "bad digit", "short", "leading zero", "secp256k1", "long", "nothing"],
)
def test_what_is_not_an_ed25519_did_key_is_refused(did: str) -> None:
    with pytest.raises(UsageError):
        identity.parse_did_key(did)


@pytest.mark.parametrize("size", [0, 31, 33])
def test_only_32_bytes_are_a_public_key(size: int) -> None:
    with pytest.raises(UsageError, match=r"32 bytes"):
        identity.did_key(bytes(size))


def test_the_cryptography_package_is_not_imported_before_a_key_is_made() -> None:
    code = "import sys, adf_format.identity as i; i.did_key(bytes(32)); print('cryptography' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

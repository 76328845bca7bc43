"""Shapes that are secrets, and what only looks alike (MEM-083, MEM-085, MEM-086).."""

from __future__ import annotations

import pytest

from adf_format.memory import guard, secrets

A = "A1b2C3d4E5f6G7h8I9j0"
FIRES = {
    "private-key": "-----BEGIN " + "RSA PRIVATE KEY-----",
    "aws-key-id": "AK" + "IA" + "ABCDEFGHIJ234567",
    "github-token": "gh" + "o_" + (A + A)[:36],
    "github-token fine": "github" + "_pat_" + A + A,
    "gitlab-token": "gl" + "pat-" + A,
    "slack-token": "xo" + "xb-" + "123456789012-" + A,
    "anthropic-key": "sk-" + "ant-api03-" + A,
    "openai-key": "sk-" + "proj-" + A,
    "openai-key old": "sk-" + A + A,
    "google-key": "AI" + "za" + (A + A)[:35],
    "npm-token": "np" + "m_" + (A + A)[:36],
    "pypi-token": "py" + "pi-AgE" + A,
    "stripe-key": "sk_" + "live_" + A,
    "sendgrid-key": "SG" + "." + A + "." + A,
    "telegram-token": "123456789" + ":" + (A + A)[:35],
    "discord-webhook": "https://discord.com/api/web" + "hooks/123456789012345678/" + A + A,
    "jwt": "ey" + "J" + A + ".ey" + "J" + A + "." + A,
    "bearer-token": "Authorization: Bear" + "er " + A,
    "url-password": "postgres://ada:" + "s3cr3tpw" + "@db.example.org/x",
    "keyword": "pass" + "word: " + "Tr0ub4dor&3",
    "keyword bold": "- **API key**: `" + "abc123def456" + "`",
    "keyword equals": "DB_PASS" + "WORD=" + "hunter2hunter2",
}
SILENT = [
    "Auth: see ~/.secrets/service.env",
    "token: ~/.secrets/token",
    "password: <PASSWORD>",
    "password: xxxxxxxxxx",
    "api key: $API_KEY_OF_SERVICE",
    "secret: REDACTED-by-ops",
    "token: SERVICE_Z_TOKEN",
    "rotate the API key before Friday",
    "the secret of a good soup is time",
    "Password: rotated yesterday by Grace",
    "token: expired",
    "cites [S137] and adf-audit://seq/137",
    "commit da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "token: da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "id 123e4567-e89b-12d3-a456-426614174000",
    "token: 123e4567-e89b-12d3-a456-426614174000",
    "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
    "branch feature/secret-rotation-of-the-token",
    "see src/auth/token.py:120",
    "https://example.org:8443/path?x=1",
    "https://user@example.org/",
    "one+two+three+four+five+six",
]


@pytest.mark.parametrize("kind", list(FIRES))
def test_a_secret_is_found_and_not_kept(kind: str) -> None:
    """MEM-083, MEM-086: kind, line and column, in the middle of a line of any note; never the value."""
    text = f"# 2026-04-01\r\n\r\n- x: {FIRES[kind]} and more\r\n"
    found = list(secrets.scan(text))
    assert [(one.line, one.kind, one.severe) for one in found] == [(3, kind.split(" ", maxsplit=1)[0], True)]
    assert FIRES[kind] not in repr(found)
    assert text.split("\n")[2][found[0].column - 1 :][: found[0].length] in FIRES[kind]


@pytest.mark.parametrize("line", SILENT)
def test_what_only_looks_alike_is_silent(line: str) -> None:
    """MEM-085."""
    assert list(secrets.scan(f"- {line}\n")) == []


def test_one_place_is_one_finding() -> None:
    """A keyword with a token behind it, and two tokens on a line."""
    token = FIRES["github-token"]
    assert len(list(secrets.scan(f"token: {token}"))) == 1
    assert len(list(secrets.scan(f"{token} {FIRES['jwt']}"))) == 2


def test_bytes_that_are_no_text_are_looked_through() -> None:
    """MEM-082: a binary file may hold one too."""
    assert guard.suspects("x", b"\xff\xfe " + FIRES["github-token"].encode())
    assert guard.withheld("x", f"a\n{FIRES['jwt']}") == [(2, "jwt")]

"""What is shaped like a secret in a text (MEM-083 to MEM-086): the shape of the value counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Found:
    """A place that looks like a secret; the value is not kept.

    :ivar line, column: from 1; :ivar kind: of secret
    :ivar severe: certainly shaped like one (MEM-083), not only suspect (MEM-084)
    """

    line: int
    column: int
    length: int
    kind: str
    severe: bool


_B64 = r"[A-Za-z0-9_-]"
_KEYWORD = (
    r"(?i:\b(?:\w+[_-])?(?:password|passwd|pwd|secret|token|api[ _-]?key)\b)[*_`\"']{0,3}[ \t]*(?::|=)[*_]{0,2}"
    r"[ \t]*[`\"']?(?P<value>[^\s`\"',;]{8,})"
)
_SHAPES: tuple[tuple[str, str], ...] = (
    ("private-key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    ("aws-key-id", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("github-token", r"\bgh[pousr]_[A-Za-z0-9]{36,}\b"),
    ("github-token", r"\bgithub_pat_[A-Za-z0-9_]{22,}\b"),
    ("gitlab-token", rf"\bglpat-{_B64}{{20,}}"),
    ("slack-token", r"\b(?:xox[abp]|xapp)-[A-Za-z0-9-]{10,}"),
    ("anthropic-key", rf"\bsk-ant-{_B64}{{20,}}"),
    ("openai-key", rf"\bsk-(?:proj-{_B64}{{20,}}|[A-Za-z0-9]{{32,}}\b)"),
    ("google-key", rf"\bAIza{_B64}{{35}}"),
    ("npm-token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("pypi-token", rf"\bpypi-AgE{_B64}{{20,}}"),
    ("stripe-key", r"\b[sr]k_live_[A-Za-z0-9]{16,}"),
    ("sendgrid-key", rf"\bSG\.{_B64}{{16,}}\.{_B64}{{16,}}"),
    ("telegram-token", rf"\b[0-9]{{8,10}}:{_B64}{{35}}(?!{_B64})"),
    ("discord-webhook", rf"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/[0-9]{{15,}}/{_B64}{{30,}}"),
    ("jwt", rf"\beyJ{_B64}{{8,}}\.eyJ{_B64}{{8,}}\.{_B64}{{8,}}"),
    ("bearer-token", r"\bBearer [A-Za-z0-9._~+/-]{20,}=*"),
    ("url-password", r"\b[a-z][a-z0-9+.-]*://[^\s:/@<>{}$*]+:(?P<value>[^\s:/@]{3,})@[^\s/]"),
    ("keyword", _KEYWORD),
)
_PATTERNS = tuple((kind, re.compile(pattern)) for kind, pattern in _SHAPES)
_HINT = re.compile(
    r"-----BEGIN|AKIA|ASIA|gh[pousr]_|github_pat|glpat|xox[abp]|xapp|sk-|AIza|npm_|pypi-|k_live|SG\.|[0-9]{8}:|discord|eyJ"
    r"|Bearer|://|(?i:password|passwd|pwd|secret|token|api[ _-]?key)"
)
_PLACEHOLDER = re.compile(
    r"<.*|\$.*|%.*%?|\{.*|\[.*|\(.*|(?:x|X|\*|\.|…|-|_)+|.*(?:REDACTED|redacted|example|EXAMPLE|placeholder|changeme|your[-_]).*"
    r"|.*…|.*\.\.\.|[A-Z][A-Z0-9_]*"
)
_REFERENCE = re.compile(
    r"[~./]|[A-Za-z]:\\|did:|sha(?:256|512)[:-]|(?:https?|file|adf-file)://|env:|vault:|op://"
    r"|(?:[0-9a-f]{40}|[0-9a-f]{64})\b|[0-9a-f]{8}-[0-9a-f]{4}-|[\w./-]+\.(?:env|json|ya?ml|toml|txt|md|py|ts|js|pem)\b"
)


def scan(text: str, path: str = "") -> Iterator[Found]:  # noqa: ARG001
    """Yield the places of a text that are shaped like a secret, in order."""
    if not _HINT.search(text):
        return
    for number, line in enumerate(text.split("\n"), 1):
        if _HINT.search(line):
            yield from _in_line(number, line)


def _in_line(number: int, line: str) -> Iterator[Found]:
    seen: list[tuple[int, int]] = []
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(line):
            name = "value" if "value" in pattern.groupindex else 0
            start, end = match.span(name)
            if any(start < other_end and other < end for other, other_end in seen):
                continue
            if name == "value" and _is_harmless(match[name]):
                continue
            seen.append((start, end))
            yield Found(number, start + 1, end - start, kind, True)


def _is_harmless(value: str) -> bool:
    """Whether a value stands for one, or says where it is (MEM-085)."""
    value = value.rstrip(".)]:!?")
    plain = value.isalpha() and value == value.lower()
    return len(value) < 3 or plain or bool(_PLACEHOLDER.fullmatch(value)) or bool(_REFERENCE.match(value))

"""Who the sample is about: Ada, who keeps the log of a small garden; her keys, her times, her files.

Everything is fixed, the keys too: they are derived from public labels and protect nothing.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from functools import cache

from adf_format import identity
from adf_format.creation.agent import iso

EPOCH_MS = 1767225600000  # 2026-01-01T00:00:00Z
START = datetime(2026, 1, 1, tzinfo=UTC)
AGENT_ID = "adaGarden001"
MODEL = "ada-small"

REPORT = "bed,crop,kg\n1,beans,2.5\n2,peas,1.75\n"
OLD_NOTE = "# Old plan\n\nBed three stays empty.\n"
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d4944415478da63fcffff3f0300"
    "05fe02fea735818d0000000049454e44ae426082"
)

README_TEXT = """\
# Ada

Ada keeps the log of a small garden: what was sown, what came up, what the neighbours report.
She plans the beds in notes/plan.md and answers questions about the harvest.
"""
MIND_TEXT = """\
# Mind

What I keep between conversations.

## Always

- I work for the garden club; Grace waters on Mondays, because I cannot.
- Yields are in kilograms, since the club compares them with last year's.

## Pages

- [log of changes](adf-file://mind/log.md) \u2014 what changed in these pages and why
- [plan of the beds](adf-file://notes/plan.md) \u2014 read before answering about crops

## Rules

- A correction from Grace goes to Always, with its reason.
"""
LOG_TEXT = """\
# Mind Log

## [2026-01-01] update | plan of the beds

Bed three moved to May.
"""
PLAN_TEXT = """\
# Plan of the beds

1. Beans, sown in April
2. Peas, sown in March
3. Pumpkins, after the last frost — in May
"""
API_TEXT = """\
export async function status(): Promise<Response> {
  return Response.json({ beds: 3, watered: true })
}

export async function feed(message: string): Promise<void> {
  await adf.log({ level: 'info', event: 'feed', message })
}
"""
WATCH_TEXT = """\
export async function tick(): Promise<void> {
  await adf.log({ level: 'info', event: 'tick', message: 'the greenhouse is 14 degrees warm' })
}

export async function onEvent(event: { type: string }): Promise<void> {
  await adf.log({ level: 'debug', event: 'seen', message: event.type })
}
"""


def ms(seconds: int) -> int:
    """Return a time of the story, in epoch milliseconds, `seconds` after its start."""
    return EPOCH_MS + seconds * 1000


def text_time(seconds: int) -> str:
    """Return a time of the story as ISO 8601 text."""
    return iso(START + timedelta(seconds=seconds))


@cache
def keys(who: str) -> identity.Identity:
    """Return the key pair of the agent, her owner, her runtime or a peer, by name."""
    return identity.generate(hashlib.sha256(f"adf-format sample key: {who}".encode()).digest())


def did(who: str) -> str:
    """Return a DID, by name."""
    return keys(who).did


def opaque(label: str, size: int) -> bytes:
    """Return bytes that look random and are always the same."""
    return hashlib.shake_256(f"adf-format sample: {label}".encode()).digest(size)


def files(version: int) -> dict[str, tuple[bytes, str, str]]:
    """Return `(content, mime type, protection)` of Ada's own files by path, those of a fresh file aside."""
    primary = "document.md" if version == 21 else "README.md"
    markdown = {primary: README_TEXT, "mind.md": MIND_TEXT if version >= 28 else "# Mind\n\nGrace waters on Mondays.\n"}
    if version >= 28:
        markdown["mind/log.md"] = LOG_TEXT
    found = {path: (text.encode(), "text/markdown", "no_delete") for path, text in markdown.items()}
    return found | {
        "notes/plan.md": (PLAN_TEXT.encode(), "text/markdown", "none"),
        "imported/peer/report.csv": (REPORT.encode(), "text/csv", "none"),
        "assets/pixel.png": (PIXEL, "image/png", "none"),
        "lib/api.ts": (API_TEXT.encode(), "text/typescript", "read_only"),
        "lib/watch.ts": (WATCH_TEXT.encode(), "text/typescript", "none"),
    }

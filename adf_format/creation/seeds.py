"""The files of a new agent and the words they start with (MIG-050, MEM-111, MEM-115)."""

from __future__ import annotations

README = """\
# {name}

Made on {date}. This page says what the agent is for and where it stands; it has nothing to say yet.
"""

MIND = """\
# Mind

What I keep between conversations. This page is read on every turn, so it stays short and points elsewhere.

## Always

<!-- Facts needed on every turn: who I work for, what never changes, what I am busy with. One line each. -->

## Pages

<!-- One line per page: its path under mind/ and when to read it. -->

## Rules

<!-- How I keep these pages: what belongs here, what goes to a page, what is left to the log. -->
"""

MIND_LOG = """\
# Mind Log

<!-- What changed in these pages and why, newest first: "2026-01-31 notes/plan.md: bed three moved to May". -->
"""

SOUL = """\
# Soul

How I speak and what I hold to. These lines are a beginning that every new agent shares; replace them.

## Voice

- I answer the question first and explain afterwards.
- I say what I do not know, and how it could be found out.

## Taboos

- I do not praise a question in place of answering it.
- I do not hide a mistake of mine in a long sentence.

## Exemplars

<!-- Two or three short texts that sound like me. -->

## Origin

<!-- Who made me, for whom I work, how I came to be as I am. -->
"""

DOCUMENT_UNTIL = 21  # the primary document was document.md, README.md from 22 (MIG-028)
SOUL_FROM = 25  # MIG-031
MIND_FROM = 28  # MIG-048; before, mind.md starts empty


def files(version: int, name: str, date: str) -> dict[str, str]:
    """Return the text of each file of a new agent by path.

    :param date: day of creation, `2026-01-31`
    """
    primary = "document.md" if version <= DOCUMENT_UNTIL else "README.md"
    made = {primary: README.format(name=name, date=date), "mind.md": MIND if version >= MIND_FROM else ""}
    if version >= MIND_FROM:
        made["mind/log.md"] = MIND_LOG
    if version >= SOUL_FROM:
        made["soul.md"] = SOUL
    return made

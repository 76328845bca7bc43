"""Clearing parts of an agent: transcripts, working memory, inbox.

What the configuration says must be archived is archived in the same transaction that deletes it; if nobody can tell,
nothing is deleted. The file is locked for the whole change, so a row that somebody else appends is neither lost nor
archived by mistake: it comes before, and counts, or after.
"""

from __future__ import annotations

from pathlib import Path

import apsw

from adf_format.clearing.policy import PolicyError
from adf_format.clearing.request import Request, parts
from adf_format.clearing.result import Cleared, Outcome
from adf_format.clearing.slices import Slice
from adf_format.clearing.state import State
from adf_format.clearing.verify import expect
from adf_format.container import Change, Limits, open_for_change, open_readonly, translate
from adf_format.errors import AdfError, UnreadableError

__all__ = ["Cleared", "Outcome", "PolicyError", "Request", "Slice", "clear", "plan"]

_LIMITS = Limits(max_value_bytes=1_000_000_000)


def plan(path: str | Path, request: Request) -> Outcome:
    """Say what a clear would do, without touching the file; errors as in `clear`."""
    request.check()
    with open_readonly(path, _LIMITS) as container:
        try:
            state = State.of(container.connection)
            planned = tuple(part.plan() for part in parts(state, request))
        except (apsw.Error, AdfError, UnicodeDecodeError) as exc:
            raise _named(exc, Path(path)) from exc
    return Outcome(Path(path), state.version, dry_run=True, cleared=planned)


def clear(path: str | Path, request: Request, *, backup: bool = True) -> Outcome:
    """Clear parts of an agent, all of them in one transaction.

    :param backup: keep a copy of the file from before, if anything is cleared
    :raises PolicyError: the configuration does not tell what must be archived; nothing was cleared
    :raises UsageError: no such loop, or a request that makes no sense
    :raises UnreadableError: the file cannot be read or changed; see `open_for_change`
    """
    request.check()
    with open_for_change(path, backup=True) as change:
        try:
            outcome = _clear(change, Path(path), request)
        except (AdfError, UnicodeDecodeError) as exc:
            raise _named(exc, Path(path)) from exc
    if backup or change.backup is None:
        return outcome.kept(change.backup)
    change.discard_backup()
    return outcome


def _clear(change: Change, path: Path, request: Request) -> Outcome:
    state = State.of(change.connection)
    wanted = list(parts(state, request))
    planned = tuple(part.plan() for part in wanted)
    outcome = Outcome(path, state.version, dry_run=False, cleared=planned)
    if outcome.nothing:
        return outcome
    with change.transaction():
        done = [part.clear() for part in wanted]
    for cleared, snapshot in done:
        expect(change, cleared, snapshot)
    return Outcome(path, state.version, dry_run=False, cleared=tuple(cleared for cleared, _ in done))


def _named(exc: apsw.Error | AdfError | UnicodeDecodeError, path: Path) -> AdfError:
    """Return the error with the name of the file."""
    if isinstance(exc, apsw.Error):
        return translate(exc, path)
    if isinstance(exc, UnicodeDecodeError):
        return UnreadableError("text that is not UTF-8 stands where it matters", path, hint="run `adf-format validate`")
    exc.file = exc.file or path
    return exc

"""What becomes of a check that cannot finish: it is named, and the other checks go on."""

from __future__ import annotations

from collections.abc import Callable

import apsw

from adf_format.container import translate
from adf_format.errors import LimitError, UnreadableError
from adf_format.validation.context import Context


def guarded(context: Context, what: str, action: Callable[[], None]) -> bool:
    """Run one check, or a part of one.

    What SQLite cannot read becomes a finding, a limit or a refusal of ours is listed under `not_checked`, and a
    fault of ours is kept in `context.faults` as well, so that the file does not pass as valid.

    :param what: what is being checked, in words
    :returns: whether it came to its end
    """
    try:
        action()
    except Exception as error:  # noqa: BLE001 - one faulty check must not hide what the others find
        failed(context, what, error)
        return False
    return True


def failed(context: Context, what: str, error: Exception) -> None:
    """Record why a check did not come to its end, from within its `except`: see `guarded`.

    :raises MemoryError: that is why
    """
    if isinstance(error, MemoryError):
        raise error
    record(context, what, error)


def record(context: Context, what: str, error: Exception) -> None:
    """Record why a check did not come to its end: see `guarded`."""
    from adf_format.validation.rules.container import DAMAGED

    if isinstance(error, apsw.Error | UnicodeDecodeError):
        translated = translate(error, context.container.source.path)
        context.not_checked(what, translated.message)
        if not isinstance(translated, LimitError):
            context.report(DAMAGED, f"{what}: {translated.message}")
    elif isinstance(error, UnreadableError):
        context.not_checked(what, error.message)
    else:
        fault = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        context.not_checked(what, f"internal error, please report it: {fault}")
        context.faults.append(f"internal error while checking {what}: {fault}")

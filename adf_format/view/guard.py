"""A part that cannot be read is named, and the other parts are still shown."""

from __future__ import annotations

from collections.abc import Callable

import apsw

from adf_format.errors import AdfError, LimitError
from adf_format.inspection.file import MissingError
from adf_format.view.html import Page
from adf_format.view.pieces import icon, notice


def guarded(page: Page, write: Callable[[], None]) -> None:
    """Write a part, or why it cannot be written.

    :raises LimitError: the deadline has passed, or memory is bounded: nothing else would go better
    """
    try:
        write()
    except MissingError as error:
        page.write(notice(f"Not in this file: {error.message}."))
    except LimitError:
        raise
    except (AdfError, apsw.Error, UnicodeDecodeError) as error:
        why = error.message if isinstance(error, AdfError) else str(error)
        page.write(notice(icon("alert"), f"This part cannot be read: {why}", class_="problem"))

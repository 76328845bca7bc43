"""What belongs to an agent by default: its triggers and timers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adf_format.runtime.timers.service import Timers
from adf_format.runtime.triggers.service import Triggers

if TYPE_CHECKING:
    from adf_format.runtime.agent import Attachment


def attachments() -> list[Attachment]:
    """Return new triggers and timers for one agent, in the order in which it takes them."""
    return [Triggers(), Timers()]

"""What belongs to an agent by default: its triggers and timers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adf_format.runtime.agent import Attachment


def attachments() -> list[Attachment]:
    """Return new triggers and timers for one agent."""
    return []

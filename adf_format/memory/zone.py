"""What time it is, and where: one zone for everything that is read and written (MEM-014, MEM-055)."""

from __future__ import annotations

import os
import re
from datetime import UTC, date, datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from adf_format.errors import UsageError

_SYSTEM = Path("/etc/localtime")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:-.+)?")
_RFC3339 = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})?")


def zone(name: str | None = None, settings: str | None = None) -> ZoneInfo:
    """Return the zone of a workspace: as asked for, as configured, as the system has it; never UTC by accident.

    :param name: an option; :param settings: the key `timezone` of the settings
    :raises UsageError: no such zone
    """
    chosen = name or settings or os.environ.get("TZ", "").removeprefix(":") or _of_system() or "UTC"
    try:
        return ZoneInfo(chosen)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UsageError(f"no time zone {chosen[:80]!a}", hint="name one as Europe/Berlin, or UTC") from None


def now(where: tzinfo, given: str | None = None) -> datetime:
    """Return the time it is, in a zone; a given one without an offset is read in that zone.

    :raises UsageError: the given one is no time
    """
    if given is None:
        return datetime.now(where)
    try:
        moment = datetime.fromisoformat(given)
    except ValueError:
        raise UsageError(f"{given!a:.60} is no time", hint="write it as 2026-04-01T10:00") from None
    return moment.replace(tzinfo=where) if moment.tzinfo is None else moment.astimezone(where)


def parse(text: object, where: tzinfo) -> datetime | None:
    """Return the time that a memory file gives, None if it is none; without an offset it is one of the zone."""
    if not isinstance(text, str) or not _RFC3339.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.replace(tzinfo=where) if moment.tzinfo is None else moment


def stamp(moment: datetime) -> str:
    """Write a time as memory files have it: UTC, whole seconds, `Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def day_of(stem: str) -> date | None:
    """Return the date of a daily note, `2026-04-01` or `2026-04-01-slug`, None if it is no note (MEM-010, D10)."""
    if not _DAY.fullmatch(stem):
        return None
    try:
        return date.fromisoformat(stem[:10])
    except ValueError:
        return None


def _of_system() -> str | None:
    try:
        target = os.readlink(_SYSTEM)  # noqa: PTH115 - the text, as it is
    except OSError:
        return None
    return target.partition("zoneinfo/")[2] or None

"""Times, sizes and numbers in words, all in UTC, so that the same file always gives the same page."""

from __future__ import annotations

from datetime import UTC, datetime

from adf_format.view.html import Safe, el

_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"))


def utc(milliseconds: int) -> datetime | None:
    """Return epoch milliseconds as a time, None if no calendar has it."""
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def moment(milliseconds: int | None, *, seconds: bool = False) -> str:
    """Return a time as text: `2026-01-01 00:00 UTC`."""
    if milliseconds is None:
        return "no time"
    found = utc(milliseconds)
    if found is None:
        return f"{milliseconds} ms"
    return found.strftime("%Y-%m-%d %H:%M:%S UTC" if seconds else "%Y-%m-%d %H:%M UTC")


def time(milliseconds: int | None, pattern: str = "%Y-%m-%d %H:%M") -> Safe | None:
    """Return a time as an element that tells programs and pointers more than it shows."""
    if milliseconds is None:
        return None
    found = utc(milliseconds)
    if found is None:
        return el("span", f"{milliseconds} ms")
    told = found.isoformat(" ", "seconds")[:19]
    return el("time", found.strftime(pattern), datetime=f"{told.replace(' ', 'T')}Z", title=f"{told} UTC")


def duration(milliseconds: int) -> str:
    """Return a span of time in one or two units: `1 h 30 min`."""
    parts, rest = [], abs(milliseconds)
    for size, name in _UNITS:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count:,} {name}")
    return " ".join(parts[:2]) or f"{abs(milliseconds)} ms"


def size(count: int) -> str:
    """Return bytes in words: `1.4 kB`."""
    for limit, unit in ((1000**3, "GB"), (1000**2, "MB"), (1000, "kB")):
        if count >= limit:
            return f"{count / limit:,.1f} {unit}"
    return f"{count:,} byte{'' if count == 1 else 's'}"


def short(number: int) -> str:
    """Return a number in few characters: `1.2M`."""
    for limit, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= 10 * limit:
            return f"{number / limit:,.0f}{unit}"
        if number >= limit:
            return f"{number / limit:.1f}{unit}"
    return f"{number:,}"


def counted(number: int, word: str, plural: str | None = None) -> str:
    """Return `1 row` or `2 rows`."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


def interval(start: int, end: int) -> str:
    """Return an interval of seqs: `S3–S7`."""
    return f"S{start}" if start == end else f"S{start}–S{end}"

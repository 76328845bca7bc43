"""How well colours can be read, and told apart by people who see them differently (WCAG 2, Machado 2009, CIE 1976)."""

from __future__ import annotations

SIGHTS = (
    ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
)
Triple = tuple[float, ...]


def linear(color: str) -> Triple:
    """Return linear light of `#rgb` or `#rrggbb`."""
    digits = color[1:] if len(color) == 7 else "".join(char * 2 for char in color[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    return tuple(one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)


def ratio(one: str, other: str) -> float:
    """Return the contrast of two colours, 1 to 21."""
    low, high = sorted(
        sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear(color), strict=True))
        for color in (one, other)
    )
    return (high + 0.05) / (low + 0.05)


def apart(one: str, other: str) -> float:
    """Return the distance of two colours for whom they look most alike."""
    return min(_distance(_lab(_seen(linear(one), sight)), _lab(_seen(linear(other), sight))) for sight in SIGHTS)


def _seen(light: Triple, sight: tuple[Triple, ...]) -> Triple:
    return tuple(min(1.0, max(0.0, sum(a * b for a, b in zip(row, light, strict=True)))) for row in sight)


def _lab(light: Triple) -> Triple:
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    x, y, z = (
        sum(a * b for a, b in zip(row, light, strict=True)) / white
        for row, white in zip(rows, (0.9505, 1.0, 1.089), strict=True)
    )
    fx, fy, fz = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def _distance(one: Triple, other: Triple) -> float:
    return float(sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5)

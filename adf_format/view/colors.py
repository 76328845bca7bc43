"""The colour of a loop: derived from its name alone, so that it is the same in every file and every version.

Two marks tell loops apart, a colour and a shape, and a name always stands beside them: nobody has to see colours.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from adf_format.history.model import MAIN

COLORS = 8  # `c0` to `c7` in view.css
SHAPES = ("circle", "square", "triangle", "diamond", "hexagon", "cross")


@dataclass(frozen=True)
class Identity:
    """How a loop looks.

    :ivar css: class that gives `--loop` and `--loop-tint`
    :ivar shape: id of a symbol of the page
    """

    css: str
    shape: str


def identity(loop: str) -> Identity:
    """Return how a loop looks; `main` has the colour of the page itself."""
    if loop == MAIN:
        return Identity("cm", "circle")
    digest = hashlib.sha256(loop.encode("utf-8", "surrogatepass")).digest()
    return Identity(f"c{digest[0] % COLORS}", SHAPES[digest[1] % len(SHAPES)])

"""Characters that are not what they seem."""

from __future__ import annotations

import re

# Those that steer a terminal. Not tab, line breaks, form feed, backspace and delete: JSON may hold them without a
# `\u` escape, so that looking for them would make every text a slow one.
_CONTROL = r"\x00-\x07\x0b\x0e-\x1f\x80-\x9f"
_DIRECTION = "\u202a-\u202e\u2066-\u2069"
_TAGS = "\U000e0000-\U000e007f"

CONTROL_IN_NAME = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
HIDDEN_IN_NAME = re.compile(
    f"[\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u2060-\u2064\ufeff\ufff9-\ufffb{_DIRECTION}{_TAGS}]"
)
FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f")
ODD = re.compile(f"[{_CONTROL}{_DIRECTION}\ud800-\udfff{_TAGS}]")
CONTROL = re.compile(f"[{_CONTROL}]")
HIDDEN = re.compile(f"[{_DIRECTION}{_TAGS}]")
SURROGATE = re.compile("[\ud800-\udfff]")


def code_point(character: str) -> str:
    """Return the usual notation, `U+202E`."""
    return f"U+{ord(character):04X}"

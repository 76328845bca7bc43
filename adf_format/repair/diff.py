"""Changes as a patch that a person can read: the row, the rule, what goes and what comes."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterator
from typing import Any

from adf_format.errors import JsonTextError
from adf_format.jsontext import decode
from adf_format.repair.mend import Change, RawText

LONGEST = 160  # characters of one line
CONTEXT = 2


def hunks(change: Change) -> Iterator[str]:
    """Yield the lines of one change; the first one begins with `@@`, the others with ` `, `-` or `+`."""
    yield f"@@ {place(change)} @@"
    for fix in change.fixes:
        yield f"# {fix.rule} {fix.kind}: {fix.does} ({fix.because})"
    if change.action == "index":
        yield f"+{change.new}"
    elif change.action == "update":
        yield from _update(change.old, change.new)
    else:
        sign, values = ("-", change.old) if change.action == "delete" else ("+", change.new)
        for name, value in values.items():
            yield f"{sign}{name}: {_short(_one_line(value))}"


def place(change: Change) -> str:
    """Return where a change is, in words."""
    row = "" if change.key is None else f" {change.key!r}" if isinstance(change.key, str) else f" row {change.key}"
    return f"{change.table}{row}" + (f", {change.column}" if change.column else "")


def _update(old: Any, new: Any) -> Iterator[str]:
    before, after = _lines(old), _lines(new)
    if before == after:
        before, after = [_one_line(old)], [_one_line(new)]
    if len(before) == 1 and len(after) == 1:
        yield from (f"-{_short(before[0])}", f"+{_short(after[0])}")
        return
    for line in list(difflib.unified_diff(before, after, n=CONTEXT, lineterm=""))[2:]:
        yield line if line.startswith("@@") else line[:1] + _short(line[1:])


def _lines(value: Any) -> list[str]:
    if not isinstance(value, str):
        return [_one_line(value)]
    if value[:1] in ("{", "["):
        try:
            return json.dumps(decode(value).value, ensure_ascii=False, indent=2, default=str).splitlines() or [value]
        except (JsonTextError, RecursionError, ValueError):
            pass
    return value.split("\n")


def _one_line(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, RawText):
        return repr(value.data)
    if isinstance(value, bytes):
        return f"{len(value):,} bytes, SHA-256 {hashlib.sha256(value).hexdigest()[:16]}"
    return str(value)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def document(change: Change) -> dict[str, Any]:
    """Return a change as JSON."""
    kinds = {fix.kind: None for fix in change.fixes}
    return {
        "action": change.action,
        "rules": [fix.rule for fix in change.fixes],
        "kind": str(max(kinds, key=list(type(change.fixes[0].kind)).index)),
        "table": change.table,
        "rowid": change.rowid,
        "column": change.column,
        "old": _value(change.old),
        "new": _value(change.new),
    }


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _value(one) for name, one in value.items()}
    if isinstance(value, RawText):
        return _value(value.data)
    if isinstance(value, bytes):
        return {"bytes": len(value), "sha256": hashlib.sha256(value).hexdigest()}
    return value

"""Files of an agent that stand in its prompt: `{{path}}` and what replaces it (MEM-150 to MEM-159).

Pure functions: the caller says how a file is read. A `Snapshot` lives as long as a session and is dropped, together
with the hash of the prompt, at every compaction and every kind of clear (MEM-153).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from adf_format.errors import UsageError

MIND = "mind.md"
PLACEHOLDER = re.compile(r"\{\{([^{}\n]+)\}\}")
_BLANKS = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
_MISSING = re.compile(r'<injected_file path="[^"]*" missing="true"/>|\[missing file: [^\]\n]*\]')
_CONTEXT = re.compile(
    r"\[Context: (?P<category>[^\]|\n]+?)"
    r"(?: \| loop_inject=v2 \| origin=(?P<origin>[A-Za-z0-9_.:/-]{1,128})(?: \| key=(?P<key>[A-Za-z0-9_.:-]{1,128}))?)?"
    r"\] ?"
)
_CATEGORY = re.compile(r"[a-z][a-z0-9_.-]{0,63}")
_ORIGIN = re.compile(r"[A-Za-z0-9_.:/-]{1,128}")
_KEY = re.compile(r"[A-Za-z0-9_.:-]{1,128}")

Reader = Callable[[str], bytes | None]


class Snapshot:
    """What the files held when a session asked for them first; that one was missing is remembered too (MEM-153)."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._seen: dict[str, str | None] = {}

    def text(self, path: str) -> str | None:
        """Return the text of a file as first seen, None if there was none; bytes that are no UTF-8 show as U+FFFD."""
        if path not in self._seen:
            content = self._reader(path)
            self._seen[path] = None if content is None else content.decode("utf-8", "replace")
        return self._seen[path]

    def missing(self) -> list[str]:
        """Return the paths that were asked for and not there, in the order asked."""
        return [path for path, text in self._seen.items() if text is None]


def collect(sources: Iterable[str]) -> list[str]:
    """Return the paths that some texts want injected, each once, in the order met (MEM-150)."""
    found = {_path(match): None for source in sources for match in PLACEHOLDER.finditer(source)}
    return list(found)


def render(text: str, snapshot: Snapshot) -> str:
    """Replace every placeholder, in one pass: braces inside a file stay what they are (MEM-150, MEM-152)."""
    return PLACEHOLDER.sub(lambda match: _replacement(_path(match), snapshot), text)


def wrapped(path: str, content: str, attributes: Mapping[str, str] | None = None) -> str:
    """Return content in the tags that say where it comes from; it cannot close them by itself (MEM-150)."""
    more = "".join(f' {name}="{_attribute(value)}"' for name, value in (attributes or {}).items())
    inside = content.replace("</injected_file", "<\\/injected_file")
    return f'<injected_file path="{_attribute(path)}"{more}>\n{inside}\n</injected_file>'


def missing(path: str) -> str:
    """Return the mark of a file that is not there (MEM-151)."""
    return f'<injected_file path="{_attribute(path)}" missing="true"/>'


def has_missing_mark(text: str) -> bool:
    """Whether a recorded prompt says that a file was missing, in the form of the code or of the specification (D2)."""
    return _MISSING.search(text) is not None


def is_injected(config: Mapping[str, Any], path: str = MIND) -> bool:
    """Whether an agent's prompt holds a file: by the base prompt, or by a placeholder in its instructions (MEM-154).

    The base prompt holds `soul.md` and `mind.md`; `bare_prompt` and `include_base_prompt: false` leave it out.
    """
    base = config.get("include_base_prompt") is not False and config.get("bare_prompt") is not True
    instructions = config.get("instructions")
    named = isinstance(instructions, str) and path in collect([instructions])
    return named or (base and path in ("soul.md", MIND))


def context_block(category: str, text: str, *, origin: str | None = None, key: str | None = None) -> str:
    """Return the text of a `[Context: …]` row: the prompt as sent (MEM-155), or with `origin` an injection (MEM-159).

    :raises UsageError: a category, origin or key that the format does not allow
    """
    _demand(_CATEGORY, category, "category")
    if origin is None:
        if key is not None:
            raise UsageError("a key needs an origin")
        return f"[Context: {category}] {text}"
    _demand(_ORIGIN, origin, "origin")
    if key is not None:
        _demand(_KEY, key, "key")
    keyed = f" | key={key}" if key is not None else ""
    return f"[Context: {category} | loop_inject=v2 | origin={origin}{keyed}] {text}"


def context_of(text: str) -> tuple[str, str | None, str | None] | None:
    """Return `(category, origin, key)` of the text of a row that records context, None for any other row."""
    match = _CONTEXT.match(text)
    return (match["category"], match["origin"], match["key"]) if match else None


def latest_keyed(texts: Iterable[str]) -> list[str]:
    """Return those pending injections that are sent: of several with one key the latest, unkeyed ones all (MEM-159)."""
    kept: dict[object, str] = {}
    for number, text in enumerate(texts):
        found = context_of(text)
        key: object = found[2] if found and found[2] is not None else number
        kept.pop(key, None)  # the latest also takes its place at the end
        kept[key] = text
    return list(kept.values())


def requeued(texts: Iterable[str]) -> list[str]:
    """Return the injections that are sent again after a restart: the latest of each key, and no others (MEM-159)."""
    keyed = [text for text in texts if (found := context_of(text)) and found[2] is not None]
    return latest_keyed(keyed)


def emergency_bound(threshold: int) -> int:
    """Return the size from which a compaction does not wait for the turn that saves memory (MEM-157)."""
    return min(threshold + 30_000, threshold * 13 // 10)


def _demand(pattern: re.Pattern[str], value: str, what: str) -> None:
    if not pattern.fullmatch(value):
        raise UsageError(f"{value!a:.80} is not a {what}")


def _path(match: re.Match[str]) -> str:
    return match[1].strip(_BLANKS)


def _replacement(path: str, snapshot: Snapshot) -> str:
    text = snapshot.text(path)
    return missing(path) if text is None else wrapped(path, text)


def _attribute(value: str) -> str:
    return value.replace("&", "&amp;").replace('"', "&quot;")

"""Declarations as comparable token lists: what two spellings share is equal, nothing is evaluated."""

from __future__ import annotations

from collections.abc import Sequence

from adf_format.structure import tokens

Tokens = tuple[str, ...]
_QUOTES = {'"': '"', "`": "`", "[": "]"}
_BOOLEAN = {"false": "0", "true": "1"}
_TYPES = (
    ("INTEGER", ("INT",)),
    ("TEXT", ("CHAR", "CLOB", "TEXT")),
    ("BLOB", ("BLOB",)),
    ("REAL", ("REAL", "FLOA", "DOUB")),
)


def affinity(declared: str) -> str:
    """Return the affinity that SQLite derives from a declared type (its datatype rules, section 3.1)."""
    kind = declared.upper()
    if not kind:
        return "BLOB"
    return next((name for name, parts in _TYPES if any(part in kind for part in parts)), "NUMERIC")


def normal(sql: str) -> Tokens:
    """Return the tokens of an expression: names without quotes in lower case, no parentheses around it all."""
    return _bare([_plain(token) for token in tokens(sql)])


def default(sql: str | None) -> Tokens | None:
    """Return the tokens of a DEFAULT, None where there is none or it is NULL."""
    if sql is None:
        return None
    # SQLite takes "none" for the string 'none' here
    found = _bare(
        ["'" + token[1:-1].replace("'", "''") + "'" if token[0] == '"' else _plain(token) for token in tokens(sql)]
    )
    if len(found) == 2 and found[0] == "+":
        found = found[1:]
    return None if found == ("null",) else tuple(_BOOLEAN.get(token, token) for token in found)


def checks(sql: str) -> list[Tokens]:
    """Return every CHECK expression of a CREATE TABLE statement, normalised."""
    words = tokens(sql)
    starts = [at for at, word in enumerate(words[:-1]) if word.upper() == "CHECK" and words[at + 1] == "("]
    return [check(words[at + 1 : _closing(words, at + 1)]) for at in starts]


def check(words: Sequence[str]) -> Tokens:
    """Normalise the tokens of one CHECK; the items of `x IN (...)` are a set."""
    found = _bare([_plain(word) for word in words])
    found = tuple(word for at, word in enumerate(found) if not (word == "=" and found[at - 1 : at] == ("=",)))
    if found[1:3] == ("in", "(") and found[-1:] == (")",):
        return (*found[:3], *sorted(set(found[3:-1]) - {","}), ")")
    return found


def index_keys(sql: str) -> tuple[list[Tokens], bool]:
    """Return the keys of a CREATE INDEX statement and whether a WHERE makes it partial."""
    words = tokens(sql)
    start = next((at for at, word in enumerate(words) if word == "("), len(words))
    end = _closing(words, start)
    return [key(part) for part in _split(words[start + 1 : end - 1])], end < len(words)


def key(words: Sequence[str]) -> Tokens:
    """Normalise the tokens of one key of an index; ASC is the default."""
    found = tuple(_plain(word) for word in words)
    return _bare(found[:-1] if found[-1:] == ("asc",) else found)


def table_options(sql: str) -> frozenset[str]:
    """Return the words after the closing parenthesis of a CREATE TABLE statement, in upper case."""
    words = tokens(sql)
    start = next((at for at, word in enumerate(words) if word == "("), len(words))
    return frozenset(word.upper() for word in words[_closing(words, start) :])


def _closing(words: Sequence[str], start: int) -> int:
    """Return the position after the parenthesis that closes the one at `start`."""
    depth = 0
    for at in range(start, len(words)):
        depth += (words[at] == "(") - (words[at] == ")")
        if depth == 0:
            return at + 1
    return len(words)


def _split(words: Sequence[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    depth = 0
    for word in words:
        depth += (word == "(") - (word == ")")
        if word == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _bare(words: Sequence[str]) -> Tokens:
    while len(words) > 1 and words[0] == "(" and _closing(words, 0) == len(words) and words[-1] == ")":
        words = words[1:-1]
    return tuple(words)


def _plain(token: str) -> str:
    if token[0] == "'":
        return token
    closing = _QUOTES.get(token[0])
    if closing and len(token) > 1 and token[-1] == closing:
        return token[1:-1].replace(closing * 2, closing).lower()
    return token.lower()

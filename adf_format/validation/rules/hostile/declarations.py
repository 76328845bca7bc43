"""What the schema of a file would do to the program that opens it."""

from __future__ import annotations

from itertools import pairwise

from adf_format.schemas.checker import brief
from adf_format.structure import tokens
from adf_format.validation.context import Context
from adf_format.validation.rules.hostile import catalogue

FUNCTIONS = frozenset(
    {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "fsdir", "zipfile", "lsmode", "eval"}
)
TABLES = frozenset({"sqlite_dbpage", "sqlite_dbdata", "sqlite_dbptr"})


def functions(context: Context) -> None:
    """Report declarations that call a function which reaches outside the database."""
    for kind, name, table, sql in context.structure.objects:
        words = [token.strip('"`[]').lower() for token in tokens(sql or "") if token[0] != "'"]
        called = {word for word, after in pairwise(words) if after == "("}
        found = sorted((called & FUNCTIONS) | (set(words) & TABLES))
        if found:
            said = f"the {kind} {brief(name)} uses {', '.join(found)}"
            context.report(catalogue.SUSPICIOUS_SQL, said, table=table)


def views(context: Context) -> None:
    """Report views named like tables of the format, and views that refer to themselves."""
    bodies: dict[str, set[str]] = {}
    for kind, name, _, sql in context.structure.objects:
        if kind != "view":
            continue
        if name.lower().startswith("adf_") and name not in context.version.tables:
            context.report(catalogue.VIEW, f"the view {brief(name)} is named like a table of the format", table=name)
        bodies[name.lower()] = _body(sql or "")
    for name in _circular(bodies):
        context.report(catalogue.VIEW, f"the view {brief(name)} refers to itself", table=name)


def _body(sql: str) -> set[str]:
    """Return the words after the first AS; a name of a WITH clause may be that of the view."""
    words = [token.strip('"`[]').lower() for token in tokens(sql)]
    body = words[words.index("as") + 1 :] if "as" in words else []
    named = {word for word, after in pairwise(body) if after == "as"} if "with" in body else set()
    return set(body) - named


def _circular(bodies: dict[str, set[str]]) -> list[str]:
    """Return the views that are left when those without a view in their body are taken away again and again."""
    waiting = {name: body & bodies.keys() for name, body in bodies.items()}
    users: dict[str, list[str]] = {}
    for name, used in waiting.items():
        for other in used:
            users.setdefault(other, []).append(name)
    free = [name for name, used in waiting.items() if not used]
    while free:
        done = free.pop()
        del waiting[done]
        for user in users.get(done, ()):
            waiting[user].discard(done)
            if not waiting[user]:
                free.append(user)
    return list(waiting)

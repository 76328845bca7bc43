"""Files that other parts of the agent count on."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from adf_format.config.memory import SectionMemory
from adf_format.errors import JsonTextError
from adf_format.jsontext import decode
from adf_format.schemas import checker
from adf_format.schemas.checker import pointer as pointer_of
from adf_format.validation.context import Context, Pass
from adf_format.validation.explained import explained
from adf_format.validation.rule import Severity, rule

CORE = (("mind.md", 21), ("soul.md", 25), ("mind/log.md", 28))  # path, first storage version
JSON_FILES = (("skills-state.json", "skills-state"), ("skills-registry.json", "skills-registry"))
MEMORY: SectionMemory[list[tuple[str, Any]]] = SectionMemory()
LARGEST_JSON_FILE = 1 << 20  # the registry is at most 32,768 bytes, the state is smaller

CORE_MISSING = rule(
    "ADF710",
    "core-file-missing",
    Severity.INFO,
    what="The files that hold the agent's mind are there.",
    why="The runtime injects `mind.md` at each session start; without it the agent starts without memory.",
    source=("MIG-031", "MIG-048", "SEED-MEMORY The Mind File"),
    fires="DELETE FROM adf_files WHERE path = 'mind.md'",
    silent="DELETE FROM adf_files WHERE path = 'README.md'",
)
CORE_UNPROTECTED = rule(
    "ADF711",
    "core-file-deletable",
    Severity.INFO,
    what="The files that hold the agent's mind are protected against deletion.",
    why="The agent itself can delete its memory with an ordinary tool call.",
    source=("MIG-031", "MIG-048"),
    fires="UPDATE adf_files SET protection = 'none' WHERE path = 'mind.md'",
    silent="UPDATE adf_files SET protection = 'read_only' WHERE path = 'mind.md'",
)
LAMBDA = rule(
    "ADF712",
    "config-lambda-file-missing",
    Severity.WARNING,
    what="The file of every lambda in the configuration is in `adf_files`.",
    why="The route, trigger or tap fails whenever it is called.",
    source=("CFG 2.5", "CFG 2.18"),
    fires="UPDATE adf_config SET config_json = json_set(config_json, '$.serving.api[0].lambda', 'lib/gone.ts:run')",
    silent="UPDATE adf_config SET config_json = json_set(config_json, '$.serving.api[0].lambda', 'lib/watch.ts:run')",
)
SKILLS = rule(
    "ADF713",
    "skills-file-malformed",
    Severity.WARNING,
    what="`skills-state.json` and `skills-registry.json` have the shape that their reader expects.",
    why="A malformed state file counts as an empty mute list: muted skills come back.",
    source=("CFG 4.10",),
    fires=(
        "INSERT INTO adf_files SELECT 'skills-state.json', CAST('{\"schema\":1}' AS BLOB), 'application/json', 12,"
        " 'none', 0, created_at, updated_at FROM adf_files WHERE path = 'mind.md'"
    ),
    silent=(
        "INSERT INTO adf_files SELECT 'skills-state.json', CAST('{\"schema\":1,\"disabled\":[]}' AS BLOB),"
        " 'application/json', 26, 'none', 0, created_at, updated_at FROM adf_files WHERE path = 'mind.md'"
    ),
)


def is_missing(context: Context, path: str) -> bool:
    """Whether the agent is known to have no file of this path; one look-up in the primary key."""
    if not context.has("adf_files", "path"):
        return False
    query = "SELECT 1 FROM adf_files WHERE path = ?"
    try:
        return context.container.connection.execute(query, (path,)).fetchone() is None
    except UnicodeEncodeError:  # a lone surrogate, which no text in UTF-8 can hold
        return True


def file_of_lambda(reference: object) -> str | None:
    """Return the path in a lambda reference (`lib/file.ts:function`, `lib/run.sh`), None if there is none."""
    if not isinstance(reference, str) or not reference:
        return None
    head, _, tail = reference.rpartition(":")
    return head if head and "/" not in tail else reference


def check_core(context: Context) -> None:
    """Look for the mind's files and their protection."""
    query = "SELECT rowid, protection FROM adf_files WHERE path = ?"
    for path, since in CORE:
        if context.version.number < since:
            continue
        found = context.container.connection.execute(query, (path,)).fetchone()
        if found is None:
            context.report(CORE_MISSING, f"{path} is missing", table="adf_files")
        elif found[1] == "none":
            place = {"table": "adf_files", "rowid": found[0], "column": "protection"}
            context.report(CORE_UNPROTECTED, f"{path} can be deleted by the agent", **place)


def check_lambdas(context: Context) -> None:
    """Look for the files of the lambdas that the configuration names."""
    config = context.config
    if isinstance(context.config_text, str) and '"lambda"' not in context.config_text:
        return  # most agents name none
    for pointer, reference in _lambdas_of(config):
        file = file_of_lambda(reference)
        if file is not None and is_missing(context, file):
            text = "the file of the lambda is not in adf_files"
            context.report(LAMBDA, text, table="adf_config", rowid=1, column="config_json", pointer=pointer)


def _lambdas_of(config: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    if isinstance(config.get("lambda"), str):
        yield "/lambda", config["lambda"]
    for section, value in config.items():
        if isinstance(value, dict | list):
            pointer = pointer_of((section,))
            yield from MEMORY.recall(section, value, partial(_lambdas, value, pointer, 1))


def _lambdas(value: Any, pointer: str, depth: int = 0) -> list[tuple[str, Any]]:
    """List `(pointer, reference)` of every `lambda` key; the configuration nests at most a few levels."""
    found: list[tuple[str, Any]] = []
    if depth > 8:
        return found
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "lambda" and isinstance(inner, str):
                found.append((f"{pointer}/lambda", inner))
            elif isinstance(inner, dict | list):
                found += _lambdas(inner, pointer + pointer_of((key,)), depth + 1)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if isinstance(inner, dict | list):
                found += _lambdas(inner, f"{pointer}/{index}", depth + 1)
    return found


def check_skills(context: Context) -> None:
    """Check the JSON files that a runtime reads back."""
    query = "SELECT rowid, content FROM adf_files WHERE path = ? AND octet_length(content) <= ?"
    for path, name in JSON_FILES:
        found = context.container.connection.execute(query, (path, LARGEST_JSON_FILE)).fetchone()
        if found is not None:
            _check_skills_file(context, path, checker(context.version.value(name)), *found)


def _check_skills_file(context: Context, path: str, check: Any, rowid: int, content: Any) -> None:
    place = {"table": "adf_files", "rowid": rowid, "column": "content"}
    try:
        decoded = decode(bytes(content) if not isinstance(content, str) else content)
    except (JsonTextError, TypeError):
        context.report(SKILLS, f"{path} is not JSON", **place)
        return
    if decoded.duplicates:
        context.report(SKILLS, f"{path}: an object names a key more than once", **place)
    if not check.is_valid(decoded.value):
        for problem in explained(context, check, decoded.value, path):
            context.report(SKILLS, f"{path}: {problem.message}", **place, pointer=problem.pointer or None)


PASSES = (
    Pass("files of the mind", (CORE_MISSING, CORE_UNPROTECTED), check_core, ("adf_files",)),
    Pass("lambdas of the configuration", (LAMBDA,), check_lambdas, ("adf_files", "adf_config")),
    Pass("skills files", (SKILLS,), check_skills, ("adf_files",)),
)

"""Saboteurs of validators: blind to one thing, or too strict about another."""

from __future__ import annotations

import json
from collections.abc import Callable

from adf_conformance.mutants.mutant import After, Before, Mutant, Params
from adf_conformance.mutants.tampering import blind, copied, database, holds

_VALIDATE = "file/validate"
_TRANSCRIPTS = "source = 'loop' OR source LIKE 'loop:%'"


def _strict(question: str) -> After:
    """Return a change that finds fault with what is legal."""

    def after(params: Params, answer: Params) -> Params:
        if holds(params["path"], question):
            return {"result": {"valid": False, "findings": [{"severity": "error", "message": "not as I know it"}]}}
        return answer

    return after


def _blind_to_config(edit: Callable[[Params], object]) -> Before:
    def before(params: Params) -> Params:
        copy = copied(params["path"])
        try:
            with database(copy) as connection:
                config = json.loads(connection.execute("SELECT config_json FROM adf_config").fetchone()[0])
                edit(config)
                connection.execute("UPDATE adf_config SET config_json = ?", (json.dumps(config),))
        except Exception:  # noqa: BLE001 - a file that is broken otherwise: left as it is
            return params
        return params | {"path": str(copy)}

    return before


def _without_names(config: Params) -> None:
    names = [str(loop.get("name", "x")).strip().lower().replace("main", "m") for loop in config.get("loops", [])]
    for loop, name in zip(config.get("loops", []), names, strict=True):
        loop["name"] = name


def _sixteen(config: Params) -> None:
    config["loops"] = config.get("loops", [])[:16]


def _everything_is_fine(_: Params, answer: Params) -> Params:
    return {"result": {"valid": True, "findings": []}} if "result" in answer else answer


def _traces(params: Params) -> Params:
    try:
        with database(params["path"]) as connection:
            connection.execute("PRAGMA user_version = 9")
    except Exception:  # noqa: BLE001 - no database
        return params
    return params


class _Sticky:
    """Remembers its first verdict, as a validator with a cache by name would."""

    def __init__(self) -> None:
        self.answers: list[Params] = []

    def __call__(self, _: Params, answer: Params) -> Params:
        """Answer what was answered two files before."""
        self.answers.append(answer)
        return self.answers[-3] if len(self.answers) > 2 else answer


def _without_log(params: Params) -> Params:
    return params | {"path": str(copied(params["path"], log=False))}


MUTANTS = (
    Mutant("validator.accepts-everything", _VALIDATE, after=_everything_is_fine),
    Mutant(
        "validator.roles-unchecked",
        _VALIDATE,
        before=blind("UPDATE adf_loop SET role = 'user' WHERE role NOT IN ('user', 'assistant')"),
    ),
    Mutant(
        "validator.content-unchecked",
        _VALIDATE,
        before=blind("UPDATE adf_loop SET content_json = '[]' WHERE NOT json_valid(content_json)"),
    ),
    Mutant(
        "validator.ranges-unchecked",
        _VALIDATE,
        before=blind(
            "UPDATE adf_audit SET start_seq = end_seq, end_seq = start_seq WHERE start_seq > end_seq",
            f"UPDATE adf_audit SET start_seq = 1, end_seq = 99999 WHERE ({_TRANSCRIPTS})",
        ),
    ),
    Mutant("validator.config-unread", _VALIDATE, before=_blind_to_config(lambda config: config.pop("loops", None))),
    Mutant("validator.loop-names-unchecked", _VALIDATE, before=_blind_to_config(_without_names)),
    Mutant("validator.loops-uncounted", _VALIDATE, before=_blind_to_config(_sixteen)),
    Mutant(
        "validator.damaged-snapshots-skipped",
        _VALIDATE,
        before=blind(f"DELETE FROM adf_audit WHERE {_TRANSCRIPTS}"),
    ),
    Mutant(
        "validator.protections-unchecked",
        _VALIDATE,
        before=blind("UPDATE adf_files SET protection = 'none'"),
    ),
    Mutant(
        "validator.unknown-tables-rejected",
        _VALIDATE,
        after=_strict("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'adf_future'"),
    ),
    Mutant(
        "validator.null-ranges-rejected",
        _VALIDATE,
        after=_strict("SELECT count(*) FROM adf_audit WHERE source = 'loop' AND start_seq IS NULL"),
    ),
    Mutant("validator.negative-ord-rejected", _VALIDATE, after=_strict("SELECT count(*) FROM adf_loop WHERE ord <= 0")),
    Mutant(
        "validator.status-closed",
        _VALIDATE,
        after=_strict("SELECT count(*) FROM adf_inbox WHERE status NOT IN ('unread', 'read', 'archived')"),
    ),
    Mutant(
        "validator.empty-content-rejected",
        _VALIDATE,
        after=_strict("SELECT count(*) FROM adf_loop WHERE content_json = '[]'"),
    ),
    Mutant("validator.leaves-traces", _VALIDATE, before=_traces),
    Mutant("validator.verdicts-mixed-up", _VALIDATE, after=_Sticky()),
)

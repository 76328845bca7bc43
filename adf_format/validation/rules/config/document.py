"""The row and its text: one row, one JSON object that a runtime can load."""

from __future__ import annotations

from adf_format.errors import JsonTextError, JsonTooLargeError
from adf_format.jsontext import Decoded
from adf_format.schemas.checker import brief
from adf_format.validation.context import Context, Pass
from adf_format.validation.rule import Severity, rule
from adf_format.validation.rules.rows.columns import OVERSIZE

from .reporting import PLACE, put, report

ROW = rule(
    "ADF401",
    "config-row",
    Severity.ERROR,
    what="`adf_config` holds exactly one row, with the id 1.",
    why="A runtime reads the row with the id 1 and fails to open the file without it.",
    source=("CFG 1.1", "CFG 3", "STO-030"),
    fires="DELETE FROM adf_config",
    silent="UPDATE adf_config SET updated_at = '2026-01-02T03:04:05.678Z'",
)
NOT_JSON = rule(
    "ADF402",
    "config-not-json",
    Severity.ERROR,
    what="`config_json` is JSON text.",
    why="Every read of the configuration throws: the agent cannot be opened.",
    source=("CFG 1.1", "CFG 3"),
    fires="UPDATE adf_config SET config_json = substr(config_json, 1, 100)",
    silent="UPDATE adf_config SET config_json = ' ' || config_json || char(10)",
)
UNLOADABLE = rule(
    "ADF403",
    "config-unloadable",
    Severity.ERROR,
    what="The configuration is an object, its `tools` an array and its `metadata` an object.",
    why="Reading fails without `tools`, the first write fails without `metadata`, whatever else is right.",
    source=("CFG 1.1", "CFG 3"),
    fires=put(("$.tools", {}), ("$.loops", [])),
    silent=put(("$.tools", []), ("$.loops", [])),
)
DUPLICATE_KEYS = rule(
    "ADF414",
    "config-duplicate-keys",
    Severity.WARNING,
    what="No object of the configuration names a key twice.",
    why="JavaScript keeps the last value, other readers the first; the next write drops one of them.",
    source=("STO-019", "AUD-010"),
    fires="""UPDATE adf_config SET config_json = '{"state":"off",' || substr(config_json, 2)""",
    silent="""UPDATE adf_config SET config_json = '{"x-note":"off",' || substr(config_json, 2)""",
    fix="keep the last of the values, which is the one in effect",
)
RULES = (OVERSIZE, ROW, NOT_JSON, DUPLICATE_KEYS)


def check(context: Context) -> None:
    """Look at the row and at the text in it."""
    if not context.has("adf_config", "id", "config_json"):
        return  # 2xx reports the missing column
    count, there = context.container.connection.execute("SELECT count(*), total(id = 1) > 0 FROM adf_config").get
    if count != 1 or not there:
        text = "there is no row with the id 1" if not there else f"{count:,} rows where one is expected"
        context.report(ROW, text, table="adf_config")
    if there:
        _check_text(context)


def _check_text(context: Context) -> None:
    decoded = context.config_decoded
    if isinstance(decoded, Decoded):
        for key in decoded.duplicates[:1000]:
            report(context, DUPLICATE_KEYS, f"an object names {brief(key)} more than once")
        return
    context.not_checked("configuration", "config_json cannot be read")
    if isinstance(decoded, JsonTooLargeError):
        context.report(OVERSIZE, decoded.message, **PLACE)
        return
    why = f"not JSON: {decoded}" if isinstance(decoded, JsonTextError) else "not text"
    context.report(NOT_JSON, why, **PLACE)


PASSES = (Pass("row and text of the configuration", RULES, check, ("adf_config",)),)

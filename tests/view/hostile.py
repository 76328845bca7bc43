"""Text that tries to run, to load, to lie or to break the layout, for every text column of a file."""

from __future__ import annotations

import json

import apsw

from adf_format.schemas.ddl import quote_any

RUNS = (
    "<script>window.hacked=1;alert(1)</script>",
    "\"><img src=x onerror='window.hacked=2'>",
    "<svg onload=window.hacked=3><animate onbegin=window.hacked=3 attributeName=x dur=1s></svg>",
    "[click](javascript:window.hacked=4) ![p](http://127.0.0.1:9/pixel.png) <http://127.0.0.1:9/a>",
    "<iframe src='data:text/html,<script>parent.hacked=5</script>'></iframe>",
    "</pre></details></li></ol></section></main><h1>outside</h1><style>*{display:none}</style>",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'><base href=http://127.0.0.1:9/>",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==) [y](vbscript:x) [z](JaVaScRiPt:window.hacked=6)",
    "<a href='javascript:window.hacked=7' style='position:fixed;inset:0'>x</a><form action=http://127.0.0.1:9><button>",
)
LIES = "user \u202eexe.fdp\u202c \u2066iso\u2069 \u200bhidden\ufeff \x00\x07\x1b[2J \U000e0041tag"
LONG = "W" * 30_000
ZALGO = "Z" + "\u0301\u0335\u0489" * 400
ALL = " ".join((*RUNS, LIES, ZALGO, LONG))
# lone surrogates can only stand in JSON escapes, never in UTF-8
BLOCKS = json.dumps(
    [
        {"type": "text", "text": ALL},
        {"type": "thinking", "thinking": ALL},
        {"type": "tool_use", "id": ALL, "name": ALL[:3000], "input": {ALL[:300]: ALL, "state": RUNS[0]}},
        {"type": "tool_use", "id": "x", "name": "loop_send", "input": {"to_loop": RUNS[1], "content": ALL}},
        {"type": "tool_use", "id": "y", "name": "sys_set_state", "input": {"state": RUNS[0]}},
        {"type": "image_url", "image_url": {"url": f"data:image/svg+xml;base64,{RUNS[2]}"}},
        {"type": "image_url", "image_url": {"url": "http://127.0.0.1:9/x.png"}},
        {"type": RUNS[0], "value": "lone \ud83d surrogate"},
    ]
)
RESULTS = json.dumps([{"type": "tool_result", "tool_use_id": "x", "content": ALL, "is_error": True}])
KEPT = {"adf_meta": {"adf_version", "adf_schema_version"}}


def poison(connection: apsw.Connection) -> None:
    """Put hostile text into every text column of every table, and hostile rows into every loop."""
    tables = [
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type='table' AND name GLOB 'adf_*'")
    ]
    for table in tables:
        columns = connection.execute("SELECT name, type, pk FROM pragma_table_xinfo(?)", (table,)).fetchall()
        for name, kind, key in columns:
            if (
                kind.upper() == "TEXT"
                and not key
                and name not in ("protection", "role", "loop", "content_json", "config_json")
            ):
                where = " WHERE key NOT GLOB '*version*'" if table == "adf_meta" else ""
                connection.execute(f"UPDATE {table} SET {quote_any(name)} = CAST(? AS TEXT){where}", (ALL,))
    connection.execute(
        "UPDATE adf_files SET path = ? || path, content = CAST(? AS BLOB)", (RUNS[0] + LIES.replace("\x00", ""), ALL)
    )
    connection.execute(
        "INSERT INTO adf_files SELECT 'mind.md', CAST(? AS BLOB), 'text/markdown', 9, 'none', 0, '', ''", (ALL,)
    )
    _config(connection)
    for seq, role, content, loop in (
        (100, "assistant", BLOCKS, "main"),
        (101, "user", RESULTS, "main"),
        (102, "user", json.dumps([{"type": "text", "text": ALL}]), "main"),
        (103, "user", json.dumps([{"type": "text", "text": f"[Context: {RUNS[0]}] {ALL}"}]), "main"),
        (104, "user", json.dumps([{"type": "text", "text": f"[from loop:{RUNS[1]}] {ALL}"}]), "main"),
        (105, "user", json.dumps([{"type": "text", "text": f"[Loop Compacted] {ALL}"}]), "main"),
        (106, "user", f"not json {ALL}", "main"),
        (107, RUNS[0], BLOCKS, RUNS[0] + LIES.replace("\x00", "")),
        (108, "user", json.dumps([{"type": "text", "text": f"[System notice: {ALL}"}]), "gardener"),
    ):
        connection.execute(
            "INSERT INTO adf_loop (seq, role, content_json, model, created_at, loop) VALUES (?, ?, ?, ?, ?, ?)",
            (seq, role, content, ALL, 1767225700000 + seq, loop),
        )


def _config(connection: apsw.Connection) -> None:
    config = json.loads(connection.execute("SELECT config_json FROM adf_config").get)

    def bad(value: object) -> object:
        if isinstance(value, dict):
            return {key: bad(one) for key, one in value.items()}
        if isinstance(value, list):
            return [bad(one) for one in value]
        return ALL[:4000] if isinstance(value, str) else value

    loops = [
        {"name": RUNS[0], "goal": ALL, "enabled": True, "tools": [ALL]},
        {"name": "gardener", "goal": ALL, "enabled": True},
    ]
    changed = bad(config)
    assert isinstance(changed, dict)
    connection.execute("UPDATE adf_config SET config_json = ?", (json.dumps(changed | {"loops": loops}),))

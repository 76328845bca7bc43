"""The rules of the family on security and hostile content, with their examples."""

from __future__ import annotations

from adf_format.validation.rule import Rule, Severity, rule

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


def _file(path: str) -> str:
    return f"UPDATE adf_files SET path = {path} WHERE path = 'notes/plan.md';"


def _config(pointer: str, value: str) -> str:
    return f"UPDATE adf_config SET config_json = json_set(config_json, '{pointer}', {value});"


def _said(text: str) -> str:
    """SQL that sets the text of a user row of the transcript."""
    return f"UPDATE adf_loop SET content_json = json_array(json_object('type', 'text', 'text', {text})) WHERE seq = 10;"


PATH_ESCAPES: Rule = rule(
    "ADF801",
    "path-leaves-the-agent",
    WARNING,
    what="Paths of files and attachments stay below their root: relative, without `..`, backslash, drive or NUL.",
    why="A program that extracts the file to that path overwrites files outside its folder.",
    source=("STO-030", "CFG 4.3"),
    fires=_file("'../../.bashrc'"),
    silent=_file("'notes/..plan.md'"),
)
PATH_UNPORTABLE: Rule = rule(
    "ADF802",
    "path-not-portable",
    INFO,
    what="Every part of a path is a name that common file systems can hold.",
    why="The file cannot be extracted under this name everywhere.",
    source=("STO-030",),
    fires=_file("'notes/con.md'"),
    silent=_file("'notes/console (1).md'"),
)
PATH_COLLIDES: Rule = rule(
    "ADF803",
    "path-collision",
    WARNING,
    what="No two files differ only in case or Unicode form, and no file is also the folder of another.",
    why="Extracted to a common file system, one of them overwrites the other.",
    source=("STO-030",),
    fires=_file("'MIND.md'"),
    silent=_file("'mind.md.old'"),
)
CONTROL_IN_NAME: Rule = rule(
    "ADF804",
    "control-character-in-name",
    WARNING,
    what="Names hold no control characters: paths, keys, purposes, loops, tools, senders, subjects, tables.",
    why="A name with an escape sequence can repaint the terminal of whoever lists it.",
    source=("CLI contract",),
    fires=_file("'notes/' || char(27) || '[2Jplan.md'"),
    silent=_file("'notes/' || char(233) || 'tat.md'"),
)
HIDDEN_IN_NAME: Rule = rule(
    "ADF805",
    "hidden-character-in-name",
    WARNING,
    what="Names hold no characters that are invisible or change the direction of writing.",
    why="The name that is shown is not the name that is used: `cod<RLO>gpj.exe` looks like a picture.",
    source=("CLI contract",),
    fires=_file("'notes/' || char(0x202e) || 'fdp.exe'"),
    silent=_file("'notes/' || char(0x5e9, 0x5dc, 0x5d5, 0x5dd) || '.md'"),
)
HIDDEN_TEXT: Rule = rule(
    "ADF806",
    "hidden-text",
    INFO,
    what="Texts hold no direction overrides and no tag characters other than those of flags.",
    why="A model reads what a person is not shown; this is how instructions are smuggled into an agent.",
    source=("CLI contract",),
    fires=_said("'fine' || char(0xe0069, 0xe0067, 0xe006e)"),
    silent=_said("char(0x1f3f4, 0xe0067, 0xe0062, 0xe0065, 0xe006e, 0xe0067, 0xe007f)"),
)
CONTROL_TEXT: Rule = rule(
    "ADF807",
    "control-character-in-text",
    INFO,
    what="Texts hold no control characters that steer a terminal (tabs, line breaks, form feeds, backspaces are fine).",
    why="Output of programs is full of them; a viewer that prints them raw lets the text steer the terminal.",
    source=("CLI contract",),
    fires=_said("char(27) || '[31mred'"),
    silent=_said("'the text \\u001b, spelled out' || char(10) || char(9)"),
)
SURROGATE: Rule = rule(
    "ADF808",
    "lone-surrogate",
    WARNING,
    what="Texts in JSON hold no half of a character outside the basic plane.",
    why="The text cannot be sent as UTF-8: a model provider refuses the whole request.",
    source=("BUG-28", "CMP-010", "AUD-010"),
    fires="""UPDATE adf_loop SET content_json = '[{"type":"text","text":"cut \\ud83d"}]' WHERE seq = 10;""",
    silent="""UPDATE adf_loop SET content_json = '[{"type":"text","text":"whole \\ud83d\\ude00"}]' WHERE seq = 10;""",
)
NESTING: Rule = rule(
    "ADF809",
    "nested-too-deeply",
    WARNING,
    what="JSON is nested at most 200 levels deep.",
    why="Readers that follow it recursively crash; no writer of the format nests more than a handful of levels.",
    source=("STO-019",),
    fires="UPDATE adf_logs SET data = replace(hex(zeroblob(150)), '0', '[') || replace(hex(zeroblob(150)), '0', ']')"
    " WHERE id = 1;",
    silent="UPDATE adf_logs SET data = '[' || replace(hex(zeroblob(150)), '0', '[],') || '[]]' WHERE id = 1;",
)
HUGE: Rule = rule(
    "ADF810",
    "very-large-text",
    WARNING,
    what="No text outside files and snapshots is larger than 16 MiB.",
    why="Runtimes load whole rows; one of this size is more than a context window of any model can hold.",
    source=("ROW-022",),
    fires="UPDATE adf_logs SET message = replace(hex(zeroblob(9000000)), '0', '.') WHERE id = 1;",
    silent="UPDATE adf_logs SET message = replace(hex(zeroblob(900000)), '0', '.') WHERE id = 1;",
)
SUSPICIOUS_SQL: Rule = rule(
    "ADF811",
    "suspicious-sql",
    WARNING,
    what="Nothing in the schema calls a function that reaches outside the database.",
    why="Opened with a permissive program, the file would read or write other files, or run code.",
    source=("STO-003",),
    fires="PRAGMA writable_schema = ON;\n"
    "INSERT INTO sqlite_schema VALUES ('view', 'local_look', 'local_look', 0,\n"
    "  'CREATE VIEW local_look AS SELECT readfile(''/etc/passwd'')');\nPRAGMA writable_schema = OFF;",
    silent="CREATE VIEW local_look AS SELECT id AS readfile FROM adf_logs;",
)
VIEW: Rule = rule(
    "ADF812",
    "misleading-view",
    WARNING,
    what="No view is named like a table of the format, and none refers to itself.",
    why="Programs take the view for data of the runtime, or fail on reading it.",
    source=("STO-020",),
    fires="CREATE VIEW adf_secrets AS SELECT 1 AS x;",
    silent="CREATE VIEW local_open AS SELECT * FROM adf_tasks WHERE status = 'pending';",
)
SECRET_IN_CONFIG: Rule = rule(
    "ADF813",
    "secret-in-config",
    WARNING,
    what="The configuration holds no password, key or token.",
    why="Whoever gets the file can read it, and the agent sees its own configuration; adf_identity is the place.",
    source=("CFG 2.17", "CFG 2.22"),
    fires=_config("$.providers[0].apiKey", "'correct-horse-battery'"),
    silent=_config("$.mcp.servers[0].bearer_token_env_var", "'GITHUB_TOKEN'"),
    fix="store it in adf_identity and change it at its issuer",
)
KEY_EXPOSED: Rule = rule(
    "ADF814",
    "private-key-open-to-code",
    WARNING,
    what="Code of the agent has no access to its private signing key.",
    why="Any lambda can then sign in the name of the agent, or give the key away.",
    source=("CFG 4.7",),
    fires="UPDATE adf_identity SET code_access = 1 WHERE purpose = 'crypto:signing:private_key';",
    silent="UPDATE adf_identity SET code_access = 1 WHERE purpose = 'crypto:signing:public_key';",
    fix="set code_access to 0",
)
PLAIN_SECRET: Rule = rule(
    "ADF815",
    "credential-in-plain",
    INFO,
    what="Credentials of servers, adapters and providers are encrypted.",
    why="Whoever gets the file gets the credential. Legal, but worth knowing before the file is passed on.",
    source=("CFG 4.7",),
    fires="UPDATE adf_identity SET encryption_algo = 'plain' WHERE purpose LIKE 'adapter:%';",
    silent="UPDATE adf_identity SET encryption_algo = 'plain' WHERE purpose LIKE 'crypto:%';",
)
BIG_NUMBER: Rule = rule(
    "ADF816",
    "number-beyond-double",
    INFO,
    what="Integers in JSON stay within 2^53 (only with --deep).",
    why="A JavaScript runtime rounds them when it reads the row, and stores the rounded one when it writes it.",
    source=("AUD-010",),
    fires="UPDATE adf_logs SET data = '{\"id\":9007199254740993}' WHERE id = 1;",
    silent='UPDATE adf_logs SET data = \'{"id":"9007199254740993"}\' WHERE id = 1;',
)
ACTIVE_HTML: Rule = rule(
    "ADF817",
    "active-html",
    INFO,
    what="Texts of the transcript and of messages hold no HTML that runs code (only with --deep).",
    why="It is data and legal; a viewer that does not escape it runs it.",
    source=("CLI contract",),
    fires=_said("'<img src=x onerror=alert(1)>'"),
    silent=_said("'a < b and onerror is an attribute'"),
)

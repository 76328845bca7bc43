"""Security: what a file could do to the programs and people that open it. It is data; nothing here runs it."""

from __future__ import annotations

from adf_format.validation.context import Depth, Pass, Visit
from adf_format.validation.rules.hostile import catalogue, credentials, declarations, names, paths, texts

_NAME_RULES = (catalogue.CONTROL_IN_NAME, catalogue.HIDDEN_IN_NAME)
_PATH_RULES = (catalogue.PATH_ESCAPES, catalogue.PATH_UNPORTABLE, catalogue.PATH_COLLIDES)
_SQL_RULES = (catalogue.SUSPICIOUS_SQL,)
_TEXT_RULES = (
    catalogue.HIDDEN_TEXT,
    catalogue.CONTROL_TEXT,
    catalogue.SURROGATE,
    catalogue.NESTING,
    catalogue.HUGE,
)
_DEEP_RULES = (catalogue.BIG_NUMBER, catalogue.ACTIVE_HTML)
_TEXT_TABLES = tuple(texts.JSON_COLUMNS.keys() | texts.TEXT_COLUMNS.keys())

PASSES = (
    Pass(
        "functions in the schema",
        (catalogue.SUSPICIOUS_SQL,),
        declarations.functions,
        depth=Depth.QUICK,
        structural=True,
    ),
    Pass("views", (catalogue.VIEW,), declarations.views, depth=Depth.QUICK, structural=True),
    Pass("names in the schema", _NAME_RULES, names.of_schema, depth=Depth.QUICK, structural=True),
    Pass("names in the configuration", _NAME_RULES, names.of_config, ("adf_config",)),
    Pass("secrets in the configuration", (catalogue.SECRET_IN_CONFIG,), credentials.in_config, ("adf_config",)),
)
VISITS = (
    Visit(
        "secrets in adf_identity",
        (catalogue.KEY_EXPOSED, catalogue.PLAIN_SECRET),
        "adf_identity",
        credentials.IdentitySecrets,
        credentials.IDENTITY,
    ),
    Visit("paths of files", _PATH_RULES, "adf_files", paths.Paths, ("path",)),
    Visit("attachments of received messages", (catalogue.PATH_ESCAPES, *_NAME_RULES), "adf_inbox", paths.Attachments),
    Visit("attachments of sent messages", (catalogue.PATH_ESCAPES, *_NAME_RULES), "adf_outbox", paths.Attachments),
    *(Visit(f"names in {table}", _NAME_RULES, table, names.Names) for table in names.NAME_COLUMNS),
    *(Visit(f"texts of {table}", _TEXT_RULES, table, texts.Texts) for table in sorted(_TEXT_TABLES)),
    *(
        Visit("integers beyond 2^53 and HTML that runs code", _DEEP_RULES, table, texts.DeepTexts, depth=Depth.DEEP)
        for table in sorted(_TEXT_TABLES)
    ),
)

"""SQL that a model wrote: judged by SQLite's authorizer while it compiles, never by its text."""

from adf_format.runtime.sql.running import Result, execute, query

__all__ = ["Result", "execute", "query"]

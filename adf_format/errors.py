"""The one exception hierarchy.

Every error names the file, the place inside it (table, rowid, JSON pointer, line) and what to do next.
The command line turns an error into one line on stderr and the exit code of its class; nothing else
reaches a user.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

EXIT_OK = 0
EXIT_FINDINGS = 1
EXIT_USAGE = 2
EXIT_UNREADABLE = 3
EXIT_INTERRUPTED = 130


@dataclass(eq=False)
class AdfError(Exception):
    """Root of all errors raised on purpose by this package.

    :ivar message: what is wrong, one sentence without a final full stop
    :ivar file: the file concerned, if any
    :ivar place: table, rowid, JSON pointer or line inside the file, if any
    :ivar hint: what to do next, if anything can be done
    """

    message: str
    file: Path | None = None
    place: str | None = None
    hint: str | None = None

    exit_code = EXIT_UNREADABLE

    def __str__(self) -> str:
        where = ": ".join(part for part in (str(self.file) if self.file else "", self.place or "") if part)
        text = f"{where}: {self.message}" if where else self.message
        return f"{text} ({self.hint})" if self.hint else text


class UnreadableError(AdfError):
    """The input could not be read or processed at all (exit code 3)."""


class MissingFileError(UnreadableError):
    """No such file, or not a regular file."""


class NotAnAdfError(UnreadableError):
    """The file is not an `.adf` (STO-001)."""


class EncryptedError(UnreadableError):
    """The file looks encrypted or compressed as a whole."""


class DamagedError(UnreadableError):
    """SQLite cannot read the file: truncated, torn or overwritten."""


class LockedError(UnreadableError):
    """Another process holds the file in a way that forbids a consistent read (STO-008); worth a retry."""


class LimitError(UnreadableError):
    """A resource limit (size, depth, time, memory) was hit."""


class NewerSchemaError(UnreadableError):
    """The storage schema is newer than this tool knows; nothing is written to such a file (MIG-005)."""


class VerificationError(UnreadableError):
    """The result of a change did not pass its check; the hint says what has become of the file."""


class MigrationError(UnreadableError):
    """A step of a migration cannot be done on this file; nothing of that step stays."""


class JsonTextError(AdfError):
    """A text is not JSON; `place` holds the character offset."""


class JsonTooLargeError(JsonTextError):
    """A text was not decoded because its value could take more memory than one value is given."""


class SchemaError(AdfError):
    """One of our own schema documents is missing or inconsistent."""


class UsageError(AdfError):
    """The caller asked for something that does not exist: a rule, an option, a version (exit code 2)."""

    exit_code = EXIT_USAGE

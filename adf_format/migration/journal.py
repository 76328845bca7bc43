"""Entries of a receipt while a run is under way: what was migrated stays proven if the run is killed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from adf_format.audit import javascript_json
from adf_format.errors import AdfError, UnreadableError
from adf_format.jsontext import decode


class Journal:
    """One line of JSON per entry in a hidden file beside the receipt; it goes when the receipt is there.

    :ivar entries: all entries, those of an interrupted run with the same receipt first
    :ivar taken_over: how many were left by such a run
    """

    def __init__(self, receipt: Path) -> None:
        """Open the journal of a receipt, and take over what an interrupted run left.

        :raises UnreadableError: it cannot be read or written
        """
        place = receipt.resolve()
        self.path = place.with_name(f".{place.name}.unfinished")
        self._receipt = receipt
        self.entries: list[Mapping[str, Any]] = []
        with self._named():
            if self.path.exists():
                self._take_over()
            self.path.open("ab").close()  # what cannot be written is said before anything is migrated
        self.taken_over = len(self.entries)

    def add(self, entry: Mapping[str, Any]) -> None:
        """Note an entry, durably.

        :raises UnreadableError: it cannot be written
        """
        self.entries.append(entry)
        with self._named(), self.path.open("ab") as stream:
            stream.write(javascript_json(entry, exact=True).encode("utf-8") + b"\n")
            stream.flush()
            os.fsync(stream.fileno())

    def close(self) -> None:
        """Remove it, when the receipt has been written."""
        self.path.unlink(missing_ok=True)

    def _take_over(self) -> None:
        whole = self.path.read_bytes()
        lines, _, cut = whole.rpartition(b"\n")
        for line in lines.split(b"\n") if lines else ():
            with contextlib.suppress(AdfError):  # a line that is no JSON was never an entry
                found = decode(line).value
                if isinstance(found, dict):
                    self.entries.append(found)
        if cut:  # the kill came while this line was written
            os.truncate(self.path, len(whole) - len(cut))

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise UnreadableError(f"the receipt cannot be written: {error.strerror}", self._receipt) from error

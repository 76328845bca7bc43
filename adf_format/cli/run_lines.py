"""Lines of standard input for a program that does other things meanwhile."""

from __future__ import annotations

import asyncio
import os
from typing import TextIO

CHUNK = 65_536


class Lines:
    """Lines from a terminal, a pipe or a file, one at a time.

    A terminal or pipe is watched by the event loop, so that nothing has to wait for a thread when the program ends.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._left = b""
        self._handle: int | None = None
        self._read_directly = False

    def start(self) -> None:
        """Begin to watch."""
        try:
            self._handle = self._stream.fileno()
            asyncio.get_running_loop().add_reader(self._handle, self._readable)
        except (OSError, ValueError, NotImplementedError):  # no file behind it, or one that never makes us wait
            self._handle = None
            self._read_directly = True

    def stop(self) -> None:
        """Watch no longer."""
        if self._handle is not None:
            asyncio.get_running_loop().remove_reader(self._handle)
            self._handle = None

    async def next(self) -> str | None:
        """Return the next line without its end; None at the end of the input."""
        if self._read_directly:
            await asyncio.sleep(0)
            line = self._stream.readline()
            return line.rstrip("\r\n") if line else None
        return await self._queue.get()

    def _readable(self) -> None:
        if self._handle is None:
            return
        try:
            data = os.read(self._handle, CHUNK)
        except OSError:
            data = b""
        *whole, self._left = (self._left + data).split(b"\n")
        for line in whole:
            self._queue.put_nowait(_text(line))
        if not data:
            if self._left:
                self._queue.put_nowait(_text(self._left))
            self._queue.put_nowait(None)
            self.stop()


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r")

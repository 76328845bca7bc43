"""The store: one connection and the tables behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import apsw

from adf_format.container import open_live, open_readonly, stored_version
from adf_format.container.version import refuse_newer
from adf_format.creation.agent import iso
from adf_format.errors import UnreadableError
from adf_format.runtime.store.audit import Audit
from adf_format.runtime.store.checkpoints import Checkpoints
from adf_format.runtime.store.config import ConfigTable
from adf_format.runtime.store.files import Files
from adf_format.runtime.store.logs import Logs
from adf_format.runtime.store.messages import Messages
from adf_format.runtime.store.meta import Meta
from adf_format.runtime.store.tasks import Tasks
from adf_format.runtime.store.timers import Timers
from adf_format.runtime.store.transcript import Transcript
from adf_format.schemas import LATEST


class Store:
    """An open agent. Use it from one thread.

    :param now: gives the time of new rows, epoch ms
    """

    def __init__(self, path: Path, now: Callable[[], int]) -> None:
        _look(path)
        self._live = open_live(path)
        self._waiting: list[Callable[[], None]] = []
        self.path = path
        self.now = now
        self.audit = Audit(self)
        self.checkpoints = Checkpoints(self)
        self.config = ConfigTable(self)
        self.files = Files(self)
        self.logs = Logs(self)
        self.messages = Messages(self)
        self.meta = Meta(self)
        self.tasks = Tasks(self)
        self.timers = Timers(self)
        self.transcript = Transcript(self)

    @property
    def connection(self) -> apsw.Connection:
        """The one connection; its authorizer allows rows to be read and written, nothing else."""
        return self._live.connection

    @contextmanager
    def transaction(self) -> Iterator[apsw.Connection]:
        """Several writes at once, durable when the block ends; no `await` inside."""
        try:
            with self._live.transaction() as connection:
                yield connection
        except BaseException:
            self._waiting.clear()
            raise
        if self.connection.get_autocommit():
            waiting, self._waiting = self._waiting, []
            for action in waiting:
                action()

    def when_durable(self, action: Callable[[], None]) -> None:
        """Do something once what was written last is durable: at the end of the transaction, or now."""
        if self.connection.get_autocommit():
            action()
        else:
            self._waiting.append(action)

    def authorized(self, authorizer: apsw.Authorizer | None) -> AbstractContextManager[None]:
        """A stretch under another authorizer."""
        return self._live.authorized(authorizer)

    def iso(self) -> str:
        """Return the time as texts of the format have it."""
        return iso(datetime.fromtimestamp(self.now() / 1000, UTC))

    def close(self, *, clean: bool = True) -> None:
        """Close the file: with the marker of a clean close, or as it is."""
        self._live.close(self.iso() if clean else None)


def _look(path: Path) -> None:
    """Refuse what cannot be run, before anything is written.

    :raises UnreadableError: no agent, or of another storage version
    """
    with open_readonly(path) as container:
        version = stored_version(container.connection)
    refuse_newer(version, LATEST, path)
    if version != LATEST:
        raise UnreadableError(
            f"storage version {version} is older than {LATEST}, which this runtime runs", path, hint="migrate it first"
        )

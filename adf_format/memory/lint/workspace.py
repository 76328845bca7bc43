"""Looking through a workspace: every file once, whatever lies in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from pathlib import Path

from adf_format.errors import AdfError
from adf_format.memory.distill import state as states
from adf_format.memory.distill.due import due
from adf_format.memory.folder import Folder, Known
from adf_format.memory.lint import daily, longterm, secrecy, tracker
from adf_format.memory.lint.document import Document
from adf_format.schemas import LATEST
from adf_format.validation.engine import Options
from adf_format.validation.findings import Collector
from adf_format.validation.report import FileReport, Stats

LARGEST = 8 << 20  # bytes; no session loads as much, and no rule needs it
_TEXTS = (".md", ".json", ".txt", ".yaml", ".yml", ".toml", ".env")


_ALL = Options()


@dataclass(frozen=True)
class Moment:
    """What time it is, and in which zone days are counted."""

    now: datetime
    where: tzinfo

    @property
    def today(self) -> date:
        """The day in the zone of the workspace."""
        return self.now.astimezone(self.where).date()


def check_workspace(root: Path, moment: Moment, options: Options = _ALL) -> FileReport:
    """Check a workspace by the rules on memory; reading changes nothing.

    Files that are no UTF-8, larger than `LARGEST` or outside the root are named under `not_checked`.
    """
    report = FileReport(str(root), stats=Stats(depth="default"))
    report.stats.source = "folder"
    collector = Collector(options.wanted, options.severities, LATEST)
    try:
        folder = Folder(root)
        if folder.recognised:
            _Look(folder, moment, collector, report).run()
        else:
            why = "there is none: no folder memory/ with something of a memory in it"
            report.stats.not_checked.append({"what": "the workspace", "why": why})
    except AdfError as error:
        error.file = error.file or root
        report.error = str(error)
    report.findings = collector.findings()
    report.left_out = collector.left_out
    return report


class _Look:
    def __init__(self, folder: Folder, moment: Moment, collector: Collector, report: FileReport) -> None:
        self._folder, self._moment, self._collector, self._report = folder, moment, collector, report
        self._kept: dict[str, Document] = {}

    def run(self) -> None:
        channels, filled = [], []
        for known in self._folder.files():
            document = self._document(known)
            if document is None:
                continue
            secrecy.check(document)
            if known.path.count("/") == 1:
                daily.check(document, self._moment.today)
            if known.role == "channel":
                longterm.check_channel(document)
                channels.append(document)
            elif known.role == "daily" and known.day is not None and not states.is_empty(document.text.encode()):
                filled.append(known.day)
            elif known.role not in ("daily", "other"):
                self._kept[known.role] = document
        longterm.check_names(channels)
        self._whole(filled)

    def _whole(self, filled: list[date]) -> None:
        """Look at what is there once, and how it goes together."""
        moment, kept = self._moment, self._kept
        listed = tracker.check_tracker(kept["tasks"], moment.now, moment.where) if "tasks" in kept else []
        if "long_term" in kept:
            longterm.check_memory(kept["long_term"])
        if "active_context" in kept:
            longterm.check_context(kept["active_context"], moment.today, filled)
            tracker.check_promises(kept["active_context"], listed)
        if "state" in kept:
            tracker.check_state(kept["state"], moment.now, moment.where)
        last, _ = states.last(self._folder, moment.where)
        local = moment.now.astimezone(moment.where)
        if last.at is not None and last.at <= moment.now + timedelta(minutes=5):
            found = due(states.candidates(self._folder, last, local), last, local)
            tracker.check_due(kept.get("state"), found, self._collector.report)

    def _document(self, known: Known) -> Document | None:
        self._report.stats.rows[known.role] = self._report.stats.rows.get(known.role, 0) + 1
        if known.size > LARGEST:
            self._skipped(known, f"more than {LARGEST >> 20} MB")
            return None
        try:
            content = self._folder.read(known.path)
        except AdfError as error:
            self._skipped(known, error.message)
            return None
        if content is None:
            return None
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            if known.path.lower().endswith(_TEXTS):  # another file is a picture or the like
                self._skipped(known, f"not UTF-8 at byte {error.start}")
            return None
        changed = None if known.mtime_ns is None else datetime.fromtimestamp(known.mtime_ns / 1e9, self._moment.where)
        return Document(known.path, text, {"file": known.path}, self._collector.report, changed)

    def _skipped(self, known: Known, why: str) -> None:
        self._report.stats.not_checked.append({"what": known.path, "why": why})

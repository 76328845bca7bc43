"""What the parts of one page share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from adf_format.container import Container
from adf_format.history import Coverage, SeqSet
from adf_format.inspection.file import File
from adf_format.validation.report import FileReport
from adf_format.view.index import Index
from adf_format.view.links import Targets, loop_id
from adf_format.view.markdown import Markdown
from adf_format.view.options import Options


@dataclass
class Agent:
    """Who the page is about, as far as the file tells.

    :ivar config: the configuration, empty where it cannot be read; :ivar trouble: why, in that case
    """

    name: str
    handle: str
    icon: str
    config: dict[str, Any]
    trouble: str | None = None


@dataclass
class View:
    """A file, what is known of it, and what is wanted.

    :ivar loops: names in the order in which they are shown, `main` first
    :ivar page_names: pages of each loop of a folder; the empty string stands for the page itself
    :ivar report: what the validator says
    """

    container: Container
    file: File
    options: Options
    agent: Agent
    known: Coverage
    index: Index
    loops: list[str]
    report: FileReport
    targets: Targets = field(default_factory=Targets)
    page_names: dict[str, list[str]] = field(default_factory=dict)

    @property
    def markdown(self) -> Markdown:
        """The renderer of this page."""
        if self._markdown is None or self._markdown.targets is not self.targets:
            self._markdown = Markdown(self.targets)
        return self._markdown

    def anchor(self, loop: str, seq: int) -> str:
        """Return the id of a row; where several loops claim one seq, which is damage, the first one has it."""
        if seq in self.known.contested:
            first = next((name for name in self.loops if seq in self._seqs(name)), loop)
            return f"S{seq}" if first == loop else f"S{seq}-{loop_id(loop)}"
        return f"S{seq}"

    def _seqs(self, loop: str) -> SeqSet:
        one = self.known.loops.get(loop)
        return one.live | one.archived if one else SeqSet()

    _markdown: Markdown | None = None

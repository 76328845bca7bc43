"""A YAML loader without surprises: no anchors, no tags, no key twice, nothing deep."""

from __future__ import annotations

from typing import Any

import yaml

DEEPEST = 20


class StrictLoader(yaml.SafeLoader):
    """`SafeLoader`, less what a page never needs.

    :ivar key_lines: line of each key of the outermost mapping, from 0
    :ivar line: of what is being constructed
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.key_lines: dict[str, int] = {}
        self.line = 0
        self._depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose a node, but no alias and nothing deep."""
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise yaml.composer.ComposerError(None, None, "anchors and aliases are not used here", event.start_mark)
        self._depth += 1
        if self._depth > DEEPEST:
            raise yaml.composer.ComposerError(None, None, "nested too deeply", event.start_mark)
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """Construct a value, and remember where."""
        self.line = node.start_mark.line
        return super().construct_object(node, deep=deep)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Construct a mapping whose keys are all different."""
        seen: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key.value, str):
                raise yaml.constructor.ConstructorError(None, None, "a key is no text", key.start_mark)
            if key.value in seen:
                text = f"the key {key.value[:40]!a} comes twice"
                raise yaml.constructor.ConstructorError(None, None, text, key.start_mark)
            seen[key.value] = key.start_mark.line
        if not self.key_lines:
            self.key_lines = dict(seen)
        return super().construct_mapping(node, deep=deep)

"""4xx: the configuration of an agent and its loops."""

from __future__ import annotations

from adf_format.validation.context import Pass

from . import document, loops, policy, serving, shape, streams, tools, triggers

PASSES: tuple[Pass, ...] = (
    *document.PASSES,
    *shape.PASSES,
    *triggers.PASSES,
    *serving.PASSES,
    *streams.PASSES,
    *loops.PASSES,
    *tools.PASSES,
    *policy.PASSES,
)

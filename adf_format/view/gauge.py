"""How full the context of a loop is, and when it compacts by itself (CMP-001, CMP-002)."""

from __future__ import annotations

from typing import Any

from adf_format.config.access import section
from adf_format.config.loops import declared
from adf_format.history.model import MAIN
from adf_format.view.context import View
from adf_format.view.html import Safe, el
from adf_format.view.tables import parsed
from adf_format.view.words import short

DEFAULT = 100_000


def threshold(config: dict[str, Any], loop: str) -> int:
    """Return the size at which a loop compacts: its own, the agent's, the model's, or the default."""
    own = next((one.get("compact_threshold") for _, name, one in declared(config) if name == loop), None)
    tries = (
        own,
        section(config, "context").get("compact_threshold"),
        section(config, "model").get("compact_threshold"),
    )
    return next((value for value in tries if type(value) is int and value > 0), DEFAULT)


def size(view: View, loop: str) -> int | None:
    """Return the size of the context: as the runtime noted it, else as the last call of the loop tells."""
    key = "context_baseline_tokens" if loop == MAIN else f"context_baseline_tokens:{loop}"
    noted = parsed(view.file.meta_text(key)) if view.file.has("adf_meta", "key", "value") else None
    tokens = noted.get("tokens") if isinstance(noted, dict) else None
    if type(tokens) is int and tokens >= 0:
        return tokens
    found = view.index.loops.get(loop)
    return found.context if found is not None else None


def gauge(view: View, loop: str) -> Safe | None:
    """Return the gauge of a loop, None if nothing tells its size."""
    now, limit = size(view, loop), threshold(view.agent.config, loop)
    if now is None:
        return None
    share = min(1.0, now / limit)
    css = "high" if share > 0.9 else "mid" if share > 0.7 else "low"
    bar = el("rect", x=0, y=0, width=f"{share * 100:.1f}", height=4, class_=css)
    words = f"context {short(now)} of {short(limit)} tokens, then it compacts"
    drawn = el("svg", bar, viewBox="0 0 100 4", preserveAspectRatio="none", aria_hidden="true", class_="gauge-bar")
    return el("p", drawn, el("span", words), class_="gauge")

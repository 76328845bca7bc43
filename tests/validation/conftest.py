"""Stand-ins for the catalogue of rules."""

from __future__ import annotations

import pytest
from report_samples import RULES

from adf_format.validation import rule


@pytest.fixture
def few_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be three rules only."""
    monkeypatch.setattr(rule, "all_rules", lambda: RULES)

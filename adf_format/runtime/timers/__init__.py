"""Timers as pure functions: when they fire, for whom, and what their row is afterwards. No clock, no SQLite."""

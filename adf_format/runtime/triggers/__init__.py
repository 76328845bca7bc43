"""Triggers as pure functions: which targets an event wakes, when, and what they are told. No clock, no SQLite."""

"""The observer: reads `.adf` files by itself, and notices every byte that changes beside them."""

from adf_conformance.observe.agent import AgentFile, Unreadable
from adf_conformance.observe.entries import Entry, Snapshot
from adf_conformance.observe.family import Family
from adf_conformance.observe.private import stable_bytes

__all__ = ["AgentFile", "Entry", "Family", "Snapshot", "Unreadable", "stable_bytes"]

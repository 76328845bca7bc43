"""The `.adf` as the runtime uses it: one writer, one class per table, each operation durable when it returns."""

from adf_format.runtime.store.store import Store
from adf_format.runtime.store.transcript import Row

__all__ = ["Row", "Store"]

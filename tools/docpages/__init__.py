"""The pages of `docs/` that derive from the code: see `tools/build_docs.py`."""

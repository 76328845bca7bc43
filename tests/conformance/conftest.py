"""The folder is on the import path for its helpers."""

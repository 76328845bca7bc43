"""What all tests share: this folder is on the import path, and no example of Hypothesis fails for being slow."""

from hypothesis import settings

settings.register_profile("adf-format", deadline=None)
settings.load_profile("adf-format")

"""The rules, one module or package per family. See `adf_format.validation.rule`."""

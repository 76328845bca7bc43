"""The `adf-format` command: parsing and printing only, one module per command."""

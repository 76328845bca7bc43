"""`python -m adf_format` is the `adf-format` command."""

from adf_format.cli.main import main

if __name__ == "__main__":
    main()

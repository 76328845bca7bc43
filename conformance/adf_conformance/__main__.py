"""`python -m adf_conformance`."""

from adf_conformance.cli import main

if __name__ == "__main__":
    main()

"""Build what derives from the code: `docs/rules.md`, `docs/schema.md`, and real output in the pages written by hand.

    python tools/build_docs.py           write
    python tools/build_docs.py --check   fail if anything is out of date

In a page written by hand, a line `<!-- output: adf-format inspect healthy.adf -->` says that the code block after it
is what this command prints, run in a scratch folder that holds `healthy.adf` and `damaged.adf`. A line `<!-- run -->`
says that the commands in the code block after it work there; their output is not shown.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))

from tools.docpages import outputs, rules, schema  # noqa: E402

GENERATED = {"docs/rules.md": rules.page, "docs/schema.md": schema.page}


def wanted() -> dict[Path, str]:
    """Return what each page should hold."""
    pages = {REPOSITORY / name: make() for name, make in GENERATED.items()}
    for page in outputs.pages(REPOSITORY):
        if page not in pages:
            pages[page] = outputs.filled(page.read_text(encoding="utf-8"))
    return pages


def main() -> int:
    """Write or check the pages."""
    parser = argparse.ArgumentParser(description="Build the pages that derive from the code.")
    parser.add_argument("--check", action="store_true", help="write nothing, fail if a page is out of date")
    arguments = parser.parse_args()
    stale = [
        page
        for page, text in wanted().items()
        if not page.is_file() or page.read_text(encoding="utf-8") != text
        if arguments.check or page.write_text(text, encoding="utf-8") < 0
    ]
    for page in stale:
        print(f"{page.relative_to(REPOSITORY)} is out of date: run tools/build_docs.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())

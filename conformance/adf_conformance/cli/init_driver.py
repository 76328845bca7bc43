"""`adf-conformance init-driver`."""

from __future__ import annotations

from pathlib import Path

import click

from adf_conformance.cli import options as shared

HOME = Path(__file__).resolve().parent.parent / "skeletons"
SKELETONS = {"python": "driver.py", "node": "driver.mjs"}


@click.command("init-driver")
@click.argument("language", type=click.Choice(list(SKELETONS)))
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def init_driver_command(language: str, folder: Path) -> None:
    """Write the skeleton of a driver into a folder. It claims nothing yet, and passes `smoke`.

    Exit codes: 0 done; 2 wrong usage; 3 the file is there already, or cannot be written.
    """
    target = folder / SKELETONS[language]
    if target.exists():
        shared.give_up(f"{target} is there already")
    shared.write(target, (HOME / f"{SKELETONS[language]}.txt").read_text(encoding="utf-8"))
    target.chmod(0o755)
    click.echo(f"{target}: fill in what your program can do, claim it, and then")
    click.echo(f"adf-conformance smoke --driver {target}")

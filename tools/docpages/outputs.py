"""Real output of our own commands in the pages written by hand."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

MARKER = re.compile(
    r"(<!-- output: (?P<command>[^\n]+?) -->\n(?P<fence>```+)(?P<language>\w*)\n)(?P<body>.*?)(?P=fence)", re.DOTALL
)
RUN = re.compile(r"<!-- run -->\n(?P<fence>```+)\w*\n(?P<body>.*?)(?P=fence)", re.DOTALL)
COUNT = re.compile(r"\d+(?= rules over )")
COMMAND = "adf-format"
WIDTH = 100


def pages(repository: Path) -> list[Path]:
    """Return the pages written by hand that the markers may stand in."""
    named = [repository / name for name in ("README.md", "CHANGELOG.md", "schemas/README.md", "fixtures/README.md")]
    return [page for page in (*named, *sorted((repository / "docs").glob("*.md"))) if page.is_file()]


def scripts(text: str) -> list[list[str]]:
    """Return the commands of every block that is marked to be run, without its output being shown."""
    return [re.split(r"\s*(?:&&|\n)\s*", match["body"].strip()) for match in RUN.finditer(text)]


def filled(text: str) -> str:
    """Return a page with the output of every marked command, and the number of rules, in place."""
    from adf_format.validation.rule import all_rules

    text = COUNT.sub(str(len(all_rules())), text)
    return MARKER.sub(lambda match: f"{match[1]}{output(match['command'])}{match['fence']}", text)


@cache
def output(command: str) -> str:
    """Return a command and what it prints in a fresh scratch folder, on both streams; `&&` joins several.

    :raises RuntimeError: one is not a command of ours, fails, or prints something else when it is run again
    """
    commands = command.split(" && ")
    first, second = printed(commands, shown=True), printed(commands, shown=True)
    if first != second:
        raise RuntimeError(f"prints something else each time: {command}")
    return first


def printed(commands: list[str], *, shown: bool = False) -> str:
    """Return what some commands print, one after the other in one scratch folder.

    :param shown: whether each command stands before its output
    :raises RuntimeError: one is not a command of ours, or fails
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "agents"
        folder.mkdir()
        _samples(folder, legacy=any("legacy.adf" in command for command in commands))
        text = "".join((f"$ {command}\n" if shown else "") + _run(command, folder) for command in commands)
        return text.replace(str(folder), "~").rstrip("\n") + "\n"


def _run(command: str, folder: Path) -> str:
    name, *arguments = shlex.split(command)
    if name != COMMAND:
        raise RuntimeError(f"not a command of this project: {command}")
    done = subprocess.run(
        [sys.executable, "-m", "adf_format", *arguments],
        cwd=folder,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{command} ended with {done.returncode}: {done.stdout}")
    return done.stdout


def _environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("ADF_FORMAT_", "PYTEST_"))}
    root = str(Path(__file__).resolve().parents[2])
    fixed = {"NO_COLOR": "1", "COLUMNS": str(WIDTH), "TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}
    return {**kept, **fixed, "PYTHONPATH": root}


def _samples(folder: Path, *, legacy: bool) -> None:
    """Put `healthy.adf` and `damaged.adf` there: the sample agent, and a copy damaged as in `adf-format demo`.

    :param legacy: whether `legacy.adf` is wanted too, the same agent at the oldest version
    """
    from adf_format.cli.demo import DAMAGE
    from adf_format.sample import build, example
    from adf_format.validation.rule import Example

    build(folder / "healthy.adf", 32)
    example(folder / "damaged.adf", Example(";\n".join(DAMAGE.values())))
    if legacy:
        build(folder / "legacy.adf", 21)

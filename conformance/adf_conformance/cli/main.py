"""The group of commands; each is imported when it is called."""

from __future__ import annotations

import importlib

import click

COMMANDS = {
    "smoke": ("smoke", "Is the driver right? Try it before anything else."),
    "run": ("run", "Run the checks and say which requirements are kept."),
    "list": ("listing", "List requirements, or checks."),
    "replay": ("replay", "Play a saved case again."),
    "report": ("reports", "Write a saved report in another form."),
    "diff": ("reports", "Compare two saved reports."),
    "compare": ("compare", "Run the same cases on two drivers and show where they disagree."),
    "init-driver": ("init_driver", "Write the skeleton of a driver."),
    "corpus": ("corpus", "Run a validator over a corpus of files."),
}
HELP = """Check programs that read, write or run .adf files against the format, in any language.

A program is plugged in with a driver: any executable that speaks the driver protocol on stdin and stdout.

\b
  adf-conformance init-driver python mydriver/           a skeleton to start from
  adf-conformance smoke --driver ./mydriver/driver.py    is the driver right?
  adf-conformance run --driver ./mydriver/driver.py      which requirements does the program keep?

Exit codes: 0 conforms; 1 does not; 2 wrong usage; 3 inconclusive, or it could not be tested.
"""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - of click
        """Return the names in the order of a first use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - of click
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"adf_conformance.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_") + "_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - of click
        """Write the list without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, tells) for name, (_, tells) in COMMANDS.items()])


@click.group(cls=LazyGroup, help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="adf-format", prog_name="adf-conformance")
def main() -> None:
    """Group of the commands."""

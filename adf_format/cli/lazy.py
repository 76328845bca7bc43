"""Groups of commands that are imported when they are invoked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

    Table = Mapping[str, tuple[str, str]]


class LazyGroup(click.Group):
    """A group that knows the names and one-line texts of its commands without importing them.

    :param table: `module:function` and the one-line text, by name, in the order of the help
    """

    def __init__(self, *args: Any, table: Table, **more: Any) -> None:
        super().__init__(*args, **more)
        self._table = table

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all commands."""
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one command."""
        if cmd_name not in self._table:
            return None
        from importlib import import_module

        module, _, name = self._table[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the table of commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._table.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments name; a typing error is answered with the nearest name."""
        if args and args[0] not in self._table and not ctx.resilient_parsing:
            from adf_format.cli.options import nearest

            raise click.UsageError(f"no command {args[0]!r}{nearest(args[0], self._table)}", ctx)
        return super().resolve_command(ctx, args)

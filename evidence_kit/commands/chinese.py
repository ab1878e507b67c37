"""Click commands whose help speaks Chinese."""

from __future__ import annotations

from typing import Any

import click

from evidence_kit.commands.console import emit
from evidence_kit.commands.usage import refuse_repeated


class ChineseCommand(click.Command):
    """A command with Chinese headings in its help."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("options_metavar", "[选项]")
        super().__init__(*args, **kwargs)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line. Raises RepeatedOptionError, where click would take the last value."""
        refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage line."""
        formatter.write_usage(ctx.command_path, " ".join(self.collect_usage_pieces(ctx)), prefix="用法：")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        rows = [row for row in (option.get_help_record(ctx) for option in options) if row]
        with formatter.section("选项"):
            formatter.write_dl([(name, text.replace("[required]", "[必填]")) for name, text in rows])

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """The `--help` option, explained in Chinese."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.help = "显示这段说明并退出。"
            option.callback = _show_help
        return option


def _show_help(ctx: click.Context, _param: click.Parameter, wanted: Any) -> None:
    if wanted and not ctx.resilient_parsing:
        emit(f"{ctx.get_help()}\n")  # unlike click's own echo it takes a closed pipe without complaint
        ctx.exit()


class ChineseGroup(ChineseCommand, click.Group):
    """A group whose subcommands are imported when called: `lazy` maps a name to (module, attribute, short
    help).
    """

    command_class = ChineseCommand

    def __init__(
        self, *args: Any, lazy: dict[str, tuple[str, str, str]] | None = None, **kwargs: Any
    ) -> None:
        kwargs.setdefault("subcommand_metavar", "命令 [参数]...")
        kwargs.setdefault("no_args_is_help", False)
        super().__init__(*args, **kwargs)
        self._lazy = lazy or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the subcommands, sorted."""
        return sorted({*super().list_commands(ctx), *self._lazy})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand of that name, imported now."""
        if cmd_name not in self._lazy:
            return super().get_command(ctx, cmd_name)
        from importlib import import_module

        module, attribute, _ = self._lazy[cmd_name]
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options and the subcommands, without importing those that are lazy."""
        ChineseCommand.format_options(self, ctx, formatter)
        rows = [(name, self._short_help(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("命令"):
            formatter.write_dl(rows)

    def _short_help(self, ctx: click.Context, name: str) -> str:
        if name in self._lazy:
            return self._lazy[name][2]
        command = self.get_command(ctx, name)
        return command.get_short_help_str(80) if command else ""

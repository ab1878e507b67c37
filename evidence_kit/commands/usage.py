"""Usage errors as one Chinese line each: click's own, and an option given twice."""

from __future__ import annotations

from copy import copy

import click

_SHOWN = 60  # characters of a value


class RepeatedOptionError(click.UsageError):
    """An option that takes one value and was given several."""

    def __init__(self, ctx: click.Context, option: click.Option, values: list[str]) -> None:
        shown = "、".join(value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…" for value in values)
        super().__init__(f"选项 {option.opts[0]} 给了 {len(values)} 次（{shown}）：它只能给一次", ctx)


def refuse_repeated(command: click.Command, ctx: click.Context, args: list[str]) -> None:
    """Raise RepeatedOptionError where an option that takes one value stands in `args` more than once."""
    single = [
        param
        for param in command.get_params(ctx)
        if isinstance(param, click.Option) and not (param.multiple or param.is_flag or param.count)
    ]
    params = [_repeatable(param) if param in single else param for param in command.get_params(ctx)]
    every = click.Command(command.name, params=params, add_help_option=False)
    given, _, _ = every.make_parser(ctx).parse_args(list(args))
    for option in single:
        values = given.get(option.name, [])
        if len(values) > 1:
            raise RepeatedOptionError(ctx, option, values)


def _repeatable(option: click.Option) -> click.Option:
    """Return an option of which the parser keeps every value."""
    every = copy(option)
    every.multiple = True
    return every


def describe_usage_error(error: click.UsageError) -> str:
    """One Chinese line: what is wrong with the command line, and where the help is."""
    path = error.ctx.command_path if error.ctx is not None else "evidence"
    return f"{_what(error)}；用法见 {path} --help。"


def _what(error: click.UsageError) -> str:
    if isinstance(error, RepeatedOptionError):
        return error.message
    if isinstance(error, click.NoSuchOption):
        return f"没有 {error.option_name} 这个选项"
    if isinstance(error, click.MissingParameter):
        return f"缺少 {_parameter(error)}"
    if isinstance(error, click.BadParameter):
        return f"{_parameter(error)} 的值不对（{error.message}）"
    if isinstance(error, click.BadOptionUsage):
        return f"选项 {error.option_name} 用法不对：它需要恰好一个值，开关则不带值"
    words = error.message.split("'")
    if error.message.startswith("No such command") and len(words) > 1:
        return f"没有 {words[1]} 这个命令"
    if error.message.startswith("Missing command"):
        return "缺少命令"
    if error.message.startswith("Got unexpected extra argument"):
        return f"多出参数 {error.message.partition('(')[2].rstrip(')')}"
    return f"命令行无法理解（{error.message}）"


def _parameter(error: click.BadParameter) -> str:
    if error.param is None:
        return str(error.param_hint or "参数")
    if isinstance(error.param, click.Option):
        return f"选项 {error.param.opts[0]}"
    return f"参数 {error.param.human_readable_name}"

"""Click's usage errors as one Chinese line each."""

from __future__ import annotations

import click


def describe_usage_error(error: click.UsageError) -> str:
    """One Chinese line: what is wrong with the command line, and where the help is."""
    path = error.ctx.command_path if error.ctx is not None else "evidence"
    return f"{_what(error)}；用法见 {path} --help。"


def _what(error: click.UsageError) -> str:
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

"""The `evidence` command: one module a group, imported when called."""

from __future__ import annotations

from collections.abc import Sequence

from evidence_kit.commands.console import emit_error, use_utf8
from evidence_kit.errors import EvidenceError, os_reason


def main(args: Sequence[str] | None = None) -> int:
    """The exit code of one `evidence` command line: 0 done, 1 a check failed, 2 bad input or usage, 3 not
    located.

    Every error that a user can cause becomes one Chinese line on stderr.
    """
    import click

    from evidence_kit.commands.root import evidence
    from evidence_kit.commands.usage import describe_usage_error

    use_utf8()
    try:
        given = None if args is None else list(args)
        return int(evidence.main(args=given, prog_name="evidence", standalone_mode=False) or 0)
    except EvidenceError as error:
        return emit_error(error.message, error.exit_code)
    except click.UsageError as error:
        return emit_error(describe_usage_error(error), 2)
    except click.Abort:
        return emit_error("已中断。", 130)
    except UnicodeEncodeError:
        return emit_error(
            "参数或文件名不是完整的 Unicode 文字，不能写进结果；请改名或用 --source-id 另给。", 2
        )
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            return emit_error(f"{error.filename} 不存在：请检查路径。", 2)
        return emit_error(f"{error.filename} 无法读取（{os_reason(error)}）：请检查路径和权限。", 2)

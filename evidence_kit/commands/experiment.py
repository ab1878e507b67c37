"""`evidence experiment`: the table of its commands."""

from __future__ import annotations

import click

from evidence_kit.commands.chinese import ChineseGroup

_HELP = """在自己的资料上评测检索：导入资料，提问，判断相关性，冻结基线，比较参数。

一个实验是一个文件（--db）。每次改动立即存盘，可以撤销和重做，也可以查看以前某个时刻的样子。

\b
例：
  evidence experiment new --db 实验.db --name 天文馆手册
  evidence experiment import 资料/ --db 实验.db
  evidence experiment ask "怎么预约讲解" --db 实验.db
  evidence experiment judge Q001 S001 3 --db 实验.db
  evidence experiment run --db 实验.db
"""

_RECORDS, _RESULTS = "evidence_kit.commands.experiment_records", "evidence_kit.commands.experiment_results"
_PAST, _FILES = "evidence_kit.commands.experiment_past", "evidence_kit.commands.experiment_files"
_COMMANDS = {
    "new": (_RECORDS, "new", "新建一个实验。"),
    "import": ("evidence_kit.commands.experiment_import", "import_sources", "导入资料，分配新标识。"),
    "edit": ("evidence_kit.commands.experiment_edit", "edit", "修改或删除一篇资料或一个问题，或给实验改名。"),
    "judge": (_RECORDS, "judge", "判断一篇资料对一个问题的相关性。"),
    "set": (_RECORDS, "set_parameters", "设置参数，全部生效或全部不生效。"),
    "ask": (_RESULTS, "ask", "新增问题并显示命中。"),
    "run": (_RESULTS, "run", "用当前参数检索全部问题并评测。"),
    "freeze": (_RESULTS, "freeze", "冻结一次评测为基线。"),
    "compare": (_RESULTS, "compare", "与基线比较，并说明条件有何不同。"),
    "list": ("evidence_kit.commands.experiment_list", "list_all", "列出限额、资料、问题、判断和基线。"),
    "undo": (_PAST, "undo", "撤销上一次改动。"),
    "redo": (_PAST, "redo", "重做撤销的改动。"),
    "history": (_PAST, "history", "列出全部改动。"),
    "export": (_FILES, "export", "导出表格、图、提示词、报告或完整实验。"),
    "restore": (_FILES, "restore", "从完整实验 JSON 还原，标识不变。"),
}


@click.command(
    cls=ChineseGroup, name="experiment", lazy=_COMMANDS, help=_HELP, short_help="在自己的资料上评测检索。"
)
def experiment() -> None:
    pass

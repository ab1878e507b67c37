"""The measures of a run as a picture: a panel a measure, a bar a question, a line at the mean."""

from __future__ import annotations

import io
import math
import threading
from typing import TYPE_CHECKING, Any, Literal, get_args

from evidence_kit.experiments.model import Question, Run
from evidence_kit.measures.digits import six_digits
from evidence_kit.reports.errors import ReportError, missing
from evidence_kit.reports.fonts import Letters, find_letters, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Format = Literal["png", "svg"]

# Beyond this many bars no label can be read; the table has them all.
MOST_QUESTIONS = 40
_MOST_COLUMNS = 28
_PANELS_A_ROW = 3
_PANEL_WIDTH, _LABEL_WIDTH, _BAR_HEIGHT, _FRAME_HEIGHT = 2.5, 2.7, 0.3, 1.5  # inches
_VALUES_END = 1.22  # numbers stand right of the bars, where the line of the mean never crosses them
_BAR, _MEAN, _QUIET = "#3b6ea5", "#a33b20", "#6b6b6b"

_CHINESE = {
    "title": "每个问题的指标（虚线为均值）",
    "mean": "均值 {}",
    "undefined": "未定义",
    "rest": "另有 {} 个问题没有画出，见指标表；均值计入全部有定义的问题。",
    "none": "没有问题",
}
_ENGLISH = {
    "title": "Measures by question (dashed: mean)",
    "mean": "mean {}",
    "undefined": "undefined",
    "rest": "{} more questions are not drawn, see the table of measures; means are over all defined ones.",
    "none": "no questions",
}
# The same bytes each time, no TeX in anybody's text, and letters as outlines that need no font.
_SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "evidence-assistant",
    "svg.fonttype": "path",
    "text.parse_math": False,
    "text.usetex": False,
    "axes.unicode_minus": False,
}
_METADATA: dict[Format, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
}

# matplotlib's settings are those of the whole process.
_ONE_AT_A_TIME = threading.Lock()


def draw_measures(run: Run, kind: Format, letters: Letters | None = None) -> bytes:
    """Return a picture of a run's measures as PNG or SVG bytes, the same each time on one machine.

    Questions go by id and text where the machine has a font for both, else by the one that it has a font for,
    else by their number. An undefined measure is named as such, and no bar. Raises ReportError.
    """
    if kind not in get_args(Format):
        raise ReportError(f"图的格式 {kind!r} 无效：请改为 png 或 svg。")
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise missing("matplotlib", "figures") from None
    letters = letters or find_letters()
    with _ONE_AT_A_TIME, matplotlib.rc_context({**_SETTINGS, "font.family": list(letters.families)}):
        drawn = min(len(run.results), MOST_QUESTIONS)
        columns, rows = _grid(run)
        panel_height = _FRAME_HEIGHT + _BAR_HEIGHT * max(drawn, 3)
        size = (_LABEL_WIDTH + _PANEL_WIDTH * columns, panel_height * rows)
        figure = Figure(figsize=size, layout="constrained", facecolor="white")
        FigureCanvasAgg(figure)
        _draw(figure, run, letters)
        picture = io.BytesIO()
        figure.savefig(picture, format=kind, dpi=150, metadata=_METADATA[kind])
    return picture.getvalue()


def _draw(figure: Figure, run: Run, letters: Letters) -> None:
    words = _CHINESE if letters.chinese else _ENGLISH
    figure.suptitle(words["title"], fontsize=11)
    if not run.results or not run.means:
        figure.text(0.5, 0.5, words["none"], ha="center", color=_QUIET)
        return
    columns, rows = _grid(run)
    panels = list(figure.subplots(rows, columns, sharey=True, squeeze=False).flat)
    for axes, measure in zip(panels, run.means, strict=False):
        _draw_panel(axes, run, measure, letters, words)
    for axes in panels[len(run.means) :]:
        axes.remove()
    labels = [
        _question_label(letters, result.question, number)
        for number, result in enumerate(run.results[:MOST_QUESTIONS], start=1)
    ]
    for axes in panels[::columns]:
        axes.set_yticks(range(len(labels)), labels=labels, fontsize=8)
        axes.set_ylim(len(labels) - 0.4, -0.6)
    if len(run.results) > MOST_QUESTIONS:
        figure.supxlabel(words["rest"].format(len(run.results) - MOST_QUESTIONS), fontsize=8, color=_QUIET)


def _question_label(letters: Letters, question: Question, number: int) -> str:
    both = f"{question.question_id} {question.text}"
    return label(letters, [both, question.question_id, question.text, f"#{number}"], _MOST_COLUMNS)


def _grid(run: Run) -> tuple[int, int]:
    """Return how many panels stand side by side, and in how many rows."""
    panels = max(len(run.means), 1)
    return min(panels, _PANELS_A_ROW), math.ceil(panels / _PANELS_A_ROW)


def _draw_panel(axes: Axes, run: Run, measure: str, letters: Letters, words: dict[str, str]) -> None:
    for place, result in enumerate(run.results[:MOST_QUESTIONS]):
        value = result.measures.get(measure)
        if value is None:
            axes.text(0.02, place, words["undefined"], va="center", fontsize=7, style="italic", color=_QUIET)
            continue
        axes.barh(place, value, height=0.62, color=_BAR)
        axes.text(1.03, place, f"{value:.3f}", va="center", fontsize=7)
    mean = run.means[measure]
    shown = words["undefined"] if mean is None else words["mean"].format(six_digits(mean))
    axes.set_title(f"{label(letters, [measure], _MOST_COLUMNS)}\n{shown}", fontsize=9)
    if mean is not None:
        axes.axvline(mean, color=_MEAN, linestyle="--", linewidth=1)
    axes.set_xlim(0, _VALUES_END)
    axes.set_xticks([0, 0.5, 1])
    axes.tick_params(labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines["bottom"].set_bounds(0, 1)

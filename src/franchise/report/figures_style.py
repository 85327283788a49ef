"""What the figures share: colours that everybody can tell apart, sizes for print, legends, checks of input.

No figure goes through pyplot, and no setting of matplotlib is changed: a figure made here gets its sizes by
itself, and axes that the caller gives keep the caller's style.
"""

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from franchise._arrays import Floats
from franchise.errors import SettingsError

# Okabe and Ito's palette without its yellow, which is lost on white paper.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY, PALE = "#707070", "#e4e4e4"
LEVEL = 0.95  # of the intervals

_SCREEN = 160  # dots per inch

MOST_SHAPES = 2000  # dots that stay shapes in a drawing; more become an image inside it

# Inches: a column, and the text, of a page of two columns.
COLUMN, PAGE = 3.4, 7.0
_LABEL_SIZE, _SMALLER = 8.0, 0.875
_CHARACTER = 0.56  # mean width of a character, in sizes of the font


class NotebookFigure(Figure):
    """A figure that a notebook shows by itself, without pyplot."""

    def _repr_png_(self) -> bytes:
        drawn = io.BytesIO()
        self.savefig(drawn, format="png", dpi=_SCREEN)
        return drawn.getvalue()


def axes_or_new(ax: Axes | None, height: float, width: float = COLUMN) -> Axes:
    """Return the caller's axes, or those of a new figure of this size in inches."""
    if ax is not None:
        return ax
    figure = NotebookFigure(figsize=(width, height), layout="constrained")
    return dressed(figure.add_subplot())


def dressed(ax: Axes) -> Axes:
    """Give new axes the text sizes and the frame of a figure in print."""
    for text in (ax.xaxis.label, ax.yaxis.label, ax.title):
        text.set_fontsize(_LABEL_SIZE)
    ax.tick_params(which="both", labelsize=small(ax), width=0.6, length=2.5)
    ax.tick_params(which="minor", length=1.5)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[:].set_linewidth(0.6)
    return ax


def figure_of(ax: Axes) -> Figure:
    """Return the figure that the axes are in, the whole one if they are in a subfigure."""
    return ax.figure.canvas.figure


def small(ax: Axes) -> float:
    """Return the size, in points, of text that is less than the names of the axes."""
    return _SMALLER * float(ax.xaxis.label.get_fontsize())


def legend_above(ax: Axes, handles: Sequence[Any], **options: Any) -> Any:
    """Put a legend above the axes, in as many columns as there is room for, and return it."""
    size = small(ax)
    columns = _columns_in(extent(ax)[0] / size, [handle.get_label() for handle in handles])
    look = {"handlelength": 1.4, "handletextpad": 0.5, "columnspacing": 1.2} | options
    return ax.legend(
        handles=in_rows(handles, columns),
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=columns,
        frameon=False,
        fontsize=size,
        title_fontsize=size,
        borderaxespad=0.4,
        borderpad=0.0,
        **look,
    )


def _columns_in(room: float, labels: Sequence[str]) -> int:
    """Return how many columns of entries there is room for, measured in sizes of the font."""
    for columns in range(len(labels), 1, -1):
        widest = [max(map(len, labels[start::columns])) for start in range(columns)]
        if sum(_CHARACTER * length + 3.1 for length in widest) - 1.2 <= room:
            rows = -(-len(labels) // columns)
            return -(-len(labels) // rows)  # as few as fill these rows
    return 1


def in_rows(handles: Sequence[Any], columns: int) -> list[Any]:
    """Order entries so that they read row by row in a legend, which is filled column by column."""
    return [handle for start in range(columns) for handle in handles[start::columns]]


def topic_ticks(n_topics: int, labels: Mapping[int, str]) -> list[str]:
    """Return the number of each topic, with its name where it has one."""
    return [f"{k} {labels[k]}" if k in labels else str(k) for k in range(n_topics)]


def extent(ax: Axes) -> tuple[float, float]:
    """Return width and height of the axes in points."""
    box = ax.get_window_extent()
    return 72.0 * box.width / ax.figure.dpi, 72.0 * box.height / ax.figure.dpi


def text_width(ax: Axes, texts: Iterable[str]) -> float:
    """Return about how wide the widest of some small texts is, in points."""
    return _CHARACTER * small(ax) * max(map(len, texts))


def whole_ticks(axis: Any) -> None:
    """Let an axis of whole numbers have ticks at whole numbers, a few of them."""
    axis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10], integer=True, min_n_ticks=1))


def percent_ticks(axis: Any) -> None:
    """Write an axis of shares in percent, with no more digits than needed."""
    axis.set_major_formatter(lambda share, _: f"{100 * share:g}%")


def numbers(name: str, values: Any, dimensions: int) -> Floats:
    """Return the input as an array of finite numbers, or say what is wrong with it."""
    shapes = {1: "a list of numbers", 2: "a table of numbers"}
    try:
        array = np.asarray(values, float)
    except (TypeError, ValueError):
        raise SettingsError(
            f"{name}: give {shapes[dimensions]}, not {_short(values)}", code="wrong-type"
        ) from None
    if array.ndim != dimensions or not array.size:
        raise SettingsError(
            f"{name} has shape {array.shape}: give {shapes[dimensions]}, not an empty one", code="wrong-shape"
        )
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        place = ", ".join(map(str, bad[0]))
        raise SettingsError(
            f"{name}[{place}] is {array[tuple(bad[0])]}: give finite numbers", code="not-finite"
        )
    return array


def _short(values: Any) -> str:
    text = repr(values)
    return text if len(text) <= 60 else text[:57] + "..."

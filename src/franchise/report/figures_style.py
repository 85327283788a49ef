"""What the figures share: documentation, colours that everybody can tell apart, sizes for print, checks.

No figure goes through pyplot, and no setting of matplotlib is changed: a figure made here gets its sizes by
itself, and axes that the caller gives keep the caller's style.
"""

import inspect
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from franchise._arrays import Floats
from franchise.errors import SettingsError

F = TypeVar("F", bound=Callable[..., Any])

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


_DOCUMENTED = {
    "topics": """phi
    Term probabilities, topics by terms; or a fitted model.
vocabulary
    The terms; numbered from 0 if not given.
labels
    Names of topics, by their numbers; by default those of the model.""",
    "ax": """ax
    Axes to draw in; None for a new figure.""",
    "figure": """Returns
-------
matplotlib.figure.Figure
    The figure drawn in.""",
}


def documented(function: F) -> F:
    """Put into a docstring what figures share: the lines ``<topics>``, ``<ax>`` and ``<figure>``."""
    text = inspect.getdoc(function) or ""
    for name, shared in _DOCUMENTED.items():
        text = text.replace(f"<{name}>", shared)
    function.__doc__ = text
    return function


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
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_offset_text().set_fontsize(small(ax))
    ax.tick_params(which="both", labelsize=small(ax), width=0.6, length=2.5)
    ax.tick_params(which="minor", length=1.5)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[:].set_linewidth(0.6)
    return ax


def new_panels(n: int, height: float) -> list[Axes]:
    """Return the axes of a new figure of panels of this height, up to three in a row."""
    columns = min(3, n)
    rows = -(-n // columns)
    width = COLUMN if columns == 1 else PAGE
    figure = NotebookFigure(figsize=(width, 0.35 + rows * height), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for unused in grid[n:]:
        unused.remove()
    return [dressed(panel) for panel in grid[:n]]


def figure_of(ax: Axes) -> Figure:
    """Return the figure that the axes are in, the whole one if they are in a subfigure."""
    return ax.figure.canvas.figure


def finished(ax: Axes, x: str | None, y: str | None = None, handles: Sequence[Any] = ()) -> Figure:
    """Name the axes, put a legend above them, and return their figure."""
    if x is not None:
        ax.set_xlabel(x)
    if y is not None:
        ax.set_ylabel(y)
    if handles:
        legend_above(ax, handles)
    return figure_of(ax)


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


def check(holds: Any, message: str, code: str) -> None:
    """Raise an error unless the condition holds."""
    if not holds:
        raise SettingsError(message, code=code)


def numbers(name: str, values: Any, dimensions: int) -> Floats:
    """Return the input as an array of finite numbers, or say what is wrong with it."""
    shape = {1: "a list of numbers", 2: "a table of numbers"}[dimensions]
    try:
        array = np.asarray(values, float)
    except (TypeError, ValueError):
        text = repr(values)
        text = text if len(text) <= 60 else text[:57] + "..."
        raise SettingsError(f"{name}: give {shape}, not {text}", code="wrong-type") from None
    fits = array.ndim == dimensions and array.size > 0
    check(fits, f"{name} has shape {array.shape}: give {shape}, not an empty one", "wrong-shape")
    for place in np.argwhere(~np.isfinite(array)).tolist():
        at, value = ", ".join(map(str, place)), array[tuple(place)]
        raise SettingsError(f"{name}[{at}] is {value}: give finite numbers", code="not-finite")
    return array


def is_model(given: Any) -> bool:
    """Return whether this is a fitted model."""
    return hasattr(given, "posterior_")


def round_below(largest: float) -> list[float]:
    """Return three round numbers: just below the largest, about a third and about a tenth of it."""
    found = []
    for share in (1.0, 0.35, 0.1):
        power = 10.0 ** math.floor(math.log10(share * largest))
        step = max(step for step in (1, 2, 5) if step * power <= share * largest * (1 + 1e-9))
        found.append(float(f"{step * power:.1g}"))
    return found

"""Text and tables in LaTeX and Markdown, with any characters in the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "α": r"$\alpha$",
    "γ": r"$\gamma$",
    "η": r"$\eta$",
    **{one: f"\\{one}" for one in "&%$#_{}"},
}
_LONG = 30  # characters of a column whose cells are broken into lines
_WIDEST = 0.55  # of the width of the text, for such a column
_ON_A_PAGE = 35  # rows


def latex(text: str) -> str:
    r"""Escape a text for LaTeX.

    Examples
    --------
    >>> latex("R&D: 50% of $x_1$")
    'R\\&D: 50\\% of \\$x\\_1\\$'
    """
    return "".join(_LATEX.get(one, one) for one in text)


def latex_code(text: str) -> str:
    """Escape literal characters, such as a regular expression, for LaTeX."""
    return rf"\texttt{{{latex(text)}}}"


def markdown(text: str) -> str:
    r"""Escape a text for Markdown.

    Examples
    --------
    >>> markdown("a*b*|c_d")
    'a\\*b\\*\\|c\\_d'
    """
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", text)


def markdown_code(text: str) -> str:
    """Escape literal characters, such as a regular expression, for Markdown."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence, room = "`" * (longest + 1), " " * bool(longest)
    return f"{fence}{room}{text}{room}{fence}"


def markdown_table(names: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[bool]) -> str:
    """Return a table in Markdown; `numbers` says which columns are right-aligned."""
    lines = [[markdown(" ".join(cell.split())) for cell in row] for row in (names, *rows)]
    lines.insert(1, ["---:" if number else "---" for number in numbers])
    return "".join(f"| {' | '.join(row)} |\n" for row in lines)


def latex_table(names: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[bool]) -> str:
    """Return a table in LaTeX with booktabs; a table longer than a page is a longtable."""
    widths = [max(map(len, column)) for column in zip(names, *rows)]
    long = [width > _LONG and not number for width, number in zip(widths, numbers)]
    wide = _WIDEST / max(1, sum(long))
    broken = rf">{{\raggedright\arraybackslash}}p{{{wide:.2f}\textwidth}}"
    kinds = "".join("r" if n else broken if is_long else "l" for n, is_long in zip(numbers, long))
    body = [_line(names, latex), "\\midrule\n", *(_line(row, latex) for row in rows)]
    is_longer = len(rows) > _ON_A_PAGE
    kind, packages = "tabular", ["booktabs"]
    if is_longer:
        kind, packages = "longtable", ["booktabs", "longtable"]
        body[1] += "\\endhead\n"
    if any(long):
        packages.append("array")
    needs = f"% needs \\usepackage{{{','.join(packages)}}}\n"
    begin = f"\\begin{{{kind}}}{{{kinds}}}\n\\toprule\n"
    return f"{needs}{begin}{''.join(body)}\\bottomrule\n\\end{{{kind}}}\n"


def _line(cells: Sequence[str], escape: Callable[[str], str]) -> str:
    return f"{' & '.join(escape(' '.join(cell.split())) for cell in cells)} \\\\\n"

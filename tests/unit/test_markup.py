"""Text and tables for LaTeX and Markdown."""

import pytest

from franchise._markup import latex, latex_table, markdown, markdown_code, markdown_table

NASTY = r"50% of $x_1$ & #2 {a} ~ ^ \ <b> | *c* [d] `e` γ"


def test_latex_escapes_every_character_that_means_something():
    assert latex(NASTY) == (
        r"50\% of \$x\_1\$ \& \#2 \{a\} \textasciitilde{} \textasciicircum{} \textbackslash{} "
        r"\textless{}b\textgreater{} \textbar{} *c* [d] `e` $\gamma$"
    )


def test_markdown_escapes_every_character_that_means_something():
    assert markdown(NASTY) == r"50% of $x\_1$ & \#2 \{a\} \~ ^ \\ \<b\> \| \*c\* \[d\] \`e\` γ"


@pytest.mark.parametrize(("text", "code"), [(r"\b\w+\b", r"`\b\w+\b`"), ("a`b", "`` a`b ``")])
def test_code(text, code):
    assert markdown_code(text) == code


def test_tables():
    rows = [["1", "R&D, a|b"], ["2", "two\nlines"]]
    assert markdown_table(["Topic", "Terms"], rows, [True, False]).splitlines() == [
        "| Topic | Terms |",
        "| ---: | --- |",
        r"| 1 | R&D, a\|b |",
        "| 2 | two lines |",
    ]
    assert latex_table(["Topic", "Terms"], rows, [True, False]).splitlines() == [
        r"% needs \usepackage{booktabs}",
        r"\begin{tabular}{rl}",
        r"\toprule",
        r"Topic & Terms \\",
        r"\midrule",
        r"1 & R\&D, a\textbar{}b \\",
        r"2 & two lines \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_long_cells_break_and_long_tables_go_over_pages():
    table = latex_table(["Terms"], [["word " * 20]] * 40, [False])
    assert r"\begin{longtable}{>{\raggedright\arraybackslash}p{0.55\textwidth}}" in table
    assert "\\midrule\n\\endhead\n" in table
    assert table.startswith(r"% needs \usepackage{booktabs,longtable,array}")

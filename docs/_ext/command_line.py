"""The help on the page: examples as code, and the options that `franchise hdp` parses itself."""

import click


def tidy(app, ctx: click.Context, lines: list[str]) -> None:
    """Show what click leaves as it is (after a backspace) as code, and add what a command says of itself."""
    out, in_examples = [], False
    for line in lines:
        text = line.removeprefix("| ").rstrip()
        if line.startswith("|") and text.strip() in ("Examples:", "Example:"):
            in_examples = True
            out += [text.strip(), "", ".. code-block:: shell", ""]
        elif in_examples and line.startswith("|"):
            out.append("   " + text.strip())
        else:
            in_examples = False
            out.append(line.replace("*", r"\*"))
    if ctx.info_name == "hdp":
        formatter = click.HelpFormatter(width=100)
        ctx.command.format_help_text(ctx, formatter)
        own = formatter.getvalue().split("Examples:")[-1].split("\n\n", 1)[-1]
        out += ["", ".. code-block:: text", "", *("   " + line for line in own.splitlines()), ""]
    lines[:] = out


def count(app, ctx: click.Context, lines: list[str]) -> None:
    """Say of `MODEL MODEL... INPUT`, which the command counts itself, that it is needed."""
    if ctx.info_name == "compare":
        lines[:] = [line.replace("Optional argument(s)", "Required arguments") for line in lines]


def setup(app):
    """Listen to sphinx-click."""
    app.connect("sphinx-click-process-description", tidy)
    app.connect("sphinx-click-process-arguments", count)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

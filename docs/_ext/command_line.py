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


def setup(app):
    """Listen to sphinx-click."""
    app.connect("sphinx-click-process-description", tidy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The reference of the command line, from the help: options that several commands share are in one table."""

import inspect

import click
from sphinx.util.docutils import SphinxDirective

from franchise.cli import main


def escaped(text: str) -> str:
    for mark in ("\\", "*", "|"):
        text = text.replace(mark, "\\" + mark)
    return text.replace("`", "``")


def description(command: click.Command) -> list[str]:
    """Return the paragraphs of the help; what click leaves as it is (after a backspace) is code."""
    lines = []
    for paragraph in inspect.cleandoc(command.help).split("\n\n"):
        if paragraph.startswith("\b\n"):
            heading, *code = paragraph.split("\n")[1:]
            lines += [heading, "", ".. code-block:: shell", "", *(f"   {line.strip()}" for line in code), ""]
        else:
            lines += [escaped(paragraph), ""]
    return lines


def options_of_the_program(ctx: click.Context) -> list[str]:
    """Return what `franchise hdp --help` says of the options, which the command parses itself."""
    formatter = click.HelpFormatter(width=100)
    ctx.command.format_help_text(ctx, formatter)
    text = formatter.getvalue().split("Examples:")[-1].split("\n\n", 1)[-1]
    return [".. code-block:: text", "", *(f"   {line}" for line in text.splitlines()), ""]


def table(rows: list[tuple[str, str]]) -> list[str]:
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: 35 65", ""]
    for option, meaning in [("option", "meaning"), *rows]:
        lines += [f"   * - {option}", f"     - {meaning}"]
    return [*lines, ""]


def page() -> list[str]:
    root = click.Context(main, info_name="franchise", show_default=True)
    contexts = [click.Context(main.get_command(root, n), root, n) for n in main.list_commands(root)]
    groups: dict[str, set[str]] = {}
    options = []
    for ctx in contexts:
        for one in ctx.command.get_params(ctx):
            if isinstance(one, click.Option) and "--help" not in one.opts:
                name, help = one.get_help_record(ctx)
                group = getattr(one, "group", "Options")
                groups.setdefault(group, set()).add(ctx.info_name)
                options.append((group, ctx, (f"``{name}``", escaped(help))))
    own = {group for group, commands in groups.items() if group == "Options" or len(commands) == 1}
    lines = []
    for ctx in contexts:
        title = f"franchise {ctx.info_name}"
        usage = ctx.command.get_usage(ctx).removeprefix("Usage: ")
        lines += [title, "-" * len(title), "", f"``{usage}``", "", *description(ctx.command)]
        if ctx.info_name == "hdp":
            lines += options_of_the_program(ctx)
        if mine := [record for group, where, record in options if where is ctx and group in own]:
            lines += table(mine)
        names = [record[0].split(" ")[0].rstrip(",`") for group, where, record in options
                 if where is ctx and group not in own]  # fmt: skip
        if names:
            lines += [f"`Shared options`_: {', '.join(name + '``' for name in names)}", ""]
    rows = []
    for group in groups:
        if group not in own:
            rows += [(f"**{group}**", ""), *dict.fromkeys(row for one, _, row in options if one == group)]
    return [*lines, "Shared options", "--------------", "", *table(rows)]


class Commands(SphinxDirective):
    def run(self):
        return self.parse_text_to_nodes("\n".join(page()), allow_section_headings=True)


def setup(app):
    """Add ``.. commands::``."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The command line: one file per command, each of which parses, calls and prints.

Only click is imported until a command runs, so that help appears at once. Results go to standard output,
progress and messages to standard error. Exit codes: 0 done, 1 failed, 2 misused, 130 interrupted.
"""

import warnings
from importlib import import_module
from typing import Any

import click

from franchise import __version__
from franchise.errors import FranchiseError, SettingsError

FAILED, MISUSED, INTERRUPTED = 1, 2, 130

# Each command and its line in the list of commands; the rest of its help is in its file.
_COMMANDS = {
    "fit": "Find the topics of a collection of documents",
    "resume": "Resume an interrupted fit, or make a finished one longer",
    "update": "Add documents to a model, and let its chains continue",
    "topics": "Show the topics of a model",
    "documents": "Show the topics of the fitted documents",
    "words": "Show the topic of every fitted word, or write MALLET's state",
    "label": "Give names to the topics of a model",
    "prevalence": "Show how large topics are by year, author or other groups",
    "infer": "Find the topics of new documents",
    "evaluate": "Score a model on held-out documents, or its topics' coherence",
    "compare": "Compare models on held-out documents",
    "compare-topics": "Compare the topics of a model with reference topics",
    "tune": "Find an eta that suits a collection of documents",
    "diagnose": "Check whether a model can be trusted",
    "methods": "Write paragraphs for the Methods section of a paper",
    "report": "Write a report on a model, to open in a browser",
    "inspect": "Describe a model folder or a file of documents",
    "convert": "Convert documents to another format",
    "shard": "Cut documents into shards, for more than one machine holds",
    "demo": "Fit 2,000 abstracts that come with Franchise",
    "hdp": "Drop-in replacement for the paper's own program",
}


class _Commands(click.Group):
    """Imports a command's file when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands in the order in which people need them."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command."""
        if name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"franchise.cli.{name.replace('-', '_')}").command
        command.name = name
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the command; suggest the nearest one if there is none with that name."""
        from difflib import get_close_matches

        if args and args[0] not in _COMMANDS and (near := get_close_matches(args[0], _COMMANDS, n=1)):
            ctx.fail(f"No such command '{args[0]}'. Did you mean '{near[0]}'?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error is one line."""
        if ctx.params.get("debug"):
            return super().invoke(ctx)
        warnings.showwarning = _show_warning
        try:
            return super().invoke(ctx)
        except FranchiseError as error:
            _say(str(error), ctx)
            # On the command line, settings come from options.
            ctx.exit(MISUSED if isinstance(error, SettingsError) else FAILED)
        except KeyboardInterrupt as error:
            click.echo("; ".join(["franchise: interrupted", *map(str, error.args)]), err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            raise  # click ends quietly when the reader has closed the pipe
        except OSError as error:  # other files have their own errors, so this is standard output
            click.echo(f"franchise: cannot write the output ({error.strerror or error})", err=True)
            ctx.exit(FAILED)
        except MemoryError:
            click.echo(
                "franchise: out of memory; try fewer documents, or prune terms with --min-df", err=True
            )
            ctx.exit(FAILED)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _say(str(message), click.get_current_context(silent=True))


def _say(message: str, ctx: click.Context | None) -> None:
    """Print a message of the library in the words of the command line."""
    from franchise.cli._output import as_options

    command = ctx and ctx.find_root().invoked_subcommand
    if command not in (None, "hdp"):  # which has options of its own
        message = as_options(message)
    click.echo(f"franchise: {message}", err=True)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__, message="franchise %(version)s")
@click.option("--debug", is_flag=True, help="Show the full traceback of an error")
def main(debug: bool) -> None:
    """Find out how many topics a collection of documents has, and what they are.

    Franchise fits hierarchical Dirichlet process topic models by MCMC. The same seed gives the same
    answer, bit for bit.

    \b
    Examples:
      franchise demo
      franchise fit abstracts.txt -o model/
      franchise topics model/ --format csv > topics.csv

    Shell completion: add  eval "$(_FRANCHISE_COMPLETE=bash_source franchise)"  to ~/.bashrc
    (zsh_source or fish_source for other shells).
    """

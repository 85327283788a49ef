"""Options of ``franchise fit`` from a TOML file, such as the one that `storage.model.write_config` writes."""

import json
import tomllib
from pathlib import Path
from typing import Any

import click

from franchise.cli._options import RENAMED

_NOT_OF_THE_MODEL = (
    "config", "dry_run", "overwrite", "quiet", "time_budget", "n_jobs", "ray", "workers",
)  # fmt: skip


def use_config(ctx: click.Context, param: click.Parameter, path: str | None) -> str | None:
    """Use the options in a file as the defaults."""
    if path is None:
        return None
    try:
        settings = tomllib.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise click.BadParameter(f"{path}: {error}") from error
    options = {str(one.name): one for one in ctx.command.params if isinstance(one, click.Option)}
    del options["config"]
    ctx.default_map = {}
    for key, value in settings.items():
        name = key.replace("_", "-")
        if new := RENAMED.get(f"--{name}"):
            raise click.BadParameter(f"{path}: {key} is now called {new[2:]}")
        if (option := options.get(name.replace("-", "_"))) is None:
            raise click.BadParameter(f"{path}: there is no option {key!r}")
        if wanted := _instead_of(value, option):
            raise click.BadParameter(f"{path}: {name} = {json.dumps(value, default=str)}: give {wanted}")
        ctx.default_map[str(option.name)] = value
    return path


def _instead_of(value: Any, option: click.Option) -> str:
    """Return what to give instead, if an option does not take values of this kind; otherwise nothing.

    Click would turn 2.7 and true into whole numbers, and a list into a string.
    """
    if option.is_flag:
        return "" if isinstance(value, bool) else "true or false"
    if option.nargs > 1:
        is_list = isinstance(value, list) and all(type(one) is int for one in value)
        return "" if is_list else f"a list of {option.nargs} whole numbers"
    if isinstance(option.type, click.types.IntParamType):
        return "" if type(value) is int else "a whole number"
    if isinstance(option.type, click.types.StringParamType | click.Path | click.Choice):
        return "" if isinstance(value, str) else "a string in quotes"
    return ""  # the others check for themselves


def options_to_keep(values: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a fit that decide its model."""
    return {name: value for name, value in values.items() if name not in _NOT_OF_THE_MODEL}

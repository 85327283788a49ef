"""``config.toml`` in the folder of a model: the options with which ``franchise fit`` fits it again."""

import json
import tomllib
from pathlib import Path
from typing import Any

from franchise._files import Facts, read_text, write_text

_CONFIG = "config.toml"
_HEADING = "# To fit this model again: franchise fit INPUT -o MODEL --config config.toml\n"
_BEGUN_SHORTER = (
    "# The result differs slightly: the fit was shorter at first, and kept the merges and the split-merge "
    "schedule that followed from its first burn-in, which no option sets.\n"
)


def write_config(folder: Path, options: dict[str, Any], note: str = "") -> None:
    """Write the options of a fit; those that are None are left out."""
    # TOML reads strings, numbers, true, false and lists of these as JSON writes them.
    lines = [
        f"{name.replace('_', '-')} = {json.dumps(value)}\n"
        for name, value in sorted(options.items())
        if value is not None
    ]
    write_text(folder / _CONFIG, "".join([_HEADING, note, *lines]))


def update_config(folder: Path, settings: Facts) -> None:
    """Let the options, if they are there, follow the settings of a fit that was made longer."""
    path = folder / _CONFIG
    if not path.is_file():
        return
    try:
        options = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError:
        return  # someone has edited it, and it is for people alone
    options = {name.replace("-", "_"): value for name, value in options.items()}
    schedule = settings["schedule"]
    now = {name: settings[name] for name in ("sweeps", "burn_in")}
    now |= {name: schedule[name] for name in ("thin", "warm_up")}
    if any(options.get(name) != value for name, value in now.items()):
        is_as_begun = schedule["merges"] is not None or isinstance(schedule["split_merge"], dict)
        write_config(folder, options | now, _BEGUN_SHORTER if is_as_begun else "")

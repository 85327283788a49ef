"""The command line of the paper's own program (blei-lab/hdp): its options, defaults and valid values.

`DIFFERENCES` lists intended differences from that program.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from franchise._settings import LARGEST_SEED, whole_number
from franchise.errors import SettingsError

ALGORITHMS = ("train", "test")
_MOST_TOPICS = 2**31 - 1

DIFFERENCES = (
    "A seed gives other random numbers than in the original, but the same numbers on every machine.",
    "Without a seed, the clock supplies one, as in the original; give a seed to make the run repeatable.",
    "A sweep draws the tables of all words, then the topics of all tables, not both document by document.",
    "A table with one word gets its topic with the word, and its topic is not drawn again.",
    "With --sample_hyper yes, gamma gets 20 steps per sweep, like alpha; in the original, one.",
    "The last state is saved too, as final-* or test-final-*, even after Ctrl-C.",
    "Lines of state.log and test.log are written after each iteration; in the original, when the run ends.",
    "Times in the logs have hundredths of a second; in the original, whole seconds.",
    "Files are replaced as a whole: a run that is killed never leaves half a file.",
    "Word assignments are in order of document, then term; in the original, in random order.",
    "Topics are in order of birth; in test mode, topics of the model come first.",
    "Each line of the data file is a document, also an empty line; the original ignores line ends.",
    "Documents without words are allowed; the original crashes on them.",
    "Malformed input is an error with place and reason; the original hangs, crashes or ignores it.",
    "Test documents with terms that the model does not know are an error; the original misreads memory.",
    "In test mode, --sample_hyper yes is refused: a saved model lacks the documents that alpha depends on.",
    "--sample_hyper and --split_merge take yes, YES, no, NO; in the original any other word means no.",
    "--random_seed is 0 or more, and '12x' is not a number; the original reads it as 12.",
    "--init_topics below 0 gives each document a random topic; the original does so too, unintentionally.",
    "The screen shows one line per iteration and the acceptance rate, but no line per split-merge trial.",
    "The folder is created with its parents, and two runs cannot write to it at the same time.",
    "Failures end with an exit status other than 0.",
)


def _clock() -> int:
    return int(time.time())


@dataclass(frozen=True, slots=True, kw_only=True)
class HdpOptions:
    """The options of one run.

    Parameters
    ----------
    algorithm
        ``"train"`` or ``"test"``.
    data
        The documents, in LDA-C format.
    directory
        The folder for all output.
    max_iter
        Number of sweeps after the start.
    save_lag
        Save the state every `save_lag` iterations, starting with the first; -1 for never.
    random_seed
        The seed; by default, the seconds of the clock.
    init_topics
        0: words are seated one after another. n > 0: n random documents become a topic each, then the words
        of the others are seated. n < 0: each document becomes one table with one of -n topics.
    gamma_a, gamma_b, alpha_a, alpha_b
        Shape and scale of the Gamma priors of gamma and alpha. Both start at their prior means.
    sample_hyper
        Draw gamma and alpha after each sweep.
    eta
        The Dirichlet parameter of a topic's terms.
    split_merge
        Make fifteen split-merge trials after the first sweep.
    restrict_scan
        Restricted Gibbs scans between launch and last scan of a trial; -1 for the paper's sequential
        allocation, without scans.
    saved_model
        The ``.bin`` to test. Only ``"test"`` reads it.

    Raises
    ------
    SettingsError
        If an option is missing or out of its range.
    """

    algorithm: str
    data: Path
    directory: Path
    max_iter: int = 1000
    save_lag: int = 100
    random_seed: int = field(default_factory=_clock)
    init_topics: int = 0
    gamma_a: float = 1.0
    gamma_b: float = 1.0
    alpha_a: float = 1.0
    alpha_b: float = 1.0
    sample_hyper: bool = False
    eta: float = 0.5
    split_merge: bool = False
    restrict_scan: int = 5
    saved_model: Path | None = None

    def __post_init__(self) -> None:
        """Refuse invalid options."""
        if self.algorithm not in ALGORITHMS:
            raise SettingsError(
                f"algorithm={self.algorithm!r}: give 'train' or 'test'", code="unknown-choice"
            )
        whole_number("max_iter", self.max_iter, 0)
        if self.save_lag != -1:
            try:
                whole_number("save_lag", self.save_lag, 1)
            except SettingsError as error:
                raise SettingsError(
                    f"{error}, or -1 to save nothing during the run", code=error.code
                ) from None
        whole_number("random_seed", self.random_seed, 0, LARGEST_SEED)
        whole_number("init_topics", self.init_topics, -_MOST_TOPICS, _MOST_TOPICS)
        whole_number("restrict_scan", self.restrict_scan, -1)
        for name in ("gamma_a", "gamma_b", "alpha_a", "alpha_b", "eta"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise SettingsError(f"{name}={value!r}: give a positive number", code="not-a-positive-number")
        if self.algorithm == "test":
            self._check_test()

    def _check_test(self) -> None:
        if self.saved_model is None:
            raise SettingsError(
                "saved_model is missing: give the .bin of the model to test", code="missing-setting"
            )
        if self.sample_hyper:
            raise SettingsError(
                "sample_hyper=True: a saved model lacks the documents that alpha depends on; leave the "
                "option out in a test, which uses gamma and alpha of the model",
                code="conflicting-settings",
            )


def _text(name: str, text: str) -> str:
    return text


def _path(name: str, text: str) -> Path:
    return Path(text)


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise SettingsError(f"{name} {text}: give a whole number", code="not-a-whole-number") from None


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SettingsError(f"{name} {text}: give a number", code="not-a-number") from None


def _yes_or_no(name: str, text: str) -> bool:
    if text not in ("yes", "YES", "no", "NO"):
        raise SettingsError(f"{name} {text}: give yes or no", code="not-a-flag")
    return text.lower() == "yes"


# For each option, a function that reads its text, and its help.
_OPTIONS: dict[str, tuple[Callable[[str, str], Any], str]] = {
    "algorithm": (_text, "train or test"),
    "data": (_path, "the documents, LDA-C: one line 'M term:count term:count ...' each"),
    "directory": (_path, "where to write the files"),
    "max_iter": (_whole, "sweeps after the start"),
    "save_lag": (_whole, "iterations between two saved states; -1: never"),
    "random_seed": (_whole, "seed of the random numbers"),
    "init_topics": (_whole, "0: seat word by word; n: start from n documents as topics; -n: n topics"),
    "gamma_a": (_number, "gamma: shape of its Gamma prior"),
    "gamma_b": (_number, "gamma: scale of its Gamma prior"),
    "alpha_a": (_number, "alpha: shape of its Gamma prior"),
    "alpha_b": (_number, "alpha: scale of its Gamma prior"),
    "sample_hyper": (_yes_or_no, "draw gamma and alpha, yes or no"),
    "eta": (_number, "Dirichlet parameter of the topics"),
    "split_merge": (_yes_or_no, "split-merge trials after the first sweep, yes or no"),
    "restrict_scan": (_whole, "intermediate scans of a trial; -1: the paper's, without scans"),
    "saved_model": (_path, "the .bin to test (test only)"),
}


def parse(argv: Sequence[str]) -> HdpOptions:
    """Read a command line of the form ``--name value --name value ...``.

    Parameters
    ----------
    argv
        The words after the program's name. If an option is given twice, the last value counts.

    Raises
    ------
    SettingsError
        If an option is unknown or missing, or its value is missing or invalid.

    Examples
    --------
    >>> parse("--algorithm train --data d.ldac --directory out --eta 0.1".split()).eta
    0.1
    """
    given: dict[str, Any] = {}
    words = iter(argv)
    for word in words:
        name = word.removeprefix("--")
        if not word.startswith("--") or name not in _OPTIONS:
            known = " ".join(f"--{option}" for option in _OPTIONS)
            raise SettingsError(
                f"{word}: no such option; the options, each with a value, are {known}",
                code="unknown-option",
            )
        text = next(words, None)
        if text is None:
            raise SettingsError(f"{word}: its value is missing; write '{word} value'", code="missing-value")
        read, _ = _OPTIONS[name]
        given[name] = read(word, text)
    missing = [f"--{name}" for name in ("algorithm", "data", "directory") if name not in given]
    if missing:
        raise SettingsError(
            f"{' '.join(missing)} is missing; --algorithm, --data and --directory are required",
            code="missing-setting",
        )
    return HdpOptions(**given)


def usage() -> str:
    """Return a text with the options, their defaults, and the differences from the program."""
    lines = ["--algorithm train|test --data FILE --directory FOLDER [--name value ...]", ""]
    defaults = {one.name: one.default for one in fields(HdpOptions)} | {"random_seed": "the clock"}
    for name, (_, meaning) in _OPTIONS.items():
        default = defaults[name]
        if isinstance(default, bool):
            default = "yes" if default else "no"
        ending = "" if default is MISSING or default is None else f" [{default}]"
        lines.append(f"  --{name:<15}{meaning}{ending}")
    lines += ["", "Differences from the paper's program:", *(f"  - {one}" for one in DIFFERENCES)]
    return "\n".join(lines)

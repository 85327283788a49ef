"""The command line of the paper's own program (blei-lab/hdp): every option, its default, what it may be.

`DIFFERENCES` lists where this library differs from that program on purpose.
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
    "The same seed gives different random numbers from the original's, but the same ones on every machine.",
    "Without a seed the clock supplies one, as in the original; give one to be able to repeat the run.",
    "A sweep draws the tables of all words, then the topics of all tables, not both document by document.",
    "A table of one word gets its topic with the word, and is not drawn again.",
    "With --sample_hyper yes, gamma gets 20 steps per sweep, as alpha does; in the original, one.",
    "The last state is saved too, as final-* or test-final-*, even after Ctrl-C.",
    "Lines of state.log and test.log reach the disk as iterations end; in the original, when the run ends.",
    "Times in the logs have hundredths of a second; in the original, whole seconds.",
    "Files are replaced whole: a run that is killed never leaves half a file.",
    "Word assignments are in order of document, then of term; in the original, in random order.",
    "Topics are in order of birth; in test mode those of the model come first.",
    "A line of the data file is a document, without words if empty; the original ignores line ends.",
    "Documents without words are allowed; the original crashes on them.",
    "Malformed input is an error that says where and why; the original hangs, crashes or goes on.",
    "Test documents with terms that the model does not know are an error; the original misreads memory.",
    "In test mode --sample_hyper yes is refused: a saved model lacks what alpha depends on.",
    "--sample_hyper and --split_merge take yes, YES, no, NO; in the original any other word means no.",
    "--random_seed is 0 or more, and numbers must be numbers; the original reads '12x' as 12.",
    "--init_topics below 0 gives each document any topic, as in the original, which intended a similar one.",
    "The screen shows one line per iteration, and the acceptance rate, but no line per split-merge trial.",
    "The folder is created with its parents; two runs cannot write to one folder at the same time.",
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
        Where everything is written.
    max_iter
        How many sweeps follow the start.
    save_lag
        The state is saved once in this many iterations, starting with the first; -1 for never.
    random_seed
        The seed; by default the clock's seconds.
    init_topics
        0: words are seated one after another; n > 0: n random documents are a topic each, and the words of
        the others are seated after them; n < 0: each document is one table of one of -n topics.
    gamma_a, gamma_b, alpha_a, alpha_b
        Shape and scale of the Gamma priors of gamma and alpha, whose means are where both start.
    sample_hyper
        Draw gamma and alpha after each sweep.
    eta
        The Dirichlet parameter of a topic's terms.
    split_merge
        Make split-merge trials, fifteen of them, after the first sweep.
    restrict_scan
        Restricted Gibbs scans between launch and last scan of a trial; -1 for the sequential allocation of
        the paper, without any scan.
    saved_model
        The ``.bin`` to test; needed for ``"test"`` and read by it only.

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
        """Refuse what cannot be carried out."""
        if self.algorithm not in ALGORITHMS:
            raise SettingsError(
                f"algorithm={self.algorithm!r}: give 'train' or 'test'", code="unknown-choice"
            )
        whole_number("max_iter", self.max_iter, 0)
        if self.save_lag != -1:
            try:
                whole_number("save_lag", self.save_lag, 1)
            except SettingsError as error:
                raise SettingsError(f"{error}, or -1 to save nothing on the way", code=error.code) from None
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
                "sample_hyper=True: a saved model lacks what alpha depends on; leave it out in a test, "
                "where gamma and alpha are those of the model",
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


# How the text of each option is read, and what the option is for.
_OPTIONS: dict[str, tuple[Callable[[str, str], Any], str]] = {
    "algorithm": (_text, "train or test"),
    "data": (_path, "the documents, LDA-C: one line 'M term:count term:count ...' each"),
    "directory": (_path, "where to write the files"),
    "max_iter": (_whole, "sweeps after the start"),
    "save_lag": (_whole, "save once in this many iterations; -1: never"),
    "random_seed": (_whole, "seed of the random numbers"),
    "init_topics": (_whole, "0: seat word by word; n: begin with n documents as topics; -n: n topics"),
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
        The words after the program's name. Of an option given twice the last counts.

    Raises
    ------
    SettingsError
        If an option is unknown, lacks its value, is missing, or has a value that it cannot have.

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
                f"{word}: there is no such option; the options, each with a value, are {known}",
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
            f"{' '.join(missing)} is missing; --algorithm, --data and --directory are needed",
            code="missing-setting",
        )
    return HdpOptions(**given)


def usage() -> str:
    """Return the options, their defaults, and the differences from the program, as a text to show."""
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

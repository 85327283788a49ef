"""Peers that are programs which a user has built, found by environment variables.

A program runs on its own and saves its state now and then; what it saves is read while it is stopped
(SIGSTOP), and the time of the newest state is the CPU time that the program had when the state appeared.
"""

import hashlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.peers.interface import Array, Checkpoint, Settings, Training, counted

SAVES = 25  # in the whole budget, about
LOOK_EVERY = 0.02  # seconds
TICKS = os.sysconf("SC_CLK_TCK")


class Program:
    """A program that saves states with a number, its sweeps, into a folder."""

    name: str
    variable: str  # of the environment
    rate: float  # words per second, roughly: how often to save
    before = 0  # sweeps that the number of a state does not count
    compiles = False

    def __init__(self) -> None:
        self.peak_bytes = 0

    def available(self) -> str | None:
        """Raise an error: the program is missing."""
        given = os.environ.get(self.variable)
        if not given:
            return f"build it, and set {self.variable} to its path"
        if not os.access(given, os.X_OK) or Path(given).is_dir():
            return f"{self.variable}={given}: there is no program that can be run"
        return None

    def version(self) -> str:
        """Return a fingerprint of the program, which does not tell its version."""
        return hashlib.sha256(Path(os.environ[self.variable]).read_bytes()).hexdigest()[:8]

    def load(self) -> None:
        """Nothing is imported."""

    def options(self, data: Path, folder: Path, lag: int, settings: Settings) -> list[str]:
        """Return what to call the program with, to save every `lag` sweeps."""
        raise NotImplementedError

    def newest(self, folder: Path) -> int | None:
        """Return the number of the newest state that is there in full, None if there is none."""
        raise NotImplementedError

    def read(self, folder: Path, number: int, training: Training, settings: Settings) -> tuple:
        """Return topics, prior, prior of a new one, and words of the topics of a state."""
        raise NotImplementedError

    def fit(self, training: Training, settings: Settings) -> Iterator[Checkpoint]:
        """Run the program until its CPU time is over."""
        lag = max(1, round(settings.moments[-1] / SAVES * self.rate / max(1, training.words.size)))
        with TemporaryDirectory() as temporary:
            folder = Path(temporary) / "saved"
            folder.mkdir()
            data = Path(temporary) / "training.ldac"
            write_ldac(data, training)
            program = os.path.abspath(os.environ[self.variable])  # it runs in another folder
            call = [program, *self.options(data, folder, lag, settings)]
            with (Path(temporary) / "output.txt").open("w+") as output:
                running = subprocess.Popen(
                    call, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=temporary
                )
                try:
                    for seconds, number in self._watched(running, folder, settings.moments):
                        found = self.read(folder, number, training, settings)
                        yield Checkpoint(seconds, number + self.before, *found)
                finally:
                    if running.poll() is None:
                        running.kill()
                    running.wait()
                    output.seek(0)
                    self.output = output.read()

    def _watched(
        self, running: subprocess.Popen[bytes], folder: Path, moments: tuple[float, ...]
    ) -> Iterator[tuple[float, int]]:
        """Yield, at each moment, CPU seconds and number of the newest state; the program stands still."""
        seen, appeared, yielded = None, 0.0, None
        for moment in moments:
            while (spent := self._measure(running)) is not None:
                number = self.newest(folder)
                if number is not None and number != seen:
                    seen, appeared = number, spent
                if spent >= moment and seen is not None:
                    running.send_signal(signal.SIGSTOP)
                    if self.newest(folder) == seen:  # and not about to be written over
                        break
                    running.send_signal(signal.SIGCONT)
                time.sleep(LOOK_EVERY)
            if spent is None and (seen is None or self.newest(folder) != seen):
                raise RuntimeError(f"{self.name} ended before it had saved a state")
            if seen is not None and seen != yielded:
                yield appeared, seen
                yielded = seen
            running.send_signal(signal.SIGCONT)  # which does nothing to a program that has ended

    def _measure(self, running: subprocess.Popen[bytes]) -> float | None:
        """Return the CPU seconds of the program so far, None once it has ended; keep its peak memory."""
        if running.poll() is not None:
            return None
        of_process = Path(f"/proc/{running.pid}")
        try:
            fields = (of_process / "stat").read_text().rpartition(")")[2].split()
            self.peak_bytes = max(self.peak_bytes, peak_of((of_process / "status").read_text()))
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / TICKS


def peak_of(status: str) -> int:
    """Return the peak memory, in bytes, that a process's status file tells."""
    found = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    return 1024 * int(found[0]) if found else 0


def write_ldac(path: Path, training: Training) -> None:
    """Write documents with each term once; those without words are left out."""
    lines = (f"{len(bag)} " + " ".join(f"{v}:{n}" for v, n in bag) for bag in training.bags())
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


def widened(words: Array, n_terms: int) -> Array:
    """Add the terms that the program does not know, as no document has them."""
    return np.pad(words, ((0, 0), (0, n_terms - words.shape[1])))


class BleiHDP(Program):
    """The paper's program (blei-lab/hdp), Gamma(1, 1) priors; with split-merge it makes 15 trials in all."""

    variable, rate, before = "HDP_PROGRAM", 1.5e5, 1

    def __init__(self, split_merge: bool = False) -> None:
        super().__init__()
        self.split_merge = split_merge
        self.name = "hdp, split-merge" if split_merge else "hdp"

    def options(self, data: Path, folder: Path, lag: int, settings: Settings) -> list[str]:
        """Train for longer than the budget."""
        given = {
            "algorithm": "train",
            "data": data,
            "directory": folder,
            "max_iter": 10**6,
            "save_lag": lag,
            "random_seed": settings.seed + 1,
            "eta": settings.eta,
            "sample_hyper": "yes",
            "split_merge": "yes" if self.split_merge else "no",
        }
        return [part for option, value in given.items() for part in (f"--{option}", str(value))]

    def newest(self, folder: Path) -> int | None:
        """The binary file is the last one of a state, and its length is known."""
        complete = [path for path in folder.glob("[0-9]*.bin") if _is_complete(path)]
        return max((int(path.stem) for path in complete), default=None)

    def read(self, folder: Path, number: int, training: Training, settings: Settings) -> tuple:
        """The binary file has it all."""
        return of_bin(folder / f"{number:05d}.bin", training.n_terms)


_HEAD = np.dtype([("whole", "i4", 4), ("real", "f8", 3)])  # terms, words, topics, tables; eta, gamma, alpha


def _is_complete(path: Path) -> bool:
    size = path.stat().st_size
    if size < _HEAD.itemsize:
        return False
    n_terms, _, n_topics, _ = np.fromfile(path, _HEAD, count=1)["whole"][0]
    return size == _HEAD.itemsize + 4 * int(n_topics) * (int(n_terms) + 2)


def of_bin(path: Path, n_terms: int) -> tuple:
    """Return topics, prior, prior of a new one, and words of the topics of a binary file."""
    (head,) = np.fromfile(path, _HEAD, count=1)
    known, _, n_topics, _ = head["whole"]
    eta, gamma, alpha = head["real"]
    rows = np.fromfile(path, "i4", offset=_HEAD.itemsize).reshape(n_topics, known + 2)
    rows = rows[rows[:, 1] > 0]
    tables = rows[:, 0]
    words = widened(rows[:, 2:].astype(float), n_terms)
    scale = alpha / (tables.sum() + gamma)
    return counted(words, eta), scale * tables, scale * gamma, words.sum(axis=1)


class HDPFaster(Program):
    """The same authors' faster program (hdp-faster), which has no options for the prior of alpha."""

    name, variable, rate = "hdp-faster", "HDP_FASTER_PROGRAM", 3e6

    def options(self, data: Path, folder: Path, lag: int, settings: Settings) -> list[str]:
        """Train for longer than the budget."""
        return [
            *("--train_data", str(data), "--directory", str(folder), "--max_iter", "-1", "--max_time", "-1"),
            *("--save_lag", str(lag), "--random_seed", str(settings.seed + 1), "--eta", str(settings.eta)),
            "--sample_hyper",
        ]

    def newest(self, folder: Path) -> int | None:
        """The weights are the last file of a state; they are there in full when they have all lines."""
        numbers = [int(path.stem.partition("@")[2]) for path in folder.glob("iter@*.pi")]
        for number in sorted(numbers, reverse=True):
            stem = f"iter@{number:05d}"
            n_topics = int(_info(folder / f"{stem}.info")["num_topics"])
            if (folder / f"{stem}.pi").read_text().count("\n") == n_topics + 1:
                return number
        return None

    def read(self, folder: Path, number: int, training: Training, settings: Settings) -> tuple:
        """Weights of topics are saved, and what is left of them."""
        stem = f"iter@{number:05d}"
        info = _info(folder / f"{stem}.info")
        words = np.loadtxt(folder / f"{stem}.topics", ndmin=2)
        weights = np.loadtxt(folder / f"{stem}.pi", ndmin=1)
        live = words.sum(axis=1) > 0
        prior = info["alpha"] * np.append(weights[:-1][live], weights[-1])
        words = widened(words[live], training.n_terms)
        # A weight is written with six digits after the point, so small ones are 0.
        return counted(words, info["eta"]), np.maximum(prior[:-1], 1e-7), prior[-1], words.sum(axis=1)


def _info(path: Path) -> dict[str, float]:
    lines = (line.partition(":") for line in path.read_text().splitlines())
    return {name: float(value) for name, _, value in lines}


class HCA(Program):
    """hca (wbuntine/topic-models) as an HDP with at most 200 topics and symmetric, fixed eta."""

    name, variable, rate, most_topics = "hca", "HCA_PROGRAM", 5e5, 200

    def options(self, data: Path, folder: Path, lag: int, settings: Settings) -> list[str]:
        """Train for longer than the budget, on one thread, which is its default."""
        return [
            *("-f", "ldac", "-A", "hdp", "-B", str(settings.eta), "-F", "beta", "-K", str(self.most_topics)),
            *("-C", str(10**6), "-c", str(lag), "-s", str(settings.seed + 1)),
            *(str(data.with_suffix("")), str(folder / "state")),
        ]

    def newest(self, folder: Path) -> int | None:
        """One set of files, written over and over; the parameters are the last of them."""
        files = [folder / f"state.{kind}" for kind in ("ndt", "tdt", "zt", "par")]
        if not all(path.exists() for path in files):
            return None
        *others, last = (path.stat().st_mtime_ns for path in files)
        if max(others) > last:  # the next state is being written
            return None
        parameters = _parameters(files[-1])
        return int(parameters["ITER"]) if {"ITER", "b", "b0"} <= parameters.keys() else None

    def read(self, folder: Path, number: int, training: Training, settings: Settings) -> tuple:
        """The topic of every word, in the order of the file that was given, and the tables."""
        parameters = _parameters(folder / "state.par")
        topics = np.loadtxt(folder / "state.zt", dtype=int, ndmin=1)
        bags = training.bags()
        terms = np.concatenate([np.repeat(*np.array(bag).T) for bag in bags])
        words = np.zeros((self.most_topics, training.n_terms))
        np.add.at(words, (topics, terms), 1.0)
        tables = np.zeros(self.most_topics)
        entries = np.loadtxt(folder / "state.tdt", dtype=int, skiprows=3, ndmin=2)
        np.add.at(tables, entries[:, 1], entries[:, 2])
        alpha, gamma = parameters["b"], parameters["b0"]
        prior = alpha * (tables + gamma / self.most_topics) / (tables.sum() + gamma)
        live = words.sum(axis=1) > 0
        # The topics that have no words are all alike: together, they are the new one.
        return (
            counted(words[live], settings.eta),
            prior[live],
            float(prior[~live].sum()),
            words[live].sum(axis=1),
        )


def _parameters(path: Path) -> dict[str, float]:
    found = {}
    for line in path.read_text().splitlines():
        name, _, value = line.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:  # names, lists, comments
            continue
    return found

"""Fits of peers in processes of their own, and what they are worth."""

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.completion import of_topics
from benchmarks.peers.corpora import Case
from benchmarks.peers.interface import Array, Settings
from benchmarks.replicability import Fit, fit_of

ROOT = Path(__file__).resolve().parents[2]
ONE_THREAD = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")
WALL_SECONDS_A_SECOND, PATIENCE = 10, 600  # before a process is given up


@dataclass
class Run:
    """What one peer did with one seed."""

    corpus: str
    peer: str
    seed: int
    problem: str | None = None
    version: str = ""
    seconds: list[float] = field(default_factory=list)  # CPU seconds at the checkpoints
    scores: list[float] = field(default_factory=list)
    topics: int = 0
    effective_topics: float = 0.0
    words_per_second: float = 0.0
    peak_bytes: int = 0
    alone_bytes: int = 0
    import_seconds: float = 0.0
    until_first_seconds: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return it for a JSON file."""
        return asdict(self)

    def score_at(self, moment: float) -> float | None:
        """Return the score of the newest checkpoint at a moment, None if there is none yet."""
        there = [score for second, score in zip(self.seconds, self.scores) if second <= 1.1 * moment]
        return there[-1] if there else None


def measure(case: Case, peer: str, settings: Settings, cache: Path | None = None) -> tuple[Run, Fit | None]:
    """Run a peer, and score its checkpoints; `cache` is a folder for compiled code, if not the usual."""
    result = Run(case.name, peer, settings.seed)
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        case.write(folder / "training.npz")
        try:
            found = work(peer, folder / "training.npz", settings, folder, cache)
        except RuntimeError as problem:
            result.problem = str(problem)
            return result, None
        for number, moment in enumerate(found.pop("moments")):
            topics, prior, prior_new, words = read_checkpoint(folder / f"{number}.npz")
            result.seconds.append(moment["seconds"])
            result.scores.append(of_topics(topics, prior, case.test, prior_new))
    for name, value in found.items():
        setattr(result, name, value)
    result.words_per_second = case.training.n_words * moment["passes"] / max(moment["seconds"], 1e-9)
    fit = fit_of(topics.astype(np.float32), words, result.scores[-1], moment["seconds"])
    result.topics, result.effective_topics = fit.weights.size, fit.n_effective
    return result, fit


def work(
    peer: str, training: Path, settings: Settings, folder: Path, cache: Path | None = None
) -> dict[str, Any]:
    """Run a peer in a process of its own; return what it found, its topics are in the folder."""
    job = folder / "job.json"
    given = settings._asdict() | {"peer": peer, "training": str(training), "folder": str(folder)}
    job.write_text(json.dumps(given))
    path = os.pathsep.join([str(ROOT), *sys.path])
    environment = os.environ | ONE_THREAD | {"PYTHONPATH": path}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    limit = PATIENCE + WALL_SECONDS_A_SECOND * settings.moments[-1]
    call = [sys.executable, "-m", "benchmarks.peers.worker", str(job)]
    try:
        subprocess.run(call, env=environment, check=True, capture_output=True, text=True, timeout=limit)
    except subprocess.CalledProcessError as problem:
        last = (problem.stderr.strip().splitlines() or [f"exit status {problem.returncode}"])[-1]
        raise RuntimeError(last) from None
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"not done after {limit:.0f} seconds") from None
    return dict(json.loads((folder / "found.json").read_text()))


def read_checkpoint(path: Path) -> tuple[Array, Array, float, Array]:
    """Read topics, priors and words that a worker wrote."""
    with np.load(path) as data:
        topics = data["topics"].astype(float)
        return (
            topics / topics.sum(axis=1, keepdims=True),
            data["prior"],
            float(data["prior_new"]),
            data["words"],
        )

"""One fit of one peer, in a process of its own: ``python -m benchmarks.peers.worker JOB.json``.

The job names the peer, the file of the training documents, the settings and the folder for what is found:
a file with the topics for each checkpoint, then `found.json`. It is kept light: what is imported here counts
as memory of the peer.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.interface import Checkpoint, Peer, Settings, Training
from benchmarks.peers.programs import peak_of
from benchmarks.peers.registry import peer_named

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESET_PEAK = "5"


class Memory:
    """The peak of this process's memory, but for what a checkpoint takes."""

    def __init__(self) -> None:
        self.peak = 0

    def look(self) -> None:
        """Take in the peak so far."""
        if STATUS.exists():
            self.peak = max(self.peak, peak_of(STATUS.read_text()))

    def forget(self) -> None:
        """Measure the peak from now on, if the system allows it."""
        try:
            CLEAR.write_text(RESET_PEAK)
        except OSError:
            return


def read_training(path: Path) -> Training:
    """Read the training documents."""
    with np.load(path) as data:
        return Training(data["train"], data["train_ptr"], int(data["vocab_size"]))


def run(peer: Peer, training: Training, settings: Settings, folder: Path) -> dict[str, Any]:
    """Fit; write what there is at each moment; return seconds, passes and memory."""
    memory = Memory()
    memory.look()
    alone = memory.peak
    began = time.process_time()
    peer.load()
    loaded = time.process_time() - began
    moments: list[dict[str, float]] = []
    began = time.process_time()
    for number, checkpoint in enumerate(peer.fit(training, settings)):
        if not moments:
            until_first = time.process_time() - began
        memory.look()
        write_checkpoint(folder / f"{number}.npz", checkpoint)
        moments.append({"seconds": checkpoint.seconds, "passes": checkpoint.passes})
        del checkpoint
        memory.forget()
    return {
        "version": peer.version(),
        "moments": moments,
        "import_seconds": loaded,
        "until_first_seconds": until_first,
        # Of a program, which is another process.
        "peak_bytes": getattr(peer, "peak_bytes", 0) or memory.peak,
        "alone_bytes": alone,
    }


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write topics with their priors and words."""
    topics, prior, prior_new, words = checkpoint[2:]
    np.savez(path, topics=topics.astype(np.float32), prior=prior, prior_new=prior_new, words=words)


def main() -> None:
    """Do the job."""
    job = json.loads(Path(sys.argv[1]).read_text())
    settings = Settings(job["eta"], job["seed"], tuple(job["moments"]))
    folder = Path(job["folder"])
    found = run(peer_named(job["peer"]), read_training(Path(job["training"])), settings, folder)
    (folder / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()

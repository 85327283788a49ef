"""A run killed (kill -9) many times at random moments continues and ends as if never interrupted."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

_KILLED = """
import os, random, signal, sys, time
from pathlib import Path
from franchise import Priors
from franchise.sampling import Timetable
from franchise.corpus import planted
from franchise.sampling.plan import Plan
from franchise.sampling.run import run_chains
from franchise.storage import chain as chain_files, checkpoints, draws as draw_files
from franchise.storage.checkpoints import Checkpoints, load_chains

folder, kills, large = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "large"
if large:  # checkpoints are written while the chains continue, and draws are mapped
    chain_files._LARGE = checkpoints._LARGE = draw_files.LARGE_DRAW = 0
corpus = planted(n_topics=5, n_terms=50, n_documents=40, document_length=30, seed=1).corpus
schedule = Timetable(sweeps=3000, burn_in=1000, thin=100)
plan = Plan(priors=Priors(), schedule=schedule, starts=("sequential", "one"), seed=4)

def bits(chain):
    rows = [{name: x for name, x in row.items() if name != "seconds"} for row in chain.trace.rows]
    return rows, chain.events, [draw.topic_terms.toarray().tolist() for draw in chain.draws]

whole = plan.chains(corpus)
run_chains(whole, jobs=1)
whole = [bits(chain) for chain in whole]
moments = random.Random(6)
unfinished = 0
for _ in range(kills):
    child = os.fork()
    if child == 0:
        run_chains(load_chains(plan, folder, corpus), jobs=2, keeper=Checkpoints(folder, 0))
        os._exit(0)
    # Such short sweeps leave a thread that writes little time.
    time.sleep(moments.uniform(0.0, 1.0 if large else 0.2))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    for chain, (rows, events, draws) in zip(load_chains(plan, folder, corpus), whole):
        so_far = bits(chain)
        unfinished += 0 < chain.sweeps_done < schedule.sweeps
        assert so_far[0] == rows[: len(so_far[0])] and so_far[2] == draws[: len(so_far[2])]
assert unfinished > (kills // 2 if large else kills), unfinished  # of two chains: most kills struck a run
chains = load_chains(plan, folder, corpus)
print(unfinished, *(chain.sweeps_done for chain in chains))
run_chains(chains, jobs=2, keeper=Checkpoints(folder))
assert [bits(chain) for chain in chains] == whole
assert [bits(chain) for chain in load_chains(plan, folder, corpus)] == whole
print("the same")
"""


@pytest.mark.parametrize(("kills", "size"), [("30", "small"), ("15", "large")])
def test_many_kills(tmp_path, kills, size):
    answer = subprocess.run(
        [sys.executable, "-c", _KILLED, str(tmp_path), kills, size],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.endswith("the same\n")


_UPDATED = """
import os, random, signal, sys, time, warnings
from pathlib import Path
from franchise import HDPTopicModel
from franchise.corpus import planted
from franchise.errors import FranchiseWarning
from franchise.storage.checkpoints import Checkpoints
from franchise.storage.model import is_model

warnings.simplefilter("ignore", FranchiseWarning)
Checkpoints.__init__.__defaults__ = (0.0,)  # one after every sweep
folder, updated, kills = Path(sys.argv[1]) / "m", Path(sys.argv[1]) / "n", int(sys.argv[2])
corpus = planted(n_topics=5, n_terms=50, n_documents=40, document_length=30, seed=1).corpus
counts = corpus.to_counts().toarray()
model = HDPTopicModel(eta=0.5, sweeps=20, chains=2, random_state=4, verbose=0, n_jobs=2)
model.fit(counts[:30], checkpoint_dir=folder).set_topic_labels({0: "zero", 1: "one"})

def bits(model):
    return model.trace_.drop(columns="seconds").to_numpy().tobytes(), model.components_.tobytes()

def load(path):
    return HDPTopicModel.load(path).set_params(verbose=0, n_jobs=2)

whole = load(folder).update(counts[30:], sweeps=400)
moments, unfinished = random.Random(6), 0
for _ in range(kills):
    child = os.fork()
    if child == 0:
        if is_model(updated):
            load(updated).resume()
        else:
            load(folder).update(counts[30:], sweeps=400, checkpoint_dir=updated)
        os._exit(0)
    time.sleep(moments.uniform(0.0, 1.5))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if is_model(updated):
        done = [chain.sweeps_done for chain in load(updated).chains_]
        unfinished += min(done) < 400
assert unfinished > 0
again = load(folder).update(counts[30:], sweeps=400, checkpoint_dir=updated)  # the same call continues
assert bits(again) == bits(load(updated)) == bits(whole)
assert again.named_topics_ == whole.named_topics_ == load(updated).named_topics_ != {}
print(unfinished, "the same")
"""


def test_an_update_that_is_killed(tmp_path):
    answer = subprocess.run(
        [sys.executable, "-c", _UPDATED, str(tmp_path), "12"],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.endswith("the same\n")

"""One specialisation a kernel, whatever the corpus: a second would compile anew in a user's hands."""

import os
import subprocess
import sys

import numba
import pytest

# In a process of its own: other tests call the kernels with arrays that they have made themselves.
PROGRAM = """
import pickle

import numpy as np
from scipy.sparse import csr_array

from franchise.corpus import Corpus, draw_hdp, five_topics, from_counts, from_tokens
from franchise.model import Priors
from franchise.sampling.chain import Chain
from franchise.sampling.schedule import Schedule

counts = np.array([[2, 0, 1], [0, 0, 0], [0, 3, 1]])
corpora = [
    from_tokens([["a", "b"], [], ["b"]]),
    from_counts(counts),
    from_counts(csr_array(counts.astype(np.float32))),
    Corpus(np.array([0, 1], np.int64), np.array([0, 2], np.int32), ["a", "b"]),
    five_topics(0).corpus,
    five_topics(0).corpus.select([1, 2]),
    draw_hdp(document_lengths=[3, 2], n_terms=2, alpha=1.0, gamma=1.0, eta=1.0, seed=0).corpus,
]
corpora.append(pickle.loads(pickle.dumps(corpora[0])))
settings = [Priors(), Priors(alpha=1, gamma=2, eta=(1, 1)), Priors(alpha=(1, 2), gamma=0.5, eta=1)]
for number, corpus in enumerate(corpora):
    for priors in settings:
        for start in ("sequential", "one", 3, np.int64(2)):
            for concentrations in ("slice", "auxiliary"):
                schedule = Schedule(sweeps=2, burn_in=0, concentrations=concentrations)
                Chain(corpus, priors, schedule, seed=number, start=start, capacity=1).run()

from franchise.model.joint import log_p_tables, log_p_topics
from franchise.model.likelihood import log_p_words
from franchise.moves import concentrations, initialize, split_merge, table_topics, word_tables
from franchise.moves.parts import scratch

kernels = [
    log_p_tables,
    log_p_topics,
    log_p_words,
    concentrations.auxiliary_concentrations,
    concentrations.slice_concentrations,
    initialize.draw_topics,
    initialize.seat_all,
    initialize.shuffle_documents,
    scratch.follow_eta,
    split_merge.split_merge,
    table_topics.table_topics,
    word_tables.word_tables,
]
for kernel in kernels:
    print(len(kernel.signatures), kernel.__name__, *kernel.signatures, sep=" | ")
"""


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_one_specialisation_a_kernel():
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=os.environ, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert len(lines) == 12
    several = [line for line in lines if not line.startswith("1 ")]
    assert several == []

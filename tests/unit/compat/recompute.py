"""The program's files, read by their description, and its likelihoods: apart from the library."""

import re
import struct
from collections import Counter
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln
from scipy.stats import gamma as gamma_distribution

from franchise.compat.logs import HeldOutLine, TrainLine
from tests.reference.enumeration import Concentrations, log_joint, log_p_tables, seating_of

LAST_DIGIT = 0.5e-5  # the logs have five digits after the point
STATE_LINE = re.compile(r"[ \d]{5,}\.\d\d \d{5} \d{4} \d{5} -\d+\.\d{5} \d+\.\d{5} \d+\.\d{5} \d+ \d+ \d+")
TEST_LINE = re.compile(r"[ \d]{5,}\.\d\d \d{5} \d{4} \d{5} -\d+\.\d{5}")


class Files(NamedTuple):
    """What the three files of a state say."""

    counts: np.ndarray  # topic, term
    m_k: np.ndarray
    at: Concentrations
    rows: np.ndarray  # document, term, topic, table


def read_files(folder, name):
    """Read the three files of a state, asserting every byte of their formats."""
    content = (folder / f"{name}.bin").read_bytes()
    n_terms, n_words, n_topics, n_tables = struct.unpack("=4i", content[:16])
    eta, gamma, alpha = struct.unpack("=3d", content[16:40])
    topics = np.frombuffer(content[40:], "=i4").reshape(n_topics, 2 + n_terms)
    m_k, n_k, counts = topics[:, 0], topics[:, 1], topics[:, 2:]
    assert n_k.tolist() == counts.sum(axis=1).tolist()
    assert (n_k.sum(), m_k.sum()) == (n_words, n_tables)
    text = "".join("".join(f"{count:05d} " for count in row) + "\n" for row in counts.tolist())
    assert (folder / f"{name}-topics.dat").read_text() == text
    header, *lines = (folder / f"{name}-word-assignments.dat").read_text().split("\n")
    assert header == "d w z t"
    assert lines.pop() == ""
    assert all(re.fullmatch(r"\d+ \d+ \d+ \d+", line) for line in lines)
    return Files(
        counts, m_k, Concentrations(alpha, gamma, eta), np.array([line.split() for line in lines], int)
    )


def read_log(path, pattern, header, kind):
    """Read the lines of a log, asserting its format."""
    first, *lines = path.read_text().split("\n")
    assert first == header
    assert lines.pop() == ""
    assert all(pattern.fullmatch(line) for line in lines)
    types = kind.__annotations__.values()
    return [kind(*(read(text) for read, text in zip(types, line.split(), strict=True))) for line in lines]


def read_state_log(folder):
    header = "time iter num.topics num.tables likelihood gamma alpha split merge trial"
    return read_log(folder / "state.log", STATE_LINE, header, TrainLine)


def read_test_log(folder):
    header = "time iter num.topics num.tables likelihood"
    return read_log(folder / "test.log", TEST_LINE, header, HeldOutLine)


def in_documents(files):
    """Return the words of each document, and their seating."""
    rows = files.rows[np.argsort(files.rows[:, 0], kind="stable")]
    ends = np.flatnonzero(np.diff(rows[:, 0], prepend=-1, append=-1))
    own = [rows[first:end] for first, end in pairwise([*ends[:-1], len(rows)])]
    tables = [document[:, 3].tolist() for document in own]
    topics = [dict(zip(document[:, 3].tolist(), document[:, 2].tolist())) for document in own]
    return [document[:, 1].tolist() for document in own], seating_of(tables, topics)


def training_likelihood(files, priors=None):
    """Return the log joint; with the densities of gamma and alpha, given (shape, scale) of each."""
    documents, seating = in_documents(files)
    total = log_joint(documents, files.counts.shape[1], seating, files.at)
    for name, (shape, scale) in (priors or {}).items():
        total += gamma_distribution.logpdf(getattr(files.at, name), shape, scale=scale)
    return total


def held_out_likelihood(files, model):
    """Return log p(test words, tables, topics | counts of the model)."""
    _, seating = in_documents(files)
    return log_p_tables(seating, files.at.alpha) + log_p_counts(files) - log_p_counts(model)


def log_p_counts(files):
    """Return log p(k) + log p(x | k) from the counts of the topics."""
    counts, m_k, (_, gamma, eta) = files.counts, files.m_k, files.at
    n_terms = counts.shape[1]
    topics = len(m_k) * np.log(gamma) + gammaln(m_k).sum() + gammaln(gamma) - gammaln(gamma + m_k.sum())
    sizes = gammaln(n_terms * eta) - gammaln(counts.sum(axis=1) + n_terms * eta)
    return topics + sizes.sum() + (gammaln(counts + eta) - gammaln(eta)).sum()


def counts_of_rows(files):
    """Return words of each term in each topic, and tables of each topic, from the assignments."""
    counts = np.zeros_like(files.counts)
    np.add.at(counts, (files.rows[:, 2], files.rows[:, 1]), 1)
    tables = Counter(z for _, z, _ in {tuple(row) for row in files.rows[:, [0, 2, 3]].tolist()})
    return counts, np.array([tables[k] for k in range(len(files.m_k))])

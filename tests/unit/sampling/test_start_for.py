"""Which start suits which documents."""

from types import SimpleNamespace

import numpy as np
import pytest

from franchise import Corpus, from_tokens
from franchise.corpus import planted, shard
from franchise.corpus.count_tables import is_count_table
from franchise.sampling.choices import eta_for, start_for, why_chosen
from franchise.sampling.plan import STARTS
from tests.unit.corpus.test_sharded import touched
from tests.unit.sampling.short import CORPUS


def documents(lengths, *, n_terms=5_000, n_cells=None):
    """Return what tells a start from another of documents with these lengths, however large."""
    lengths = np.asarray(lengths)
    n_cells = int(lengths.sum()) if n_cells is None else n_cells
    cells = SimpleNamespace(terms=np.broadcast_to(0, n_cells))
    return SimpleNamespace(
        n_terms=n_terms, n_words=int(lengths.sum()), documents_of_length=np.bincount(lengths), cells=cells
    )


def test_text_starts_from_what_short_runs_agree_on():
    assert start_for("auto", CORPUS) == "consensus"


def test_too_few_documents_start_from_fitted_topics():
    assert start_for("auto", CORPUS.select(np.arange(100))) == "consensus"
    assert start_for("auto", CORPUS.select(np.arange(99))) == "fitted"


def test_empty_documents_do_not_count():
    assert start_for("auto", documents([10] * 99 + [0] * 99)) == "fitted"
    assert start_for("auto", documents([10] * 100 + [0])) == "consensus"


def test_a_million_words_start_from_documents():
    assert start_for("auto", documents([10_000] * 99 + [9_999])) == "consensus"
    assert start_for("auto", documents([10_000] * 100)) == "documents"


def test_count_tables_have_a_start_of_their_own():
    table = planted(n_topics=3, n_terms=20, n_documents=30, document_length=400, seed=1).corpus
    assert is_count_table(table)
    assert start_for("auto", table) == "counts"
    assert start_for("auto", documents([400] * 30, n_terms=1_000, n_cells=3_000)) == "counts"
    assert start_for("auto", documents([10_000] * 200, n_terms=96, n_cells=96 * 200)) == "counts"


def test_shards_are_hardly_read(tmp_path):
    table = planted(n_topics=3, n_terms=20, n_documents=30, document_length=400, seed=1).corpus
    for corpus, start in ((CORPUS, "consensus"), (table, "counts")):
        shards = shard(corpus, tmp_path / start, 7)
        assert start_for("auto", shards) == start
        assert not touched(shards)
    empty_but_one = from_tokens([*[[]] * 50, ["ant", "bee"] * 400, *[[]] * 50])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("franchise.corpus.count_tables._ENOUGH", 10)
        assert start_for("auto", shard(empty_but_one, tmp_path / "empty", 3)) == "fitted"


def test_text_is_no_count_table():
    assert not is_count_table(CORPUS)
    assert not is_count_table(documents([400] * 30, n_terms=1_001, n_cells=3_000))  # too many terms
    assert not is_count_table(documents([400] * 30, n_terms=1_000, n_cells=3_001))  # counts are too small


@pytest.mark.parametrize("init", [*STARTS[1:], 7, np.int64(7)])
@pytest.mark.parametrize("corpus", [CORPUS, Corpus([0, 1], [0, 2], ["a", "b"])], ids=["text", "one document"])
def test_a_start_that_is_given_stays(init, corpus):
    assert start_for(init, corpus) is init


def test_eta_goes_by_the_documents():
    assert eta_for("auto", documents([400] * 30, n_terms=96, n_cells=96 * 30)) == 1.0
    assert eta_for("auto", documents([24] * 100)) == 0.3
    assert eta_for("auto", documents([25] * 100)) == 0.1
    assert eta_for("auto", documents([24] * 99)) == 0.1  # too few to tell
    for given in (0.1, "sample", (1.0, 2.0)):
        assert eta_for(given, documents([24] * 100)) == given


@pytest.mark.parametrize(
    ("corpus", "eta", "init"),
    [
        (documents([25] * 100), "25 words per document or more", "100 documents or more"),
        (documents([24] * 100), "fewer than 25 words per document", "100 documents or more"),
        (documents([24] * 99), "fewer than 100 documents", "fewer than 100 documents"),
        (documents([10_000] * 100), "25 words per document or more", "a million words or more"),
        (documents([400] * 30, n_terms=96, n_cells=96 * 30), "a count table", "a count table"),
    ],
)
def test_the_reasons_are_those_of_the_choice(corpus, eta, init):
    why = why_chosen("auto", "auto", corpus)
    assert list(why) == ["eta", "init"]
    assert why["eta"].startswith(f"{eta_for('auto', corpus)} ({eta}")
    assert why["init"].startswith(f"{start_for('auto', corpus)} ({init}")
    assert why_chosen("one", "auto", corpus) == {"eta": why["eta"]}
    assert why_chosen("one", 0.1, corpus) == {}

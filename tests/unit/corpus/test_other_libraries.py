"""What other libraries hold documents in: stand-ins, and the libraries where installed."""

import sys
from collections import UserDict
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from franchise import HDPTopicModel
from franchise.corpus import as_corpus, encode, from_anndata, from_bow, read_corpus
from franchise.errors import CorpusError, FranchiseError, MissingPackageError
from tests.raising import raises

COUNTS = np.array([[1, 0, 2], [0, 3, 0], [0, 0, 0]])


def cells(x=COUNTS, genes=("g1", "g2", "g3"), **layers):
    """Return what has of AnnData what is looked at."""
    return SimpleNamespace(
        X=x,
        obs_names=pd.Index([f"cell{i}" for i in range(x.shape[0])]),
        var_names=pd.Index(genes),
        layers=layers,
    )


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix, lambda x: x.astype(np.float32)])
def test_cells_by_genes(kind):
    corpus = as_corpus(cells(kind(COUNTS)))
    assert corpus.vocabulary == ("g1", "g2", "g3")
    assert corpus.document_names == ("cell0", "cell1", "cell2")
    assert corpus.to_counts().toarray().tolist() == COUNTS.tolist()
    assert from_anndata(cells(COUNTS / 7, raw=kind(COUNTS)), layer="raw") == corpus


def test_what_is_known_of_cells():
    data = cells()
    assert from_anndata(data).metadata is None
    data.obs = pd.DataFrame(
        {"donor": pd.Categorical(["x", "y", "x"]), "depth": [5.5, 1.0, 2.0], "list": [[1], [2], [3]]}
    )
    corpus = as_corpus(data)
    assert corpus.metadata.to_dict("list") == {"donor": ["x", "y", "x"], "depth": [5.5, 1.0, 2.0]}
    assert list(from_anndata(data, metadata=["depth"]).metadata) == ["depth"]
    assert from_anndata(data, metadata=[]).metadata is None
    with raises(CorpusError, "unknown-column", "'deph'", "'depth'"):
        from_anndata(data, metadata=["deph"])
    data.obs = data.obs.assign(note=["a" * 201, "b", "c"])
    assert list(from_anndata(data).metadata) == ["donor", "depth"]


def test_new_cells_are_known_by_their_genes():
    corpus = as_corpus(cells())
    new = encode(cells(np.array([[5, 1, 2]]), ("other", "g3", "g1")), corpus)
    assert sorted(new.arrays.x.tolist()) == [0, 0, 2]
    assert new.unknown.tolist() == [5]
    assert new.document_names == ("cell0",)


def test_cells_in_the_estimator():
    model = HDPTopicModel(sweeps=4, chains=1, random_state=0, verbose=0).fit(cells(np.tile(COUNTS, (20, 1))))
    assert model.corpus_.vocabulary == ("g1", "g2", "g3")
    assert model.transform(cells()).shape == (3, model.n_topics_)


@pytest.mark.parametrize(
    ("data", "options", "code", "facts"),
    [
        (
            cells(COUNTS / 3, spliced=COUNTS, counts=COUNTS),
            {},
            "fractional-count",
            ("layer='counts'", "from_anndata"),
        ),
        (cells(COUNTS / 3), {}, "fractional-count", ()),
        (cells(genes=("g1", "g1", "g2")), {}, "duplicate-term", ("'g1'", "var_names_make_unique")),
        (cells(spliced=COUNTS), {"layer": "counts"}, "unknown-choice", ("layer='counts'", "'spliced'")),
    ],
)
def test_cells_that_hold_no_counts(data, options, code, facts):
    with raises(FranchiseError, code, *facts):
        from_anndata(data, **options)


def test_an_h5ad_file(tmp_path):
    anndata = pytest.importorskip("anndata", reason="anndata is not installed")
    data = anndata.AnnData(scipy.sparse.csr_matrix(COUNTS.astype(np.float32) / 2))
    data.var_names, data.obs_names = ["g1", "g2", "g3"], ["c1", "c2", "c3"]
    data.layers["counts"] = scipy.sparse.csr_matrix(COUNTS)
    data.obs["donor"] = ["x", "y", "x"]
    data.obs["depth"] = [3, 3, 0]
    data.write_h5ad(tmp_path / "cells.h5ad")
    with raises(CorpusError, "fractional-count", "cells.h5ad", "layer='counts'"):
        read_corpus(tmp_path / "cells.h5ad")
    corpus = read_corpus(tmp_path / "cells.h5ad", layer="counts")
    assert corpus == from_anndata(data, layer="counts")
    assert corpus.document_names == ("c1", "c2", "c3")
    assert corpus.metadata.to_dict("list") == {"donor": ["x", "y", "x"], "depth": [3, 3, 0]}
    some = read_corpus(tmp_path / "cells.h5ad", layer="counts", metadata=["depth"])
    assert list(some.metadata) == ["depth"]
    (tmp_path / "more.csv").write_text("cell,age\nc3,30\nc1,10\nc2,20\n")
    more = read_corpus(tmp_path / "cells.h5ad", layer="counts", metadata_file=tmp_path / "more.csv")
    assert more.metadata["age"].tolist() == [10, 20, 30]
    assert list(more.metadata) == ["donor", "depth", "age"]
    named = read_corpus(tmp_path / "cells.h5ad", layer="counts", vocabulary=["a", "b", "c"])
    assert named.vocabulary == ("a", "b", "c")
    (tmp_path / "bad.h5ad").write_bytes((tmp_path / "cells.h5ad").read_bytes()[:3000])
    with raises(CorpusError, "damaged-file", "bad.h5ad"):
        read_corpus(tmp_path / "bad.h5ad")


def test_without_anndata_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "anndata", None)
    (tmp_path / "cells.h5ad").write_bytes(b"\x89HDF\r\n\x1a\n")
    with raises(MissingPackageError, "missing-package", 'pip install "franchise[anndata]"'):
        read_corpus(tmp_path / "cells.h5ad")


# ---------------------------------------------------------------- bags of words

BOW = [[(0, 1), (2, 2)], [(1, 3)], []]


class Dictionary(UserDict):
    """Ids to tokens, and tokens to ids, as in gensim."""

    @property
    def token2id(self):
        return {token: i for i, token in self.data.items()}


@pytest.mark.parametrize(
    "dictionary",
    [
        {0: "ant", 1: "bee", 2: "cat"},
        {"cat": 2, "ant": 0, "bee": 1},
        ["ant", "bee", "cat"],
        Dictionary({0: "ant", 1: "bee", 2: "cat"}),
    ],
    ids=["to terms", "to ids", "list", "gensim's"],
)
def test_bags_of_words(dictionary):
    corpus = from_bow(iter(BOW), dictionary)
    assert corpus.vocabulary == ("ant", "bee", "cat")
    assert corpus.to_counts().toarray().tolist() == COUNTS.tolist()
    assert as_corpus(BOW).to_counts().toarray().tolist() == COUNTS.tolist()


def test_new_bags_of_words_have_the_ids_of_the_terms():
    corpus = from_bow(BOW, ["ant", "bee", "cat"])
    new = encode([[(2, 1)], [], [(0, 2.0)]], corpus)
    assert new.arrays.x.tolist() == [2, 0, 0]
    with raises(CorpusError, "term-out-of-range", "term id 3", "3 terms"):
        encode([[(3, 1)]], corpus)


@pytest.mark.parametrize(
    ("documents", "dictionary", "code", "facts"),
    [
        ([[(0, 1), 3]], None, "not-a-pair", ("document 0", "3")),
        ([[(0, 1)], [(0.5, 1)]], None, "not-a-pair", ("document 1",)),
        ([[(-1, 1)]], None, "term-out-of-range", ("term id -1",)),
        ([[(10**12, 1)]], None, "term-out-of-range", ("1000000000000",)),
        ([[(0, 0.5)]], None, "fractional-count", ("column 0", "0.5")),
        ([[(0, -1)]], None, "negative-count", ("column 0", "-1")),
        ([[(4, 1)]], ["ant"], "term-out-of-range", ("term id 4", "1 terms")),
        ([[(0, 1)]], 7, "wrong-type", ("7 (int)",)),
        ([[(0, 1)]], {-2: "ant"}, "term-out-of-range", ("-2",)),
        ([[(0, 1)]], {0: 1}, "wrong-type", ()),
        ([[(0, 1)]], {0: "ant", 1: "ant"}, "duplicate-term", ("'ant'",)),
        ([[(0, 1)], "text"], None, "not-a-pair", ("document 1",)),
        ([[]], None, "empty-corpus", ()),
    ],
)
def test_bags_of_words_that_cannot_be(documents, dictionary, code, facts):
    with raises(CorpusError, code, *facts):
        from_bow(documents, dictionary)


def test_gensim_itself(tmp_path):
    corpora = pytest.importorskip("gensim.corpora", reason="gensim is not installed")
    texts = [["ant", "bee", "bee"], ["cat"], []]
    dictionary = corpora.Dictionary(texts)
    corpus = from_bow([dictionary.doc2bow(text) for text in texts], dictionary)
    assert sorted(corpus.vocabulary) == ["ant", "bee", "cat"]
    corpora.MmCorpus.serialize(str(tmp_path / "docs.mm"), [dictionary.doc2bow(text) for text in texts])
    assert from_bow(corpora.MmCorpus(str(tmp_path / "docs.mm")), dictionary) == corpus
    assert as_corpus(corpora.MmCorpus(str(tmp_path / "docs.mm"))).n_words == 4
    assert read_corpus(tmp_path / "docs.mm", vocabulary=list(corpus.vocabulary)) == corpus


# ---------------------------------------------------------------- datasets


class Dataset:
    """Rows, with the names of the columns."""

    column_names = ("label", "text")
    features = ("label", "text")

    def __iter__(self):
        return iter([{"text": "ant"}])


class DatasetDict(dict):
    """Parts, each a dataset."""

    column_names = {"train": ["text"], "test": ["text"]}  # noqa: RUF012


@pytest.mark.parametrize(
    ("documents", "code", "facts"),
    [
        (Dataset(), "not-one-column", ("'label', 'text'", "dataset['text']")),
        (DatasetDict(train=Dataset()), "not-one-column", ("dataset['train']['text']",)),
    ],
)
def test_a_dataset_as_a_whole(documents, code, facts):
    for call in (as_corpus, lambda x: encode(x, from_bow(BOW)), HDPTopicModel(verbose=0).fit):
        with raises(FranchiseError, code, *facts):
            call(documents)


def test_a_column_of_a_dataset():
    datasets = pytest.importorskip("datasets", reason="Hugging Face's datasets is not installed")
    dataset = datasets.Dataset.from_dict({"text": ["ant bee", "bee"], "words": [["ant", "bee"], ["bee"]]})
    assert as_corpus(dataset["text"]).vocabulary == ("ant", "bee")
    assert as_corpus(dataset["words"]).n_words == 3
    assert as_corpus(dataset.to_iterable_dataset()["text"]).n_documents == 2
    for whole in (dataset, datasets.DatasetDict(train=dataset), dataset.to_iterable_dataset()):
        with raises(CorpusError, "not-one-column", "['text']"):
            as_corpus(whole)

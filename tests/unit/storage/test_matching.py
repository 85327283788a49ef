"""The topic matching that is stored with a model: used when it fits, else computed again without a word."""

import numpy as np
import pytest

from franchise import HDPTopicModel
from franchise.corpus import planted
from franchise.posterior import estimates
from franchise.posterior.align import align
from franchise.storage.checkpoints import Checkpoints
from franchise.storage.matching import read_matching
from franchise.storage.model import chains_folder

CORPUS = planted(n_topics=4, n_terms=60, n_documents=30, document_length=20, seed=1).corpus
FILE = "matching.safetensors"


def fitted(folder, **settings):
    settings = {"chains": 2, "sweeps": 12, "random_state": 3, "verbose": 0} | settings
    HDPTopicModel(**settings).fit(CORPUS, checkpoint_dir=folder)


@pytest.fixture
def folder(tmp_path):
    fitted(tmp_path / "m")
    return tmp_path / "m"


@pytest.fixture
def aligned(monkeypatch):
    """Return a list that grows whenever topics are matched."""
    calls = []

    def counted(draws):
        calls.append(len(draws))
        return align(draws)

    monkeypatch.setattr(estimates, "align", counted)
    return calls


def bits(matching):
    facts = (matching.support, matching.chain_support, matching.stability)
    return [one.tolist() for one in matching.clusters], [one.tobytes() for one in facts]


def check_of(model):
    """Check that a model has the matching that follows from its draws."""
    assert bits(model.posterior_.alignment) == bits(align(model.posterior_.draws))


def test_it_is_not_computed_again(folder, aligned):
    model = HDPTopicModel.load(folder)
    model.topics(), model.documents(), model.diagnose()
    assert aligned == []
    check_of(model)
    model.save(folder.parent / "copy")
    HDPTopicModel.load(folder.parent / "copy").topics()
    assert aligned == []


def test_chains_that_have_gone_on_are_matched_again(folder, aligned):
    """As after a run that was killed: the chains have been saved, and nothing else."""
    model = HDPTopicModel.load(folder)
    (chain, _), keeper = model.chains_, Checkpoints(chains_folder(folder), 0)
    with keeper.keeping([chain]):
        chain.run(2)
        keeper.save(chain, now=True)
    ahead = HDPTopicModel.load(folder)
    assert ahead.chains_[0].sweeps_done == 14
    check_of(ahead)
    assert aligned == [2]


def test_after_a_resume_it_is_the_new_one(folder, aligned):
    HDPTopicModel.load(folder).resume(8)
    assert aligned == [2]
    check_of(HDPTopicModel.load(folder))
    assert aligned == [2]


def test_draws_that_are_dropped_are_not_matched(folder, aligned):
    model = HDPTopicModel.load(folder).resume(0, thin=2)
    assert aligned == [2]
    assert len(model.posterior_.alignment.clusters) == len(model.posterior_.flat_draws)
    check_of(HDPTopicModel.load(folder))


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "another", "newer"])
def test_what_cannot_be_used_is_computed_again(folder, aligned, damage, tmp_path, monkeypatch, recwarn):
    path = folder / FILE
    if damage == "missing":
        path.unlink()
    elif damage == "newer":
        monkeypatch.setattr("franchise.storage.matching.VERSION", 10**6)
    elif damage == "another":
        fitted(tmp_path / "n")
        (tmp_path / "n" / FILE).replace(path)
        aligned.clear()
    else:
        path.write_bytes(path.read_bytes()[: 0 if damage == "empty" else -3])
    model = HDPTopicModel.load(folder)
    check_of(model)
    assert aligned == [2]
    assert not recwarn.list
    assert read_matching(folder, model.chains_) is None  # a question changes no file
    model.set_topic_labels({0: "sums"})
    assert bits(read_matching(folder, model.chains_)) == bits(model.posterior_.alignment)


def test_models_without_draws(tmp_path, aligned):
    fitted(tmp_path / "m", chains=1, sweeps=4, burn_in=4)
    aligned.clear()
    model = HDPTopicModel.load(tmp_path / "m")
    assert not model.chains_[0].draws
    check_of(model)
    assert aligned == []
    assert np.all(model.posterior_.support == 1.0)

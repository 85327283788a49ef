"""Models that get more documents: they end where their chains continue to, and topics keep their names."""

import numpy as np
import pandas as pd
import pytest

from franchise import HDPTopicModel, ModelError, SettingsError, SplitMerge, from_counts
from franchise.corpus import planted, shard
from franchise.corpus.shards.corpus import open_shards
from franchise.engines import GivenTopics
from franchise.estimator.starts import start_of
from franchise.storage import model as store
from tests.raising import raises, warns
from tests.settings import fit, model_of

QUICK = {"sweeps": 30, "chains": 2, "random_state": 3, "verbose": 0}


@pytest.fixture(scope="module")
def tables():
    """Return counts of old documents, and of new ones with two more terms."""
    truth = planted(n_topics=4, n_terms=40, n_documents=50, document_length=60, seed=2)
    counts = pd.DataFrame(truth.corpus.to_counts().toarray(), columns=[f"t{v}" for v in range(40)])
    counts.index = [f"d{j}" for j in range(50)]
    return counts.iloc[:40, :38], counts.iloc[40:]


@pytest.fixture(scope="module")
def folder(tables, tmp_path_factory):
    """Return the folder of a model in which two topics have names."""
    folder = tmp_path_factory.mktemp("update") / "model"
    model = fit(tables[0], **QUICK, checkpoint_dir=folder)
    model.set_topic_labels({0: "first", 2: "third"})
    return folder


def model_in(folder, **changes):
    return HDPTopicModel.load(folder).set_params(verbose=0, **changes)


def in_bits(model):
    trace = model.trace_.drop(columns="seconds").to_numpy()
    draws = [draw.document_topics.toarray().tobytes() for draw in model.posterior_.flat_draws]
    return trace.tobytes(), draws, model.components_.tobytes(), model.topic_labels_


def files_in(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


# ---------------------------------------------------------------- what comes of it


def test_an_updated_model_is_one_of_all_documents(folder, tables):
    model = model_in(folder)
    before = model.components_, model.settings_
    assert model.update(tables[1], sweeps=20) is model
    assert model.corpus_.n_documents == 50
    assert model.components_.shape == (model.n_topics_, 40)
    assert model.corpus_.document_names[-1] == "d49"
    assert {chain.sweeps_done for chain in model.chains_} == {20}
    assert {draw.sweep for chain in model.chains_ for draw in chain.draws} == set(range(11, 21))
    assert (model.n_features_in_, list(model.transform(tables[1]).shape)) == (40, [10, model.n_topics_])
    settings = model.settings_
    assert settings["seed"] != before[1]["seed"]  # streams of random numbers are not used twice
    assert (settings["sweeps"], settings["burn_in"], settings["eta"]) == (20, None, before[1]["eta"])
    assert settings["in_use"]["warm_up"] == 0
    assert "HDPTopicModel of 50 documents" in str(model)


def test_the_default_number_of_sweeps(folder, tables):
    made = []
    model = model_in(folder)
    with pytest.raises(InterruptedError):
        model.update(tables[1], callback=lambda chain: made.append(chain.schedule) or _stop())
    assert (made[0].sweeps, made[0].burn_in, made[0].merges, made[0].warm_up) == (200, 100, (), 0)


def _stop():
    raise InterruptedError


def test_the_same_bits_for_any_number_of_threads(folder, tables):
    one, two = (model_in(folder, n_jobs=n).update(tables[1], sweeps=12) for n in (1, 2))
    assert in_bits(one) == in_bits(two)


def test_names_go_with_their_topics(folder, tables):
    model = model_in(folder)
    old = model.components_
    model.update(tables[1], sweeps=30)
    names = {name: k for k, name in model.named_topics_.items()}
    found = model.topic_map()
    assert list(found)[:4] == ["earlier", "topic", "change", "similarity"]
    assert set(found["change"]) <= {"continues", "born", "died"}
    for number, name in ((0, "first"), (2, "third")):
        row = found[found["earlier"] == number].iloc[0]
        assert (row["change"], row["name"], row["earlier_name"]) == ("continues", name, name)
        assert names[name] == row["topic"]
        new = model.components_[row["topic"]]
        wider = np.append(old[number], [0.0, 0.0])
        cosine = wider @ new / np.linalg.norm(wider) / np.linalg.norm(new)
        assert row["similarity"] == pytest.approx(cosine, abs=1e-6)
    # Every topic of either model is there once.
    assert sorted(found["topic"].dropna()) == list(range(model.n_topics_))
    assert sorted(found["earlier"].dropna()) == list(range(len(old)))


def test_what_was_born_or_died_is_listed(folder):
    """New documents of other words: their topics are new."""
    model = model_in(folder)
    other = pd.DataFrame(np.full((8, 6), 10), columns=[f"new{v}" for v in range(6)], index=list("abcdefgh"))
    model.update(pd.concat([other, pd.DataFrame({"t0": [1]}, index=["z"])]).fillna(0).astype(int), sweeps=20)
    found = model.topic_map()
    born = found[found["change"] == "born"]
    assert born["earlier"].isna().all()
    assert any("new" in terms for terms in born["terms"])
    died = found[found["change"] == "died"]
    assert (died["topic"].isna().all(), (died["terms"] == "").all()) == (True, True)


def test_updates_follow_each_other(folder, tables):
    model = model_in(folder)
    for rows in (tables[1].iloc[:5], tables[1].iloc[5:]):
        model.update(rows, sweeps=12)
    assert model.corpus_.n_documents == 50
    assert len(set(model.named_topics_.values())) == 2
    again = model_in(folder)
    for rows in (tables[1].iloc[:5], tables[1].iloc[5:]):
        again.update(rows, sweeps=12)
    assert in_bits(model) == in_bits(again)


def test_metadata_that_new_documents_lack_is_missing(tables):
    model = fit(tables[0], **QUICK, metadata={"year": range(40)})
    with warns("missing-metadata", "'year'"):
        model.update(tables[1].iloc[:5], sweeps=4)
    model.update(tables[1].iloc[5:], metadata={"year": range(5)}, sweeps=4)
    assert model.corpus_.metadata["year"].isna().sum() == 5


def test_names_of_columns_that_were_given_later_are_kept(tables):
    model = fit(tables[0].to_numpy(), **QUICK)
    model.set_feature_names(list(tables[0]))
    model.update(tables[1].to_numpy()[:, :38], sweeps=4)
    assert model.corpus_.vocabulary == tuple(tables[0])


def test_overdispersed_counts_are_scaled_down_as_before(tables):
    generator = np.random.default_rng(0)
    shares = generator.dirichlet(np.full(12, 0.3), 4)
    mixed = generator.dirichlet(np.full(4, 0.5), 60) @ shares
    noisy = np.array([generator.multinomial(3000, generator.dirichlet(100 * p + 1e-9)) for p in mixed])
    with warns("overdispersed-counts"):
        model = fit(noisy[:50], **QUICK | {"sweeps": 8})
    done = model.corpus_.downsampling
    model.update(noisy[50:], sweeps=4)
    lengths = model.corpus_.document_lengths
    limit = 3000 * (1 + done.concentration) / (3000 + done.concentration)
    assert np.abs(lengths - limit).max() < 1.0
    assert model.corpus_.downsampling.n_words_before == noisy.sum()


def test_down_sampled_documents_stay_so(tables):
    corpus = from_counts(tables[0]).downsampled(20, random_state=4)
    model = fit(corpus, **QUICK | {"sweeps": 4}).update(tables[1], sweeps=4)
    assert model.corpus_.document_lengths.max() == 20
    assert model.corpus_.downsampling.n_documents == 50


def test_a_schedule_of_the_fit_does_not_stand_in_the_way(tables):
    schedule = {"warm_up": 9, "merges": (12,), "split_merge": SplitMerge(adapt=14)}
    model = fit(tables[0], **QUICK, **schedule).update(tables[1], sweeps=6)
    begun = model.chains_[0].schedule
    assert (begun.warm_up, begun.merges, begun.split_merge.adapt) == (0, (), 3)


# ---------------------------------------------------------------- in a folder


def test_an_update_that_was_cut_off_ends_as_if_it_was_not(folder, tables, tmp_path):
    def cut(chain):
        if chain.sweeps_done == 7:
            raise InterruptedError

    earlier = files_in(folder)
    with pytest.raises(InterruptedError):
        model_in(folder).update(tables[1], sweeps=15, checkpoint_dir=tmp_path / "m", callback=cut)
    begun = model_in(tmp_path / "m")
    assert min(chain.sweeps_done for chain in begun.chains_) < 15
    whole = model_in(folder).update(tables[1], sweeps=15)
    resumed = begun.resume()
    again = model_in(folder).update(tables[1], sweeps=15, checkpoint_dir=tmp_path / "m")
    for model in (resumed, again, model_in(tmp_path / "m")):
        assert in_bits(model) == in_bits(whole)
        assert model.named_topics_ == whole.named_topics_
        pd.testing.assert_frame_equal(model.topic_map(), whole.topic_map())
    assert files_in(folder) == earlier  # the earlier model stays as it was
    assert "first" in (tmp_path / "m" / "topic_map.csv").read_text()


def test_it_can_be_resumed_before_the_first_sweep(folder, tables, tmp_path):
    def cut(chain):
        raise InterruptedError

    model = model_in(folder)
    with pytest.raises(InterruptedError):
        model.update(tables[1], sweeps=8, checkpoint_dir=tmp_path / "m", callback=cut)
    assert model.corpus_.n_documents == 40  # as it was before
    resumed = model_in(tmp_path / "m").resume()
    assert in_bits(resumed) == in_bits(model_in(folder).update(tables[1], sweeps=8))
    assert sorted(resumed.named_topics_.values()) == ["first", "third"]


def test_folders_that_are_taken(folder, tables, tmp_path):
    with raises(ModelError, "folder-exists", folder):
        model_in(folder).update(tables[1], sweeps=4, checkpoint_dir=folder)
    fit(tables[1], **QUICK | {"sweeps": 4}, checkpoint_dir=tmp_path / "m")
    before = files_in(tmp_path / "m")
    with raises(ModelError, "folder-exists", tmp_path / "m"):
        model_in(folder).update(tables[1], sweeps=4, checkpoint_dir=tmp_path / "m")
    assert files_in(tmp_path / "m") == before


def test_a_model_can_be_replaced_by_its_update(tables, tmp_path):
    fit(tables[0], **QUICK, checkpoint_dir=tmp_path / "m").set_topic_labels({0: "first"})
    model = model_in(tmp_path / "m").update(
        tables[1], sweeps=6, checkpoint_dir=tmp_path / "m", overwrite=True
    )
    assert in_bits(model_in(tmp_path / "m")) == in_bits(model)
    assert model.resume(2).corpus_.n_documents == 50


def test_a_call_that_fails_changes_nothing(folder, tables):
    model = model_in(folder)
    before, chains = in_bits(model), model.chains_
    with pytest.raises(InterruptedError):
        model.update(tables[1], sweeps=8, callback=lambda chain: chain.sweeps_done < 5 or _stop())
    assert in_bits(model) == before
    assert model.chains_ is chains
    assert model.resume(2).corpus_.n_documents == 40


# ---------------------------------------------------------------- what is refused


def test_models_that_cannot_be_updated(tables, tmp_path):
    shard([from_counts(tables[0])], tmp_path / "c.franchise")
    model = fit(open_shards(tmp_path / "c.franchise"), **QUICK | {"sweeps": 4})
    with raises(ModelError, "cannot-update", "shards"):
        model.update(tables[1])
    by_hand = from_counts(tables[0]).downsampled([9] * 40)
    with raises(ModelError, "cannot-update", "limit"):
        fit(by_hand, **QUICK | {"sweeps": 4}).update(tables[1])


@pytest.mark.parametrize(("name", "value"), [("sweeps", 0), ("burn_in", 9), ("burn_in", -1), ("thin", 0)])
def test_settings_that_cannot_be(folder, tables, name, value):
    with pytest.raises(SettingsError, match=name):
        model_in(folder).update(tables[1], **{"sweeps": 8, name: value})


def test_there_is_no_map_without_an_earlier_model(folder):
    with raises(SettingsError, "no-earlier-topics"):
        model_in(folder).topic_map()


# ---------------------------------------------------------------- names follow init=model, too


@pytest.mark.parametrize("kind", ["model", "folder"])
def test_names_follow_the_topics_that_a_fit_starts_from(folder, tables, kind):
    init = model_in(folder) if kind == "model" else folder
    every = pd.concat(tables).fillna(0).astype(int)
    model = model_of(**QUICK | {"init": init}).fit(every[every.columns[::-1]])
    assert sorted(model.named_topics_.values()) == ["first", "third"]
    found = model.topic_map().set_index("earlier_name")
    assert found.loc["first", "name"] == "first"
    # Their names do not change the start.
    same = model_in(folder)
    assert start_of(init) == GivenTopics("topics", same.components_, same.corpus_.vocabulary)


def test_names_of_a_start_are_there_after_a_crash(folder, tables, tmp_path):
    with pytest.raises(InterruptedError):
        model_of(**QUICK | {"init": folder}).fit(
            tables[0], checkpoint_dir=tmp_path / "m", callback=lambda chain: _stop()
        )
    assert store.is_model(tmp_path / "m")
    resumed = model_in(tmp_path / "m").resume()
    assert sorted(resumed.named_topics_.values()) == ["first", "third"]
    assert model_in(tmp_path / "m").set_topic_labels(None).named_topics_ == {}
    assert model_in(tmp_path / "m").named_topics_ == {}  # they do not come back

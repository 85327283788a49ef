"""A model folder: refused in words when it is damaged, cut short, newer or foreign; never believed."""

import json
import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from franchise import Corpus, HDPTopicModel, ModelError
from franchise._files import checksum_of
from franchise.corpus.large_arrays import packed, unpacked
from franchise.storage import model as store
from tests.raising import raises

TEXTS = [
    "the cat drank milk",
    "a dog chased the cat",
    "stocks and bonds fell",
    "",
    "Zoë\n\0\ud800 naïve 猫",
] * 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model"
    HDPTopicModel(sweeps=6, chains=2, random_state=0, verbose=0).fit(TEXTS).save(path)
    return path


@pytest.fixture
def copy(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "copy")


def files_of(folder):
    """Return the files that are read back."""
    return sorted([folder / "model.json", *folder.rglob("*.safetensors")])


def change_json(path, **changes):
    """Change facts of model.json and give it the checksum of what it says then."""
    facts = json.loads(path.read_text("utf-8")) | changes
    del facts["checksum"]
    path.write_text(json.dumps(facts | {"checksum": checksum_of(facts)}), "utf-8")


def test_a_good_folder_is_read(folder):
    corpus, facts, stamp = store.read(folder)
    assert stamp == store.stamp(folder)
    assert corpus.n_documents == 15
    assert corpus.texts == tuple(TEXTS)
    assert facts["seed"] == 0
    assert (folder / "README.md").read_text("utf-8").startswith("# A topic model")
    assert (folder / "vocabulary.txt").read_text("utf-8").split() == list(corpus.vocabulary)


def test_people_read_the_rest(copy):
    for name in ("README.md", "topics.csv", "trace.csv", "vocabulary.txt"):
        (copy / name).unlink()
    assert HDPTopicModel.load(copy).n_topics_ > 0


def test_what_is_no_folder(tmp_path):
    with raises(ModelError, "no-such-folder", tmp_path / "nowhere"):
        HDPTopicModel.load(tmp_path / "nowhere")
    file = tmp_path / "my texts.txt"
    file.write_text("text")
    with raises(ModelError, "model-is-a-file", file, f"franchise fit '{file}' -o model/"):
        HDPTopicModel.load(file)
    with raises(ModelError, "not-a-model", tmp_path, "model.json"):
        HDPTopicModel.load(tmp_path)


def test_a_foreign_folder(tmp_path):
    (tmp_path / "model.json").write_text('{"format": "something else", "version": 1}')
    with raises(ModelError, "not-a-model", tmp_path / "model.json"):
        HDPTopicModel.load(tmp_path)


@pytest.mark.parametrize(("step", "code"), [(1, "newer-format"), (-1, "outdated-format")])
def test_another_version(copy, step, code):
    change_json(copy / "model.json", version=store.VERSION + step)
    with raises(ModelError, code, copy / "model.json", store.VERSION + step):
        HDPTopicModel.load(copy)


def test_an_edited_file(copy):
    path = copy / "model.json"
    path.write_text(path.read_text("utf-8").replace('"sweeps": 6', '"sweeps": 7'), "utf-8")
    with raises(ModelError, "damaged-file", path):
        HDPTopicModel.load(copy)


@pytest.mark.parametrize("change", [{"eta": "x"}, {"unheard_of": 1}, {"schedule": {}}, {"chains": 1}])
def test_settings_that_cannot_be_used(copy, change):
    facts = json.loads((copy / "model.json").read_text("utf-8"))
    change_json(copy / "model.json", settings=facts["settings"] | change)
    with pytest.raises(ModelError):
        HDPTopicModel.load(copy)


def test_settings_that_are_missing(copy):
    change_json(copy / "model.json", settings={})
    with raises(ModelError, "unusable-settings", copy):
        HDPTopicModel.load(copy)


def test_parts_of_two_models(copy, tmp_path):
    HDPTopicModel(sweeps=6, chains=2, random_state=0, verbose=0).fit(TEXTS[:9]).save(tmp_path / "other")
    shutil.copy(tmp_path / "other" / "corpus.safetensors", copy)
    with raises(ModelError, "corpus-mismatch", copy / "model.json"):
        HDPTopicModel.load(copy)


@pytest.mark.parametrize("which", range(4))
def test_a_missing_file(copy, which):
    path = files_of(copy)[which]
    path.unlink()
    if path.name == "chain.safetensors":  # as if that chain had not begun
        assert len(HDPTopicModel.load(copy).posterior_.draws) == 1
    else:
        with pytest.raises(ModelError):
            HDPTopicModel.load(copy)


@settings(max_examples=150)
@given(st.data())
def test_fuzzed_bytes(folder, tmp_path_factory, data):
    """Change, cut or add bytes in any file: an error in words, or the very same model."""
    copy = shutil.copytree(folder, tmp_path_factory.mktemp("fuzzed") / "model")
    path = data.draw(st.sampled_from(files_of(copy)))
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    how = data.draw(st.sampled_from(["change", "cut", "add", "replace"]))
    if how == "change":
        content[at] ^= data.draw(st.integers(1, 255))
    elif how == "cut":
        del content[at:]
    elif how == "add":
        content[at:at] = data.draw(st.binary(min_size=1, max_size=9))
    else:
        content = bytearray(data.draw(st.binary(max_size=99)))
    path.write_bytes(content)
    try:
        loaded = HDPTopicModel.load(copy)
    except ModelError:
        pass
    else:
        sound = HDPTopicModel.load(folder)
        assert loaded.trace_.equals(sound.trace_)
        assert loaded.topics().equals(sound.topics())
    shutil.rmtree(copy)


def test_no_code_is_run(copy, tmp_path):
    """A pickle in the place of a file is not opened."""
    import pickle

    class Evil:
        def __reduce__(self):
            return exec, (f"open({str(tmp_path / 'struck')!r}, 'w')",)

    for path in files_of(copy):
        before = path.read_bytes()
        path.write_bytes(pickle.dumps(Evil()))
        if path.name == "matching.safetensors":  # can be computed again
            HDPTopicModel.load(copy)
        else:
            with pytest.raises(ModelError):
                HDPTopicModel.load(copy)
        path.write_bytes(before)
    assert not (tmp_path / "struck").exists()


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    corpus = Corpus([0, 1], [0, 2], ["a", "b"])
    (tmp_path / "file").write_text("in the way")
    with raises(ModelError, "cannot-write", tmp_path / "file"):
        store.create(tmp_path / "file" / "model", corpus, {})

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("franchise._files.os.fsync", full)
    with raises(ModelError, "cannot-write", "No space left on device"):
        store.create(tmp_path / "model", corpus, {})
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@given(st.lists(st.text(), max_size=9))
def test_strings_survive(strings):
    assert unpacked("s", packed("s", strings)) == strings


def test_packed_strings_that_cannot_be():
    with pytest.raises((IndexError, ValueError)):
        unpacked("s", {"s": np.frombuffer(b"\xff\xff", np.uint8), "s.end": np.array([2])})


# ---------------------------------------------------------------- models that are replaced


def small_model(eta=1.0, **settings):
    return HDPTopicModel(eta=eta, sweeps=6, chains=2, random_state=0, verbose=0, **settings)


FEW = ["cat milk cat", "dog bone dog", "cat dog milk", "bone bone dog"]


def test_a_fit_that_was_killed_before_its_first_checkpoint_is_begun_anew(tmp_path):
    """There is nothing to continue, whatever corpus and settings it was for."""
    folder = tmp_path / "model"
    small_model(eta=0.5).fit(FEW, checkpoint_dir=folder)
    shutil.rmtree(folder / "chains")
    small_model(eta=0.9).fit(FEW[:3], checkpoint_dir=folder)
    assert HDPTopicModel.load(folder).corpus_.n_documents == 3


def test_what_is_set_after_the_fit_is_not_saved_as_if_it_had_made_the_model(tmp_path):
    model = small_model(eta=0.5).fit(FEW)
    model.set_params(eta=0.1, sweeps=30, chains=3, n_jobs=1)
    assert (model.settings_["eta"], model.settings_["chains"], model.settings_["n_jobs"]) == (0.5, 2, -1)
    model.save(tmp_path / "model")
    loaded = HDPTopicModel.load(tmp_path / "model")
    assert (loaded.eta, loaded.chains) == (0.5, 2)


@pytest.mark.parametrize("kind", ["tmp", "old"])
def test_what_a_killed_process_left_is_tidied_up(tmp_path, kind):
    model, folder, left = small_model().fit(FEW), tmp_path / "model", tmp_path / f".model.{kind}"
    model.save(folder)
    shutil.copytree(folder, left)
    model.save(folder, overwrite=True)
    assert not left.exists()
    assert HDPTopicModel.load(folder).n_topics_ == model.n_topics_


def test_a_model_whose_replacement_was_cut_off_is_found_again(tmp_path):
    model, folder = small_model().fit(FEW), tmp_path / "model"
    model.save(folder)
    folder.rename(tmp_path / ".model.old")
    assert HDPTopicModel.load(folder).n_topics_ == model.n_topics_
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_fit_continues_a_model_whose_replacement_was_cut_off(tmp_path):
    folder = tmp_path / "model"
    small_model().fit(FEW, checkpoint_dir=folder)
    folder.rename(tmp_path / ".model.old")
    longer = small_model().set_params(sweeps=8).fit(FEW, checkpoint_dir=folder)
    assert longer.trace_["sweep"].max() == 8
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.unix
def test_through_a_link_the_model_that_it_points_to_is_replaced(tmp_path):
    model, folder, link = small_model().fit(FEW), tmp_path / "model", tmp_path / "link"
    model.save(folder)
    link.symlink_to(folder)
    other = small_model(eta=0.7).fit(FEW)
    other.save(link, overwrite=True)
    assert link.is_symlink()
    assert HDPTopicModel.load(folder).eta == 0.7
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "model"]

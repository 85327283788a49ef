"""A call that fails leaves the model as it was: an error is raised at every line that the call runs through.

It strikes once, as a MemoryError or a KeyboardInterrupt may, at each different line of the package, in the
calling thread and in the threads of the chains. Compiled code and other packages are left alone: an error
inside Numba's own code would crash the interpreter.
"""

import shutil
import signal
import sys
import threading
from functools import cache
from pathlib import Path

import pytest

from franchise import HDPTopicModel
from franchise.corpus import from_tokens
from tests.integration.package import may_fail

pytestmark = [
    pytest.mark.filterwarnings("ignore:there are more topics"),  # of so few words
    # A file that is struck between being opened and being used is closed when it is forgotten.
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
]
CATS = [["cat", "milk", "cat"], ["dog", "cat", "bone"], ["milk", "cat"]] * 2
BONDS = [["bond", "stock"], ["fund", "bond", "bond"], ["stock", "rate", "fund"]]  # as many terms
SETTINGS = {"sweeps": 2, "chains": 1, "n_jobs": 1, "engine": "collapsed", "random_state": 3, "verbose": 0}
ERRORS = (MemoryError, KeyboardInterrupt)


class Strike:
    """Notes the lines of the package that a call runs through, and raises an error at one of them."""

    def __init__(self, error=None, at=None):
        self._error, self._at, self.lines = error, at, {}
        self._calling = threading.get_ident()

    def _enter(self, frame, event, _):
        code = frame.f_code  # what __del__ raises goes nowhere
        return self._line if may_fail(code.co_filename) and code.co_name != "__del__" else None

    def _line(self, frame, event, _):
        if event == "line":
            where = frame.f_code.co_filename, frame.f_lineno, threading.get_ident() == self._calling
            self.lines.setdefault(where)
            if where == self._at:
                self._at = None  # once
                raise self._error(f"{Path(where[0]).name}:{where[1]}")
        return self._line

    def __enter__(self):
        self._before, self._handler = sys.gettrace(), signal.getsignal(signal.SIGINT)
        threading.settrace(self._enter)
        sys.settrace(self._enter)
        return self

    def __exit__(self, *_):
        sys.settrace(self._before)
        threading.settrace(self._before)
        signal.signal(signal.SIGINT, self._handler)  # the error may have struck just before it was put back


CALLS = {
    "fit": lambda model: model.fit(corpora()[1]),
    "fit_transform": lambda model: model.fit_transform(corpora()[1]),
    "fit of texts": lambda model: model.fit(["stocks fell", "bonds and stocks", "bonds rose"]),
    "resume": lambda model: model.resume(2),
    "set_topic_labels": lambda model: model.set_topic_labels({0: "pets"}),
    "set_feature_names": lambda model: model.set_feature_names(["a", "b", "c", "d"]),
    "set_params": lambda model: model.set_params(eta=0.5, sweeps=7),
}
# Lines that two calls share are struck in one of them.
SHARED = {"fit_transform": "fit", "fit of texts": "fit"}
SOME, THIRD, ALL = 37, pytest.param(3, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.slow)
ALL_IN_MINUTES = pytest.param(1, marks=pytest.mark.large)


@cache
def corpora():
    both = from_tokens(CATS), from_tokens(BONDS)
    assert all(corpus.cells.terms.size for corpus in both)  # counted once, at the first call
    return both


def new_model(folder=None):
    model = HDPTopicModel(**SETTINGS).fit(corpora()[0], checkpoint_dir=folder)
    assert model.components_.size  # found once, at the first call
    return model


def seen(model):
    """Return all that a model has, and may not have changed; what chains do in place, in bits."""
    own = vars(model) | {"chains_": None}
    chains = [
        (chain.schedule, chain.trace.as_array().tobytes(), len(chain.draws), chain.state.t_ji.tolist())
        for chain in model.chains_
    ]
    return own, dict(model._kept), model.posterior_.traces[0].as_array().tobytes(), chains


def is_same(before, after):
    own, others = before[0], after[0]
    same = own.keys() == others.keys() and all(value is others[name] for name, value in own.items())
    return same and before[1:] == after[1:]


def lines_of(call, model):
    with Strike() as strike:
        call(model)
    return strike.lines


def struck(call, model, error, where):
    """Strike a call, and return what came of it."""
    with Strike(error, where):
        try:
            call(model)
        except error as caught:
            return str(caught)
    return ""


def in_bits(model):
    return model.trace_.drop(columns="seconds").to_numpy().tobytes(), model.components_.tobytes()


@pytest.mark.parametrize("step", [SOME, ALL])
@pytest.mark.parametrize("name", CALLS)
def test_in_memory(name, step):
    call, model = CALLS[name], new_model()
    call(new_model())  # imports modules and reads lists of words, once
    lines = lines_of(call, new_model()).keys()
    if name in SHARED:
        lines = lines - lines_of(CALLS[SHARED[name]], new_model()).keys()
    before = seen(model)
    for where in sorted(lines)[::step]:
        for error in ERRORS:
            assert struck(call, model, error, where), where
            assert is_same(before, seen(model)), (where, error)
    call(model)
    whole = new_model()
    call(whole)
    assert in_bits(model) == in_bits(whole)
    assert model.topics().equals(whole.topics())


# ---------------------------------------------------------------- in a folder


def fit_over(folder):
    model = HDPTopicModel.load(folder) if folder.exists() else HDPTopicModel(**SETTINGS)
    return model, lambda model: model.fit(corpora()[1], checkpoint_dir=folder, overwrite=True)


def fit_longer(folder):
    model = HDPTopicModel.load(folder).set_params(sweeps=4)
    return model, lambda model: model.fit(corpora()[0], checkpoint_dir=folder)


def resume(folder):
    model = HDPTopicModel.load(folder)
    missing = 4 - model.settings_["sweeps"]
    return model, lambda model: model.resume(missing)


def name_topics(folder):
    return HDPTopicModel.load(folder), CALLS["set_topic_labels"]


def save(folder):
    return HDPTopicModel.load(folder), lambda model: model.save(folder, overwrite=True)


# Lines that the call runs through without a folder are struck above.
IN_PLACE = {fit_over: "fit", fit_longer: "fit", resume: "resume", name_topics: "set_topic_labels", save: None}


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    folder = tmp_path_factory.mktemp("begun") / "model"
    new_model(folder)
    return folder


@pytest.mark.parametrize("step", [SOME, THIRD, ALL_IN_MINUTES])
@pytest.mark.unix
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("begin", IN_PLACE, ids=lambda begin: begin.__name__)
def test_in_a_folder(begin, step, begun, tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _: None)  # it takes most of the time
    model, call = begin(shutil.copytree(begun, tmp_path / "whole"))
    lines = lines_of(call, model).keys()
    whole, names = in_bits(model), model.named_topics_
    if other := IN_PLACE[begin]:
        lines = lines - lines_of(CALLS[other], new_model()).keys()
    for i, where in enumerate(sorted(lines)[::step]):
        folder = shutil.copytree(begun, tmp_path / str(i))
        model, call = begin(folder)
        assert model.components_.size
        before, error = seen(model), ERRORS[i % 2]
        hit = struck(call, model, error, where)
        assert not hit or is_same(before, seen(model)), where
        model, call = begin(folder)  # what is there now can be used
        call(model)
        assert (in_bits(model), model.named_topics_) == (whole, names), where
        shutil.rmtree(folder)

import shutil
from importlib import import_module

import numpy as np
import pytest

from franchise import Chain, Corpus, ModelError, Priors, Proposal, SplitMerge
from franchise._files import read_arrays, write_arrays
from franchise._version import VERSION
from franchise.sampling import Timetable, Trace
from franchise.storage.chain import ChainWriter, load_chain, save_chain, saved_chains
from franchise.storage.rows import RowFile
from tests.golden.fingerprint import PRIORS, arithmetic_corpus, in_bits
from tests.raising import raises

pytestmark = pytest.mark.nojit
SWEEPS = 14


def new_chain(start="sequential", **changes):
    settings = {"sweeps": SWEEPS, "burn_in": 4, "thin": 3, "split_merge": SplitMerge(keep_trials=True)}
    return Chain(
        arithmetic_corpus(), PRIORS, Timetable(**{**settings, **changes}), random_state=5, init=start
    )


def everything(chain):
    """Return all that a chain has gathered, in a form that compares to the bit."""
    draws = [_draw_in_bits(draw) for draw in (*chain.draws, chain.mode) if draw is not None]
    return in_bits(chain), chain.events, chain.trials, chain.mode_log_joint, draws


def _draw_in_bits(draw):
    counts = [part.toarray().tolist() for part in (draw.topic_terms, draw.document_topics)]
    return draw.sweep, draw.names.tolist(), counts, draw.m_k.tolist(), draw.concentrations.tolist()


@pytest.mark.parametrize("start", ["sequential", "one", 7])
def test_taken_up_after_every_sweep_it_is_the_chain_that_never_stopped(tmp_path, start):
    whole = new_chain(start)
    whole.run()
    for sweep in range(SWEEPS + 1):
        chain = new_chain(start)
        chain.start()
        chain.run(sweep)
        save_chain(chain, tmp_path / str(sweep))
        taken_up = load_chain(tmp_path / str(sweep), chain.corpus)
        assert everything(taken_up) == everything(chain)
        taken_up.run()
        assert everything(taken_up) == everything(whole)


def test_the_same_chain_gives_the_same_bytes(tmp_path):
    """But for the seconds that sweeps took."""
    for name in ("a", "b"):
        chain = new_chain()
        chain.run()
        chain.trace._numbers[:, chain.trace.columns.index("seconds")] = 0.0
        save_chain(chain, tmp_path / name)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.*"))
    assert len(files) == 1 + 3 + len(chain.draws) + 1
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_saving_on_the_way_writes_each_draw_once(tmp_path):
    chain = new_chain()
    chain.run(8)
    writer = ChainWriter(tmp_path)
    writer.save(chain)
    first = tmp_path / "draws" / "000006.safetensors"
    first.write_bytes(b"untouched")
    chain.run()
    writer.save(chain)
    assert first.read_bytes() == b"untouched"
    assert [path.name[:6] for path in sorted((tmp_path / "draws").iterdir())] == [
        "000006",
        "000009",
        "000012",
    ]


def test_draws_after_the_saved_sweep_are_not_looked_at(tmp_path):
    chain = new_chain()
    chain.run(8)
    save_chain(chain, tmp_path)
    (tmp_path / "draws" / "000009.safetensors").write_bytes(b"left by a run that was killed")
    assert [draw.sweep for draw in load_chain(tmp_path, chain.corpus).draws] == [6]


def test_a_longer_schedule_goes_on(tmp_path):
    chain = new_chain()
    chain.run()
    save_chain(chain, tmp_path)
    longer = load_chain(
        tmp_path,
        chain.corpus,
        Timetable(sweeps=20, burn_in=4, thin=3, split_merge=SplitMerge(keep_trials=True)),
    )
    longer.run()
    at_once = new_chain(sweeps=20)
    at_once.run()
    assert everything(longer) == everything(at_once)


def test_settings_survive():
    schedule = Timetable(
        sweeps=9,
        burn_in=2,
        thin=4,
        concentrations="auxiliary",
        split_merge=SplitMerge(
            trials=3, until=5, proposals=(Proposal(anchors="balanced", scans=2, weight=0.5),)
        ),
    )
    from dataclasses import asdict
    from json import dumps, loads

    assert Timetable.from_json(loads(dumps(asdict(schedule)))) == schedule
    assert Timetable.from_json(asdict(Timetable(split_merge=None))).split_merge is None
    priors = Priors(alpha=0.5, gamma=(2.0, 3.0))
    assert Priors(**loads(dumps(asdict(priors)))) == priors


def test_saved_chains_are_found(tmp_path):
    chain = new_chain()
    chain.start()
    for name in ("0", "11", "2", "other"):
        save_chain(chain, tmp_path / name)
    (tmp_path / "3").mkdir()
    assert saved_chains(tmp_path) == [0, 2, 11]
    assert saved_chains(tmp_path / "nowhere") == []


# ---------------------------------------------------------------- refusals


@pytest.fixture
def saved(tmp_path):
    chain = new_chain()
    chain.run()
    save_chain(chain, tmp_path / "chain")
    return tmp_path / "chain"


def change(folder, **changes):
    """Change arrays and facts of a saved chain, with a good checksum."""
    path = folder / "chain.safetensors"
    arrays, facts = read_arrays(path, "chain")
    for name, value in changes.items():
        if name in facts:
            facts[name] = value
        else:
            arrays[f"engine.{name}"] = value(arrays[f"engine.{name}"])
    write_arrays(path, "chain", arrays, facts)


def test_another_corpus_is_refused(saved):
    other = Corpus([0, 1], [0, 2], ["a", "b"])
    with raises(ModelError, "corpus-mismatch", saved):
        load_chain(saved, other)


def test_a_newer_version_is_refused(saved):
    change(saved, version=VERSION + 1)
    with raises(ModelError, "newer-format", saved, f"version {VERSION + 1}"):
        load_chain(saved, arithmetic_corpus())


def test_a_missing_draw_is_refused(saved):
    shutil.rmtree(saved / "draws")
    with raises(ModelError, "no-such-file", saved / "draws" / "000006.safetensors"):
        load_chain(saved, arithmetic_corpus())


@pytest.mark.parametrize("value", [None, "many", -1])
def test_impossible_facts_are_refused(saved, value):
    change(saved, seed=value)
    with raises(ModelError, "damaged-file", saved):
        load_chain(saved, arithmetic_corpus())


def _set(place, value):
    def changed(array):
        # Wide enough for any number; stored are the narrowest types.
        array = array.astype(np.int32) if array.dtype.kind == "u" else array.copy()
        array[place] = value
        return array

    return changed


@pytest.mark.parametrize(
    "damage",
    [
        {"t_ji": _set(0, 10**6)},
        {"t_ji": _set(0, -5)},
        {"m_j": _set(3, 10**6)},
        {"m_j": _set(3, -1)},
        {"k_jt": _set(0, 10**6)},
        {"row_k": _set(0, 10**6)},
        {"row_len": _set(2, 10**6)},
        {"live": _set(0, -1)},
        {"dead": _set(0, 10**6)},
        {"place": _set(0, -(10**6))},
        {"totals": _set(0, 10**6)},
        {"totals": _set(3, -1)},
        {"n_k": _set(slice(None), 0)},
        {"n_k": lambda array: array[:1]},
        {"t_ji": lambda array: array.astype(np.int64)},
        {"concentrations": _set(0, np.nan)},
        {"concentrations": _set(1, -1.0)},
    ],
)
def test_a_state_that_would_crash_compiled_code_is_refused(saved, damage):
    change(saved, **damage)
    with raises(ModelError, "damaged-file", saved):
        load_chain(saved, arithmetic_corpus())


# ---------------------------------------------------------------- what a checkpoint costs


def test_a_checkpoint_writes_what_is_new(tmp_path, monkeypatch):
    """The past is neither written again nor turned into Python objects; the state is all that is whole."""
    chain = new_chain(sweeps=60, burn_in=58)
    writer = ChainWriter(tmp_path)
    chain.run(2)
    writer.save(chain)
    written = []

    def added(file, rows):
        written.append((file.path.name, len(rows)))
        return add(file, rows)

    add = RowFile.add
    monkeypatch.setattr(RowFile, "add", added)
    monkeypatch.setattr(Trace, "_row", None)  # no row of the trace becomes a dictionary
    for _ in range(3):
        n_events, n_trials = len(chain.events), len(chain.trials)
        monkeypatch.undo()
        chain.run(5)
        monkeypatch.setattr(RowFile, "add", added)
        monkeypatch.setattr(Trace, "_row", None)
        written.clear()
        writer.save(chain)
        columns = len(chain.trace.columns)
        assert dict(written) == {
            f"trace-{columns}.rows": 5,
            "events.rows": len(chain.events) - n_events,
            "trials.rows": len(chain.trials) - n_trials,
        }
    monkeypatch.undo()
    assert everything(load_chain(tmp_path, chain.corpus)) == everything(chain)


def test_the_latest_mode_and_the_one_before_are_kept(tmp_path):
    """Someone may be reading the last checkpoint when the next one is written."""
    chain, writer = new_chain(), ChainWriter(tmp_path)
    modes = []
    for _ in range(SWEEPS):
        chain.run(1)
        writer.save(chain)
        if chain.mode:
            modes.append(chain.mode.sweep)
            names = {path.name for path in (tmp_path / "mode").iterdir()}
            assert names == {f"{sweep:06d}.safetensors" for sweep in modes[-2:]}
    assert len(set(modes)) > 2


def test_chains_that_once_had_many_topics_can_be_loaded(tmp_path):
    """What dead topics leave behind in the arrays is neither stored nor checked."""
    chain = new_chain(start=150)
    for sweep in range(SWEEPS):
        chain.run(1)
        save_chain(chain, tmp_path / str(sweep))
        assert everything(load_chain(tmp_path / str(sweep), chain.corpus)) == everything(chain)
    assert chain.trace["n_topics"][0] > 2 * max(64, chain.trace["n_topics"][-1])


def test_loading_builds_one_state(tmp_path, monkeypatch):
    chain = new_chain()
    chain.run(3)
    save_chain(chain, tmp_path)
    built = []

    def counted(make, name):
        return lambda *arguments: built.append(name) or make(*arguments)

    for module, name in (
        ("franchise.engines.collapsed_sampler", "new_scratch"),
        ("franchise.model.packing", "empty_state"),
        ("franchise.engines.collapsed", "empty_state"),
    ):
        monkeypatch.setattr(f"{module}.{name}", counted(getattr(import_module(module), name), name))
    loaded = load_chain(tmp_path, chain.corpus)
    assert built == ["empty_state", "new_scratch"]
    monkeypatch.undo()
    assert everything(loaded) == everything(chain)

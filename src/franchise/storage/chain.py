"""A chain on disk: saved whole or not at all, taken up again to the bit.

A chain's folder holds `chain.safetensors` (the state, the trace, the events, the mode, the settings) and one
file a kept draw in `draws/`. The first is the one that counts: a draw of a later sweep than its own is left
over from a run that was killed, and is not looked at. No random numbers are stored: their streams are named
by seed, chain and sweep (`franchise.random`).

Of arrays that are only partly in use the used part is stored, so the same chain gives the same bytes.
"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from franchise._files import Array, Facts, read_arrays, write_arrays
from franchise.corpus import Corpus, CorpusArrays
from franchise.errors import ModelError, SettingsError
from franchise.model import Priors, State, broken_invariants, empty_state
from franchise.model.state import pairs_in_use, tables_in_use
from franchise.sampling.chain import Chain
from franchise.sampling.schedule import Schedule
from franchise.sampling.trace import Draw, Trace
from franchise.sampling.trials import Event, Proposal, SplitMerge, Trial

VERSION = 1
_CHAIN, _DRAW = "chain", "draw"
_FILE, _DRAWS = "chain.safetensors", "draws"
_EVENT_KINDS = ("born", "died", "split", "merged")
_TRIAL_KINDS = ("split", "merge", "none")
_TABLE_AXIS, _PAIR_AXIS = ("n_jt", "k_jt"), ("row_k", "row_n")
_DRAW_COUNTS = ("topic_terms", "document_topics")


def save_chain(chain: Chain, folder: Path, since: int = -1) -> None:
    """Save a chain; of the draws only those of sweeps after `since`, the earlier ones being there."""
    for draw in chain.draws:
        if draw.sweep > since:
            path = folder / _DRAWS / _draw_name(draw.sweep)
            write_arrays(path, _DRAW, _draw_arrays(draw), {"version": VERSION, "sweep": draw.sweep})
    arrays = {
        **_state_arrays(chain),
        "trace": chain.trace.as_array(),
        "events": _coded(chain.events, "kind", _EVENT_KINDS),
        "trials": _coded(chain.trials, "kind", _TRIAL_KINDS),
    }
    if chain.mode:
        arrays |= {f"mode.{name}": array for name, array in _draw_arrays(chain.mode).items()}
    write_arrays(folder / _FILE, _CHAIN, arrays, _facts(chain))


def load_chain(folder: Path, corpus: Corpus, schedule: Schedule | None = None) -> Chain:
    """Take up the chain of a folder.

    Parameters
    ----------
    folder
        Where `save_chain` has saved it.
    corpus
        The documents that it was made for.
    schedule
        A schedule to go on with; its own when not given.

    Raises
    ------
    ModelError
        If a file is missing, damaged, from a newer version, or made for another corpus.
    """
    path = folder / _FILE
    arrays, facts = read_arrays(path, _CHAIN)
    check_version(path, facts)
    try:
        if facts["corpus"] != corpus.fingerprint():
            raise ModelError(
                f"{path}: the chain was made for another corpus; give the one that it was made for"
            )
        chain = Chain(
            corpus,
            priors_from(facts["priors"]),
            schedule or schedule_from(facts["schedule"]),
            seed=facts["seed"],
            number=facts["number"],
            start=facts["start"],
        )
        state = _state(corpus.arrays, arrays)
        chain.restore(state, facts["sweeps_done"], Trace.from_array(arrays["trace"], facts["trace_columns"]))
        chain.events = [Event(*row) for row in _decoded(arrays["events"], Event, _EVENT_KINDS)]
        chain.trials = [Trial(*row) for row in _decoded(arrays["trials"], Trial, _TRIAL_KINDS)]
        if facts["mode_sweep"] is not None:
            mode = {name[5:]: array for name, array in arrays.items() if name.startswith("mode.")}
            chain.mode = _draw(mode, facts["mode_sweep"], corpus)
            chain.mode_log_joint = facts["mode_log_joint"]
        chain.draws = [_load_draw(folder / _DRAWS / _draw_name(sweep), corpus) for sweep in facts["draws"]]
    except (KeyError, IndexError, TypeError, ValueError, SettingsError) as error:
        raise ModelError(
            f"{path}: the file does not hold what a chain needs ({error}); restore it from a copy"
        ) from error
    if broken := broken_invariants(corpus.arrays, state):
        raise ModelError(f"{path}: the state of the chain is not sound ({broken[0]}); restore it from a copy")
    return chain


def saved_chains(folder: Path) -> list[int]:
    """Return the numbers of the chains that were saved in a folder."""
    return sorted(int(path.parent.name) for path in folder.glob(f"*/{_FILE}") if path.parent.name.isdecimal())


def check_version(path: Path, facts: Facts) -> None:
    """Refuse files of a version that this library does not know."""
    version = facts.get("version")
    if not isinstance(version, int) or version < 1:
        raise ModelError(f"{path}: the file does not say its version; it is damaged or not ours")
    if version > VERSION:
        raise ModelError(
            f"{path}: the file has format version {version}, and this Franchise reads up to {VERSION}; "
            "install a newer Franchise"
        )


def priors_from(facts: Facts) -> Priors:
    """Return the priors that `dataclasses.asdict` has turned into facts."""
    return Priors(**{name: tuple(x) if isinstance(x, list) else x for name, x in facts.items()})


def schedule_from(facts: Facts) -> Schedule:
    """Return the schedule that `dataclasses.asdict` has turned into facts."""
    split_merge = facts["split_merge"]
    return Schedule(**{**facts, "split_merge": split_merge_from(split_merge) if split_merge else None})


def split_merge_from(facts: Facts) -> SplitMerge:
    """Return the setting that `dataclasses.asdict` has turned into facts."""
    proposals = tuple(Proposal(**proposal) for proposal in facts["proposals"])
    return SplitMerge(**{**facts, "proposals": proposals})


def _facts(chain: Chain) -> Facts:
    return {
        "version": VERSION,
        "corpus": chain.corpus.fingerprint(),
        "priors": asdict(chain.priors),
        "schedule": asdict(chain.schedule),
        "seed": chain.seed,
        "number": chain.number,
        "start": chain.start_from,
        "sweeps_done": chain.sweeps_done,
        "trace_columns": list(chain.trace.columns),
        "draws": [draw.sweep for draw in chain.draws],
        "mode_sweep": chain.mode.sweep if chain.mode else None,
        "mode_log_joint": chain.mode_log_joint if chain.mode else None,
    }


def _state_arrays(chain: Chain) -> dict[str, Array]:
    state = chain.state
    arrays = state._asdict()
    del arrays["row_ptr"]  # follows from the corpus
    is_table, in_use = tables_in_use(chain.corpus.arrays, state), pairs_in_use(state)
    arrays |= {name: arrays[name][is_table] for name in _TABLE_AXIS}
    arrays |= {name: arrays[name][in_use] for name in _PAIR_AXIS}
    return {f"state.{name}": array for name, array in arrays.items()}


def _state(corpus: CorpusArrays, arrays: dict[str, Array]) -> State:
    state = empty_state(corpus, arrays["state.n_k"].size)
    partly = {*_TABLE_AXIS, *_PAIR_AXIS, "row_ptr"}
    for name in (name for name in State._fields if name not in partly):
        _copy_into(getattr(state, name), arrays[f"state.{name}"], name)
    # The masks below need counts within their bounds; `broken_invariants` sees to the rest.
    np.clip(state.m_j, 0, np.diff(corpus.doc_ptr), out=state.m_j)
    np.clip(state.row_len, 0, np.diff(state.row_ptr), out=state.row_len)
    for names, mask in ((_TABLE_AXIS, tables_in_use(corpus, state)), (_PAIR_AXIS, pairs_in_use(state))):
        for name in names:
            getattr(state, name)[mask] = arrays[f"state.{name}"]
    return state


def _copy_into(target: Array, source: Array, name: str) -> None:
    if source.shape != target.shape or source.dtype != target.dtype:
        raise ValueError(f"{name} has {source.size} numbers for {target.size} places")
    target[...] = source


def _draw_name(sweep: int) -> str:
    return f"{sweep:06d}.safetensors"


def _draw_arrays(draw: Draw) -> dict[str, Array]:
    arrays = {"names": draw.names, "m_k": draw.m_k, "concentrations": draw.concentrations}
    for counts in _DRAW_COUNTS:
        arrays |= {
            f"{counts}.{part}": getattr(getattr(draw, counts), part) for part in ("data", "indices", "indptr")
        }
    return arrays


def _load_draw(path: Path, corpus: Corpus) -> Draw:
    arrays, facts = read_arrays(path, _DRAW)
    check_version(path, facts)
    return _draw(arrays, facts["sweep"], corpus)


def _draw(arrays: dict[str, Array], sweep: int, corpus: Corpus) -> Draw:
    n_topics = arrays["names"].size
    shapes = {"topic_terms": (n_topics, corpus.n_terms), "document_topics": (corpus.n_documents, n_topics)}
    counts = {}
    for name, shape in shapes.items():
        parts = tuple(arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
        counts[name] = sp.csr_array(parts, shape=shape)
        counts[name].check_format(full_check=True)
    if arrays["m_k"].shape != (n_topics,) or arrays["concentrations"].shape != (3,):
        raise ValueError("the parts of a draw do not fit together")
    return Draw(sweep, arrays["names"], m_k=arrays["m_k"], concentrations=arrays["concentrations"], **counts)


def _coded(rows: Sequence[Any], column: str, kinds: tuple[str, ...]) -> Array:
    coded = [row._replace(**{column: kinds.index(row.kind)}) for row in rows]
    return np.array(coded, np.float64) if coded else np.zeros((0, 0))


def _decoded(numbers: Array, record: type[Any], kinds: tuple[str, ...]) -> list[list[Any]]:
    types = [kinds.__getitem__ if name == "kind" else record.__annotations__[name] for name in record._fields]
    return [
        [kind(int(x)) if kind is not float else x for kind, x in zip(types, row, strict=True)]
        for row in numbers.tolist()
    ]

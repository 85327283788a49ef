"""What a fit would be, before it is made: for ``franchise fit --dry-run``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from franchise._files import Facts
from franchise.corpus.data_warnings import corpus_warnings
from franchise.engines import GPU, ON_RAY, RAY_GPU
from franchise.engines.compiling import is_compiled
from franchise.engines.partitions.cuda.availability import gpu_facts, problem
from franchise.estimator.inputs import warn_of
from franchise.estimator.settings import settings_of
from franchise.sampling.choices import why_chosen

if TYPE_CHECKING:
    from franchise.corpus import Corpus
    from franchise.estimator.model import HDPTopicModel


def planned(model: HDPTopicModel, corpus: Corpus) -> Facts:
    """Return what ``"auto"`` means for these documents, and the engine, in words.

    Raises
    ------
    SettingsError
        If the settings of the model are impossible.
    """
    plan = settings_of(model.get_params(), seed=0).plan()
    facts: Facts = dict(why_chosen(model.init, model.eta, corpus))
    facts["engine"] = engine = plan.engine_of(corpus)
    if engine == GPU:
        facts["engine"] += f": {gpu_facts().in_words()}"
    return facts


def expected(model: HDPTopicModel, corpus: Corpus) -> Facts:
    """Return the memory and the time that a fit would take, in words, as far as they can be known here.

    What looks wrong about the documents is a warning.
    """
    engine = settings_of(model.get_params(), seed=0).engine
    if engine == RAY_GPU and problem() is not None:
        warn_of(corpus_warnings(corpus), stacklevel=2)
        return {"time": "not known: a few sweeps would be timed here, and this machine has no GPU"}
    if not is_compiled():
        warn_of(corpus_warnings(corpus), stacklevel=2)
        return {"time": "not known before the first fit, which compiles for about half a minute"}
    found = model.forecast(corpus)  # which warns
    alone = " on this machine alone" if engine in ON_RAY else ""
    return {"memory": f"about {found.memory / 1e6:,.0f} MB", "time": f"about {found.text}{alone}"}

"""The training mode of the paper's program, with this library's chain.

An iteration is a sweep and a line of the log. The first iteration has fifteen split-merge trials after its
sweep. The numbers and files of an iteration describe the state before the trials, except for the last three
numbers of the line, which are the results of the trials.
"""

import time
from collections.abc import Callable
from typing import Any

from franchise._folders import locked
from franchise._threads import interrupts_deferred
from franchise.compat.files import Saver
from franchise.compat.logs import TrainLine, log_file
from franchise.compat.options import HdpOptions
from franchise.compat.saved import SavedState, saved_state
from franchise.compat.starts import start
from franchise.corpus import Corpus, read_ldac
from franchise.engines import Trials
from franchise.engines.collapsed_sampler import CollapsedSampler
from franchise.model import Priors, joint
from franchise.random import SPLIT_MERGE, Key
from franchise.sampling import Chain, Proposal, SplitMerge, Timetable

_TRIALS = 15  # in the first iteration, none later


def train(options: HdpOptions, *, progress: Callable[[str], None] | None = None) -> None:
    """Fit topics to documents, and write all results to ``options.directory``.

    Parameters
    ----------
    options
        The options.
    progress
        Called with the program's text for each iteration.

    Raises
    ------
    FranchiseError
        If the documents cannot be read or an option does not suit them, or a file cannot be written.
    """
    show = progress or _show_nothing
    chain = started_chain(read_ldac(options.data), options)
    parts = joint(chain.corpus.arrays, chain.state, chain.priors)
    saver = Saver(options.directory, "", options.save_lag, parts.log_joint + parts.log_prior)
    with locked(options.directory), log_file(options.directory / "state.log", TrainLine) as add_line:
        try:
            accepted = _iterate(chain, options, saver, add_line, show)
        finally:
            saver.save_last(_saved(chain))
    if options.split_merge and options.max_iter:
        show(f"accept rate: {100 * accepted / _TRIALS:.2f}%")


def _iterate(
    chain: Chain,
    options: HdpOptions,
    saver: Saver,
    add_line: Callable[[TrainLine], None],
    show: Callable[[str], None],
) -> int:
    """Make the iterations; return the number of accepted trials."""
    accepted = 0
    began = time.monotonic()
    for iteration in range(options.max_iter):
        chain.sweep()
        line = _line(chain, iteration, time.monotonic() - began)
        show(
            f"iter = {iteration:05d}, #topics = {line.n_topics:04d}, #tables = {line.n_tables:04d}, "
            f"gamma = {line.gamma:.5f}, alpha = {line.alpha:.5f}, likelihood = {line.likelihood:.5f}"
        )
        saver.save(iteration, line.likelihood, lambda: _saved(chain))
        if options.split_merge and iteration == 0:
            info = try_splits_and_merges(chain, trials_of(options))
            line = line._replace(splits=info.splits, merges=info.merges, trials=_TRIALS)
            accepted = info.splits + info.merges
        add_line(line)
    return accepted


def started_chain(corpus: Corpus, options: HdpOptions) -> Chain:
    """Return a chain with the settings and the start of the program."""
    schedule = Timetable(
        sweeps=options.max_iter,
        burn_in=options.max_iter,  # the chain keeps no draws: states are saved here
        split_merge=None,  # its trials would precede the concentrations, the program's trials follow them
        concentrations="auxiliary",
    )
    chain = Chain(
        corpus, priors_of(options), schedule, random_state=options.random_seed, engine="collapsed", n_jobs=1
    )
    chain.start_at(start(corpus, chain.priors.initial(), options.init_topics, options.random_seed))
    return chain


def priors_of(options: HdpOptions) -> Priors:
    """Return the priors. The program gives shape and scale, this library takes shape and rate."""
    if options.sample_hyper:
        return Priors(
            alpha=(options.alpha_a, 1.0 / options.alpha_b),
            gamma=(options.gamma_a, 1.0 / options.gamma_b),
            eta=options.eta,
        )
    return Priors(
        alpha=options.alpha_a * options.alpha_b, gamma=options.gamma_a * options.gamma_b, eta=options.eta
    )


def trials_of(options: HdpOptions) -> SplitMerge:
    """Return the program's split-merge. Its number of scans omits the last one, ours includes it."""
    proposal = Proposal(scans=options.restrict_scan + 1)
    return SplitMerge(trials=_TRIALS, proposals=(proposal,))


@interrupts_deferred()
def try_splits_and_merges(chain: Chain, setting: SplitMerge) -> Any:
    """Make the trials of an iteration after its sweep; return their Info."""
    sampler = CollapsedSampler(chain.corpus.arrays, chain.state)
    key = Key(chain.seed, chain.number, chain.sweeps_done, SPLIT_MERGE)
    info, _ = sampler.try_splits_and_merges(key, Trials(setting.trials, setting.as_array()))
    chain.engine.seat(sampler.state)
    return info


def _line(chain: Chain, iteration: int, seconds: float) -> TrainLine:
    last = chain.trace.last
    return TrainLine(
        seconds=seconds,
        iteration=iteration,
        n_topics=int(last["n_topics"]),
        n_tables=int(last["n_tables"]),
        likelihood=last["log_joint"] + last["log_prior"],
        gamma=last["gamma"],
        alpha=last["alpha"],
        splits=0,
        merges=0,
        trials=0,
    )


def _saved(chain: Chain) -> SavedState:
    return saved_state(chain.corpus.arrays, chain.state)


def _show_nothing(text: str) -> None:
    """Show nothing."""

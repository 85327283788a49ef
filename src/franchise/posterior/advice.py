"""What a diagnosis says and advises: objects with a kind and numbers, and the sentences for them.

Every kind is put into words for three readers: people who program (`in_python`), people at the command line
(`as_command`), and readers of a report (`for_readers`), who may neither have run the model nor program.
When each kind is said is decided in `posterior.diagnostics`.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from franchise._text import counted
from franchise.posterior.agreement import FIRM_RUNS, MOSTLY, R_HAT_GOOD, Agreement, in_words

_NAMED = 10  # topics that are named, at most
_RANGES_SHOWN = 8  # of chains, one by one
_PYTHON, _COMMAND, _REPORT = range(3)

_Said = str | tuple[str, str, str]  # for every reader the same, or for each in turn; MODEL is a folder


class Advice(NamedTuple):
    """One thing that a diagnosis says.

    Attributes
    ----------
    kind
        What is said. ``"resume"`` asks for more sweeps: `numbers` has sweeps (0 to finish the run) and
        burn_in (None to leave it).
    numbers
        What it is said of.
    """

    kind: str
    numbers: Mapping[str, Any] = {}


def in_python(advice: Advice) -> str:
    """Say it with calls of functions.

    Examples
    --------
    >>> in_python(Advice("resume", {"sweeps": 150, "burn_in": None}))
    'Run longer: resume(sweeps=150).'
    """
    return _said(advice, _PYTHON)


def as_command(advice: Advice, model: str) -> str:
    """Say it with commands for the model in a folder.

    Examples
    --------
    >>> as_command(Advice("resume", {"sweeps": 150, "burn_in": 100}), "my model/")
    "Run longer: franchise resume 'my model/' --sweeps 150 --burn-in 100."
    """
    return _said(advice, _COMMAND).replace("MODEL", shlex.quote(model))


def for_readers(advice: Advice) -> str:
    """Say it without calls and commands, and explain numbers that few people know.

    Examples
    --------
    >>> for_readers(Advice("resume", {"sweeps": 150, "burn_in": None}))
    'Run longer: 150 more sweeps.'
    """
    return _said(advice, _REPORT)


def _said(advice: Advice, reader: int) -> str:
    said = _SENTENCES[advice.kind]
    if callable(said):
        said = said(**advice.numbers)
        return said if isinstance(said, str) else said[reader]
    return (said if isinstance(said, str) else said[reader]).format(**advice.numbers)


# ---------------------------------------------------------------- how long to run


def _resume(sweeps: int, burn_in: int | None) -> _Said:
    given = {name: x for name, x in (("sweeps", sweeps), ("burn_in", burn_in)) if x}
    options = "".join(f" --{name.replace('_', '-')} {x}" for name, x in given.items())
    plain = f"{sweeps:,} more sweeps" if sweeps else "let it finish"
    if burn_in:
        plain += f", with the first {burn_in:,} of all sweeps left out"
    return (
        f"Run longer: resume({', '.join(f'{name}={x}' for name, x in given.items())}).",
        f"Run longer: franchise resume MODEL{options}.",
        f"Run longer: {plain}.",
    )


def _too_short(n_kept: int, is_finished: bool) -> _Said:
    few = "Too few sweeps" if is_finished else "The run is not finished, and has too few sweeps"
    return f"{few} after the burn-in ({n_kept:,}) to tell whether the topics are settled."


def _still_changing(topics: Sequence[int], n_topics: int, share: float, which: str) -> _Said:
    n, looked_at = len(topics), f"{which} topics".lstrip()
    return (
        f"{n:,} of {n_topics:,} {looked_at} still change{'s' if n == 1 else ''} in size or terms from the "
        f"first half of the draws to the second, with {share:.0%} of the words in {looked_at}."
    )


def _settled(which: str) -> _Said:
    enough = "More sweeps are not needed" if which == "firm" else "You can stop"
    return (
        f"The {which} topics are settled: their terms and most of their sizes change little from the first "
        f"half of the draws to the second. {enough}."
    )


def _drift(by: float) -> _Said:
    way = "rises" if by > 0 else "falls"
    return (
        f"The number of topics still {way}, by {abs(by):.1f} from the first to the last third of the kept "
        "sweeps: small topics come and go."
    )


def _eta(eta: float, drift: float) -> _Said:
    seen = f"has come to {eta:.2g}, far below what is usual"
    if drift:
        way = "falling" if drift < 0 else "rising"
        seen = (
            f"is still {way}, by {abs(np.expm1(drift)):.0%} from the first to the last third of the sweeps "
            f"after the burn-in, and now {eta:.2g}"
        )
    return (
        f"The estimate of eta {seen}. On texts it often runs away, to ever more and narrower topics, and no "
        "prior holds it."
    )


# ---------------------------------------------------------------- what chains agree on


def _holds(found: Agreement, same_start: bool, few_draws: int) -> _Said:
    """Say what of the answer can be relied on; `few_draws`: draws per chain, if they are few."""
    few = f" (in {counted(few_draws, 'draw')} per chain)" if few_draws else ""
    if found.firm is not None:
        return f"{_firm(found, found.firm)}{few}."
    start = ", all from the same start" if same_start else ""
    n_solid, share = len(found.solid), f"{found.shared:.0%} of the words{few}"
    others = the_others(found)
    if not others and n_solid == 1:
        return f"The only topic was found by every chain{start}, and holds {share}."
    if not others:
        return f"All {n_solid:,} topics were found by every chain{start}; they hold {share}."
    if not n_solid:
        return f"No topic was found by every chain{few}: {others}."
    verb = "holds" if n_solid == 1 else "hold"
    return f"{counted(n_solid, 'topic')}, found by every chain{start}, {verb} {share}; {others}."


def _firm(found: Agreement, firm: Sequence[int]) -> str:
    """Say which topics independent runs found too."""
    chains_only = len(found.solid) - len(firm)
    said = (
        [f"{chains_only:,} more {'is' if chains_only == 1 else 'are'} in every chain"] if chains_only else []
    )
    said += [others] if (others := the_others(found)) else []
    rest = f"; {', '.join(said)}" if said else ""
    by = f"found by every chain and at least {FIRM_RUNS:.0%} of the short runs"
    if not firm:
        return f"No topic was {by}{rest}"
    verb = "holds" if len(firm) == 1 else "hold"
    return f"{counted(len(firm), 'firm topic')}, {by}, {verb} {found.firm_share:.0%} of the words{rest}"


def _one_chain_holds(firm: Sequence[int], share: float, n_topics: int, few_draws: int) -> _Said:
    few = f" (in {counted(few_draws, 'draw')})" if few_draws else ""
    by = f"found by the only chain and at least {FIRM_RUNS:.0%} of the short runs"
    if not firm:
        return f"None of {n_topics:,} topics is firm, {by}{few}."
    verb, they = ("is", "it holds") if len(firm) == 1 else ("are", "they hold")
    return f"{len(firm):,} of {n_topics:,} topics {verb} firm, {by}; {they} {share:.0%} of the words{few}."


def the_others(found: Agreement) -> str:
    """Say where topics are that not every chain has; nothing if there are none."""
    n_likely, n_doubtful = len(found.likely), len(found.doubtful)
    kind, said = "", []
    if found.solid:
        kind = " smaller" if found.others_are_smaller else " other"
    if n_likely:
        said.append(f"{_these(n_likely, kind)} {'is' if n_likely == 1 else 'are'} in most chains")
    if n_doubtful:
        these = _these(n_doubtful, kind) if not n_likely else f"{n_doubtful:,}"
        said.append(f"{these} differ{'s' if n_doubtful == 1 else ''} from chain to chain")
    return ", ".join(said)


def _these(n: int, kind: str) -> str:
    return f"{n:,}{kind or ' topic'}{' one' if kind else ''}{'s' if n != 1 else ''}"


def _differ(verdict: str, missing: str, share: float, r_hat: float, number: str) -> _Said:
    """Say how far apart chains are: `missing` topics, and the number with the worst R-hat, if any."""
    start = f"The chains {verdict}{', not on everything' if verdict == MOSTLY else ''}"
    topics = [f"topics that {missing} hold {share:.0%} of the words"] if missing else []
    if not number:
        return f"{start}: {topics[0]}."
    value = f"{r_hat:.2f}" if np.isfinite(r_hat) else "infinite"
    numbers = f"R-hat of the {number} is {value}, and should be below {R_HAT_GOOD}"
    plain = (
        f"they differ most in the {number} (R-hat compares chains, and is 1 where they agree; here it is "
        f"{value}, and should be below {R_HAT_GOOD})"
    )
    python, report = (f"{start}: {'; '.join([*topics, said])}." for said in (numbers, plain))
    return python, python, report


def _uneven(topics: Sequence[int], n_topics: int, share: float) -> _Said:
    verb = "differs" if len(topics) == 1 else "differ"
    return (
        f"{len(topics):,} of {n_topics:,} shared topics {verb} between chains in size or terms, with "
        f"{share:.0%} of the words in shared topics: look at the intervals of their sizes."
    )


def _by_chain(ranges: Mapping[int, tuple[int, int]]) -> _Said:
    """Say how many topics each chain has; if there are many chains, only the two extremes."""
    shown = list(ranges)
    if len(shown) > _RANGES_SHOWN:
        order = sorted(shown, key=lambda i: sum(ranges[i]))
        shown = [order[0], order[-1]]
    return f"Number of topics: {', '.join(f'{in_words(*ranges[i])} in chain {i}' for i in shown)}."


def _doubtful(topics: Sequence[int], n_topics: int, n_chains: int) -> _Said:
    named = ", ".join(map(str, topics[:_NAMED])) + (", ..." if len(topics) > _NAMED else "")
    verb, them = ("is", "it") if len(topics) == 1 else ("are", "them")
    where = "one chain only" if n_chains <= 3 else "half of the chains or fewer"
    return f"{len(topics):,} of {n_topics:,} topics {verb} in {where} ({named}): do not rely on {them}."


_SENTENCES: Mapping[str, Callable[..., _Said] | _Said] = {
    "resume": _resume,
    "too few sweeps": "Too few sweeps after the burn-in ({n_kept}) to tell whether to trust the answer.",
    "too short": _too_short,
    "too few draws": "Too few draws to tell whether the topics still change.",
    "keep more draws": (
        "Keep at least {fewest} draws per chain: fit with a smaller Schedule(thin=...).",
        "Keep at least {fewest} draws per chain: fit with a smaller --thin.",
        "Keep at least {fewest} draws per chain.",
    ),
    "still changing": _still_changing,
    "long": "The run is long: take the sizes of these topics as uncertain, and rely on the others.",
    "settled": _settled,
    "converged": "Converged: the chains agree, and their topics change little. You can stop.",
    "drift": _drift,
    "eta": _eta,
    "fix eta": (
        "Fix eta instead: tune_eta(documents) compares values.",
        "Fix eta instead: franchise tune INPUT compares values.",
        "Fix eta instead, at a value that suits the documents.",
    ),
    "holds": _holds,
    "one chain holds": _one_chain_holds,
    "one chain": "There is only one chain, and nothing to compare it with.",
    "one chain and runs": (
        "There is only one chain: the short runs show which topics come back, but not whether another chain "
        "would divide the words in the same way."
    ),
    "more chains": (
        "To see whether other chains find the same, fit with chains=4.",
        "To see whether other chains find the same, fit with --chains 4.",
        "To see whether other chains find the same, run it with 4 chains.",
    ),
    "differ": _differ,
    "many answers": "The documents do not decide between many answers, and every chain goes through them.",
    "same topics": "The chains have the same topics, and differ in how they divide the few other words.",
    "own answers": ("Each chain keeps to an answer of its own; more sweeps will hardly bring them together."),
    "rely": "Rely on {topics}.",
    "go further": (
        "To go further: chain_weights(new_documents) weighs the chains by how well they predict; a fit with "
        "more chains shows how common a topic is; another eta may give topics that more chains share.",
        "To go further: franchise evaluate MODEL NEW.txt --by-chain weighs the chains by how well they "
        "predict; a fit with more chains shows how common a topic is; another eta may give topics that more "
        "chains share.",
        "To go further: chains can be weighed by how well they predict new documents; a run with more chains "
        "shows how common a topic is; another eta, which says how evenly a topic spreads over terms, may "
        "give topics that more chains share.",
    ),
    "uneven": _uneven,
    "by chain": _by_chain,
    "doubtful": _doubtful,
    "same start": "All chains started from the same {topics}, which may be why they share topics.",
    "start apart": (
        'Fit with init="apart" to see what other starts find.',
        "Fit with --init apart to see what other starts find.",
        "A run whose chains start apart would show what other starts find.",
    ),
    "unfinished": (
        "The run is not finished: continue with resume().",
        "The run is not finished: continue with franchise resume MODEL.",
        "The run is not finished. It can be continued where it stopped.",
    ),
    "next": (
        "Next: topics(), documents(), diagnose(), save(path).",
        "Next: franchise topics MODEL, franchise documents MODEL, franchise diagnose MODEL, franchise report "
        "MODEL",
        "",
    ),
}

"""The words for advice: for people who program, at the command line, and who read a report."""

import re

import numpy as np
import pytest

from franchise.cli import main
from franchise.posterior import advice
from franchise.posterior.advice import Advice, as_command, for_readers, in_python
from franchise.posterior.agreement import APART, MOSTLY, Agreement

CHANGING = {"topics": [3, 4], "n_topics": 20, "share": 0.2}
DIFFER = {"verdict": MOSTLY, "missing": "are not firm", "share": 0.4, "r_hat": 2.8, "number": "log joint"}
HOLDS = {"same_start": False, "few_draws": 0}
SOME = Agreement([0, 1], [2], [3, 4], 0.8)
FIRM = SOME._replace(firm=[0], firm_share=0.6)
ONE_CHAIN = {"firm": [0, 1], "share": 0.6, "n_topics": 9, "few_draws": 0}
# For each kind, numbers of all sorts that it can have.
NUMBERS = {
    "resume": [{"sweeps": n, "burn_in": b} for n, b in ((0, None), (150, None), (380, 250))],
    "too few sweeps": [{"n_kept": 3}],
    "too short": [{"n_kept": 3, "is_finished": True}, {"n_kept": 3, "is_finished": False}],
    "keep more draws": [{"fewest": 8}],
    "still changing": [CHANGING | {"which": which} for which in ("", "shared", "firm")],
    "settled": [{"which": "shared"}, {"which": "firm"}],
    "drift": [{"by": -2.0}, {"by": 2.0}],
    "eta": [{"eta": 0.003, "drift": drift} for drift in (0.0, -1.0, 1.0)],
    "holds": [
        *(
            {"found": found} | HOLDS
            for found in (SOME, FIRM, SOME._replace(solid=[]), FIRM._replace(firm=[]))
        ),
        *({"found": Agreement(solid, [], [], 1.0)} | HOLDS for solid in ([0], [0, 1])),
        {"found": SOME, "same_start": True, "few_draws": 1},
    ],
    "one chain holds": [ONE_CHAIN, ONE_CHAIN | {"firm": [], "few_draws": 3}],
    "differ": [
        DIFFER,
        DIFFER | {"verdict": APART, "missing": "", "r_hat": np.inf},
        DIFFER | {"number": ""},
    ],
    "uneven": [CHANGING, CHANGING | {"topics": [1]}],
    "by chain": [{"ranges": {0: (3, 3), 1: (4, 6)}}],
    "doubtful": [{"topics": list(range(n)), "n_topics": 20, "n_chains": c} for n in (1, 11) for c in (2, 4)],
    "rely": [{"topics": "the firm topics"}],
    "same start": [{"topics": "seed words"}],
}
EVERYTHING = [Advice(kind, numbers) for kind in advice._SENTENCES for numbers in NUMBERS.get(kind, [{}])]


@pytest.mark.parametrize("one", EVERYTHING, ids=lambda one: one.kind)
def test_every_kind_has_words_for_every_reader(one):
    python, command, plain = in_python(one), as_command(one, "my model"), for_readers(one)
    for said in filter(None, (python, command, plain)):
        assert said[0].isupper() or said[0].isdigit()
        assert said.count("(") == said.count(")")
        assert "{" not in said
        assert "MODEL" not in said
    assert not re.search(r"_|=|\w\(|--", plain)
    assert "franchise" not in python + plain
    assert not re.search(r"\w\(|=", command)
    if "R-hat" in plain:
        assert "R-hat compares chains" in plain


@pytest.mark.parametrize("one", EVERYTHING, ids=lambda one: one.kind)
def test_commands_in_advice_exist_and_have_these_options(one):
    said = as_command(one, "my model")
    for name, options in re.findall(r"franchise (\w+)([^:;,.]*)", said):
        known = [option for p in main.get_command(None, name).params for option in p.opts]
        assert {*re.findall(r"--[a-z-]+", options)} <= {*known}
    fit = [option for p in main.get_command(None, "fit").params for option in p.opts]
    assert all(option in fit for option in re.findall(r"it with[a ]* (?:smaller )?(--[a-z-]+)", said))


def test_more_sweeps_are_said_three_times():
    more = Advice("resume", {"sweeps": 380, "burn_in": 250})
    assert in_python(more) == "Run longer: resume(sweeps=380, burn_in=250)."
    command = "Run longer: franchise resume 'my model' --sweeps 380 --burn-in 250."
    assert as_command(more, "my model") == command
    plain = "Run longer: 380 more sweeps, with the first 250 of all sweeps left out."
    assert for_readers(more) == plain
    finish = Advice("resume", {"sweeps": 0, "burn_in": None})
    assert [in_python(finish), as_command(finish, "m"), for_readers(finish)] == [
        "Run longer: resume().",
        "Run longer: franchise resume m.",
        "Run longer: let it finish.",
    ]

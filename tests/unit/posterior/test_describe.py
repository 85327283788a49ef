import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from franchise import HDPTopicModel
from franchise.corpus import Corpus, from_tokens
from franchise.posterior.advice import Advice, in_python
from franchise.posterior.describe import describe, model_card, settings_in_use

FINE = f"  {in_python(Advice('converged'))}"
TOKENS = [["dog", "bone", "dog"], ["cat", "milk"], ["dog", "cat"], []]


def described(
    n_topics=(3, 2, 4),
    support=(1.0, 0.6, 0.5),
    draws=(20, 20),
    done=(8, 8),
    planned=8,
    advice=("converged",),
    agree=True,
):
    """Describe a run with a number of topics (median and interval), their support, and these chains."""
    posterior = SimpleNamespace(
        n_topics=n_topics[0],
        n_topics_median=n_topics[0],
        read_as="",
        n_topics_interval=n_topics[1:],
        support=np.array(support),
        draws=[[None] * max(n, 1) for n in draws],
        flat_draws=[None] * max(sum(draws), len(draws)),
    )
    schedule = SimpleNamespace(sweeps=planned)
    chains = [
        SimpleNamespace(sweeps_done=n, schedule=schedule, draws=[None] * k)
        for n, k in zip(done, draws, strict=True)
    ]
    corpus = Corpus([0, 1, 1], [0, 2, 3], ["ant", "bee"])
    diagnosis = SimpleNamespace(advice=tuple(map(Advice, advice)), agree=agree)
    return describe(posterior, corpus, chains, diagnosis).split("\n")


def test_all_that_is_said():
    assert described(advice=("one chain", "more chains")) == [
        "HDPTopicModel of 2 documents, 3 words, 2 terms",
        "  3 topics (95% between 2 and 4), 2 of them in more than half of the draws",
        "  There is only one chain, and nothing to compare it with.",
        "  To see whether other chains find the same, fit with chains=4.",
        "  2 chains of 8 sweeps, 40 draws kept",
        "  Next: topics(), documents(), diagnose(), save(path).",
    ]


def test_there_is_no_range_of_all_chains_where_they_differ():
    assert described(agree=False)[1:3] == [FINE, "  2 chains of 8 sweeps, 40 draws kept"]
    assert described(agree=None)[1:3] == ["  3 topics so far", FINE]


@pytest.mark.parametrize("draws", [(2, 2), (19, 30)])
def test_few_draws_give_no_percentage(draws):
    n = sum(draws)
    assert described(draws=draws)[1] == f"  3 topics (2 to 4 in {n} draws)"
    assert described((3, 3, 3), draws=draws)[1] == f"  3 topics (in {n} draws)"
    assert "95%" in described((3, 3, 3))[1]


def test_one_of_everything():
    lines = described((1, 1, 1), (1.0,), draws=(1,), done=(1,), planned=1)
    assert lines[1:4] == ["  1 topic (in the only draw)", FINE, "  1 chain of 1 sweep, 1 draw kept"]
    corpus = Corpus([0], [0, 1], ["ant"])
    posterior = SimpleNamespace(
        n_topics=1,
        n_topics_median=1,
        read_as="",
        n_topics_interval=(1, 1),
        support=np.ones(1),
        draws=[[None, None]],
        flat_draws=[None, None],
    )
    chain = SimpleNamespace(sweeps_done=2, schedule=SimpleNamespace(sweeps=2), draws=[None, None])
    diagnosis = SimpleNamespace(advice=(), agree=None)
    lines = describe(posterior, corpus, [chain], diagnosis).split("\n")
    assert lines[0] == "HDPTopicModel of 1 document, 1 word, 1 term"
    assert lines[1] == "  1 topic (in 2 draws)"


def test_large_numbers_are_readable():
    lines = described((1234, 1000, 2000), np.ones(1234), draws=(600, 600), done=(1500, 1500), planned=1500)
    assert lines[1] == (
        "  1,234 topics (95% between 1,000 and 2,000), all of them in more than half of the draws"
    )
    assert lines[3] == "  2 chains of 1,500 sweeps, 1,200 draws kept"


def test_an_unfinished_run():
    lines = described(done=(8, 5), planned=10)
    assert lines[3] == "  2 chains of 5 sweeps (10 planned), 40 draws kept"
    assert lines[-2] == "  The run is not finished: continue with resume()."


def test_nothing_kept_yet():
    lines = described(draws=(0, 0), done=(3, 2), planned=10)
    assert lines[3] == "  2 chains of 2 sweeps (10 planned), no draws kept yet: this is the current state"


@pytest.mark.parametrize(
    "settings",
    [
        {"chains": 1, "sweeps": 1},
        {"chains": 1, "sweeps": 40},
        {"chains": 2, "sweeps": 2, "burn_in": 2},
        {"chains": 2, "sweeps": 30},
    ],
)
def test_fitted_models_describe_themselves(settings, tmp_path):
    model = HDPTopicModel(**settings, random_state=0, verbose=0).fit(from_tokens(TOKENS))
    first, *messages, chosen, chains, _ = str(model).split("\n")
    assert first == "HDPTopicModel of 4 documents, 7 words, 4 terms"
    assert chosen.startswith(
        "  Chosen for these documents: eta 0.1 (fewer than 100 documents); init fitted ("
    )
    said = model.diagnose().messages
    assert [f"  {message}" for message in said] == messages[-len(said) :]
    largest = messages.pop(-len(said) - 1)
    assert largest.startswith(f"  Largest: {model.topic_labels_[0]} (")
    if len(messages) > len(said):  # chains that differ have no number of topics in common
        assert re.match(rf"  {model.n_topics_} topics?\b", messages[0])
    n_chains = settings["chains"]
    assert chains.startswith(f"  {n_chains} chain{'s' * (n_chains > 1)} of {settings['sweeps']} sweep")
    model.save(tmp_path / "model")
    assert str(model) in (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    assert str(HDPTopicModel.load(tmp_path / "model")) == str(model)


# ---------------------------------------------------------------- the card


def topics_table(n, terms="dog, bone"):
    weights = np.linspace(0.5, 0.01, n)
    return pd.DataFrame({"topic": range(n), "label": [terms] * n, "weight": weights, "terms": [terms] * n})


def test_the_card():
    card = model_card("HDPTopicModel of ...", topics_table(2), {"eta": 0.1, "sweeps": 500})
    assert card.startswith("# A topic model\n")
    assert "```\nHDPTopicModel of ...\n```" in card
    assert (
        "\n| topic | label | share of words | terms |\n| ---: | --- | ---: | --- |\n"
        "| 0 | dog, bone | 50.0% | dog, bone |\n| 1 | dog, bone | 1.0% |" in card
    )
    assert json.loads(re.search(r"```json\n(.*?)\n```", card, re.DOTALL)[1]) == {"eta": 0.1, "sweeps": 500}
    code = re.search(r"```python\n(.*?)\n```", card, re.DOTALL)[1]
    compile(code, "card", "exec")
    assert card.count("```") % 2 == 0


@pytest.mark.parametrize(
    ("n", "said"), [(10, ""), (11, "1 more topic in `topics.csv`."), (30, "20 more topics in `topics.csv`.")]
)
def test_the_card_shows_ten_topics(n, said):
    card = model_card("", topics_table(n), {})
    assert len(re.findall(r"^\| \d+ \|", card, re.MULTILINE)) == 10
    assert said in card
    assert ("topics.csv" in card) == bool(said)


def test_terms_cannot_break_the_cards_table():
    card = model_card("", topics_table(1, "a|b, c\nd, e\\f"), {})
    assert r"| 0 | a\|b, c d, e\\f | 50.0% | a\|b, c d, e\\f |" in card


@pytest.mark.parametrize(("until", "said"), [(None, ""), (50, " up to sweep 50")])
def test_split_merge_in_words(until, said):
    trials = {"trials": 10, "until": until, "proposals": [{}, {}]}
    shown = settings_in_use({"schedule": {"split_merge": trials}, "in_use": {}})
    assert shown == {"split_merge": f"10 trials per sweep{said}, of 2 kinds"}

import dataclasses
import re
from types import SimpleNamespace

import numpy as np
import pytest

from franchise.corpus import from_counts, from_texts, from_tokens
from franchise.model.priors import Priors
from franchise.posterior.agreement import FEW_DRAWS, agreement
from franchise.posterior.diagnostics import Diagnosis
from franchise.report import words
from franchise.sampling import Chain, Timetable
from tests.unit.posterior.made import posterior_of_counts
from tests.unit.report.made import posterior_of, small_texts


@pytest.mark.parametrize(
    ("agree", "settled", "said", "n_chains", "level"),
    [
        (True, True, "agree", 4, "good"),
        (True, False, "agree", 4, "rough"),
        (True, None, "agree", 4, "rough"),
        (False, True, "agree on most", 4, "rough"),
        (False, None, "agree on most", 4, "rough"),
        (False, True, "agree on some", 4, "rough"),
        (False, False, "do not agree", 4, "bad"),
        (None, None, None, 1, "open"),
        (None, None, None, 3, "open"),
    ],
)
def test_verdict(agree, settled, said, n_chains, level):
    converged = None if agree is None else bool(agree and settled)
    found = words.verdict(Diagnosis(None, agree, converged, False, [], (), said, settled=settled), n_chains)
    assert found.level == level
    assert ("no longer change" in found.short) == (settled is True and said in ("agree", "agree on most"))


SAME = [np.diag([60, 30, 10])]
AGREE = Diagnosis(None, True, True, False, [], (), "agree", [0, 1, 2], [], [], 1.0, settled=True)


def told(draws, diagnosis, divided="texts", n_runs=None):
    """The headline as a line."""
    number, beside, story = words.headline(posterior_of_counts(draws), diagnosis, divided, n_runs)
    return f"{number} {beside} | {story}"


@pytest.mark.parametrize(
    ("draws", "diagnosis", "options", "expected"),
    [
        (
            [SAME] * 4,
            AGREE,
            {},
            "3 topics came out every time, with 100% of the words | The program divided the texts four "
            "times, independently; these 3 topics came out every time. Rely on these.",
        ),
        (
            [SAME] * 2,
            dataclasses.replace(AGREE, same_start=True, shared=0.9),
            {"divided": "counts"},
            "3 topics came out both times, with 90% of the counts | The program divided the counts twice, "
            "each time from the same start. These 3 topics came out both times; another start may lead to "
            "other topics.",
        ),
        (
            [SAME] * 2,
            dataclasses.replace(AGREE, same_start=True, firm_topics=[0, 1], firm_share=0.9),
            {"n_runs": 24},
            "2 topics came out again and again, with 90% of the words | The program first divided the texts "
            "in 24 short, independent runs, and then twice thoroughly, beginning with what had come out "
            "most. These 2 topics came out both times, and in at least half of the short runs. Rely on "
            "these.",
        ),
        (
            [SAME] * 3,
            dataclasses.replace(AGREE, firm_topics=[0], firm_share=0.6, settled=False, converged=False),
            {"n_runs": 0},
            "1 topic came out again and again, with 60% of the words | The program first divided the texts "
            "in short, independent runs, and then three times thoroughly, beginning with what had come out "
            "most. This topic came out every time, and in at least half of the short runs.",
        ),
        (
            [SAME] * 2,
            dataclasses.replace(AGREE, firm_topics=[], firm_share=0.0),
            {"n_runs": 24},
            "3 topics came out both times, with 100% of the words | The program first divided the texts in "
            "24 short, independent runs, and then twice thoroughly, beginning with what had come out most. "
            "These 3 topics came out both times, but in fewer than half of the short runs: do not rely on "
            "them alone.",
        ),
        (
            [SAME],
            Diagnosis(None, None, None, False, [], ()),
            {"divided": "words"},
            "3 topics | The program divided the words once. These 3 topics may not come out again.",
        ),
        (
            [SAME],
            Diagnosis(None, None, None, False, [], (), firm_topics=[0, 2], firm_share=0.7),
            {"n_runs": 24},
            "2 topics came out again and again, with 70% of the words | The program first divided the texts "
            "in 24 short, independent runs, and then once thoroughly, beginning with what had come out most. "
            "These 2 topics came out in at least half of the short runs too. Another thorough division may "
            "still have other topics.",
        ),
        (
            [SAME] * 12,
            Diagnosis(None, False, False, False, [], (), "do not agree"),
            {},
            "3 topics, and none of them came out every time | The program divided the texts 12 times, "
            "independently, with different results. Rely on no single topic.",
        ),
        (
            [SAME] * 4,
            Diagnosis(None, None, None, False, [], ()),
            {},
            "3 topics so far | The program divided the texts four times, independently. It is too early to "
            "say what comes out every time.",
        ),
    ],
)
def test_the_headline_says_how_often_topics_came_out(draws, diagnosis, options, expected):
    assert told(draws, diagnosis, **options) == expected


def test_the_first_screen_has_no_statistics(small):
    """Words that it explains (chain, draw) may stand in the page, but not in these sentences."""
    _, chains, posterior = small
    cases = [
        Diagnosis(None, agree, settled, False, [], (), said, *agreement(posterior)[:4], settled=settled)
        for agree, said in [(True, "agree"), (False, "agree on most"), (False, "do not agree"), (None, None)]
        for settled in (True, False, None)
    ]
    for diagnosis in cases:
        said = [
            words.verdict(diagnosis, 2).short,
            *words.headline(posterior, diagnosis, "texts", None)[1:],
            *words.findings(posterior, chains, diagnosis),
            *words.about_the_number(posterior, chains, Priors(), "texts"),
        ]
        assert not re.search(r"chain|draw|sweep|R-hat|settled|burn-in|posterior", " ".join(said))


def test_topics_that_differ_are_among_the_findings():
    apart = posterior_of_counts(
        [[np.diag([60, 30, 10, 0])[:3]] * 3, [np.diag([60, 30, 0, 10])[[0, 1, 3]]] * 3]
    )
    diagnosis = Diagnosis(None, False, False, False, [], (), "agree on most", *agreement(apart)[:4])
    finished = SimpleNamespace(
        trace=[1], sweeps_done=9, schedule=SimpleNamespace(sweeps=9), draws=[None] * FEW_DRAWS
    )
    assert words.findings(apart, [finished] * 2, diagnosis)[0] == (
        "1 other topic came out once only: do not rely on it; the table marks it."
    )
    firm = dataclasses.replace(diagnosis, firm_topics=[0], firm_share=0.6)
    assert words.findings(apart, [finished] * 2, firm)[0] == (
        "1 other topic came out both times, but in fewer than half of the short runs."
    )
    finished.draws = [None] * 3
    assert words.findings(apart, [finished] * 2, diagnosis)[-1] == (
        "All of this is rough: it rests on 3 answers per try."
    )


def test_the_range_of_topics_stands_beside_what_the_priors_expected(small):
    corpus, chains, posterior = small
    said = words.about_the_number(posterior, chains, Priors(alpha=1e9, gamma=1e-9), "texts")
    n = len(chains[0].draws)
    assert said.answers == (
        "Each time, the program kept moving words from topic to topic, and noted its answer now and then, "
        f"here {n} times."
    )
    assert said.expected.startswith(
        "Before the program saw the texts, its settings expected 1 topic; the texts say "
    )
    most = words.about_the_number(posterior, chains, Priors(alpha=1e9, gamma=1e12), "words")
    assert f"expected {corpus.n_words:,} topics; the words say " in most.expected


@pytest.mark.parametrize(
    ("corpus", "expected"),
    [
        (from_texts(small_texts()), "texts"),
        (from_counts(np.full((8, 5), 20)), "counts"),
        (from_tokens([["cat", "dog"]] * 6), "words"),
    ],
)
def test_what_readers_call_the_documents(corpus, expected):
    assert words.what_is_divided(corpus) == expected


def test_an_unfinished_run_is_told_without_python(small):
    corpus, _, _ = small
    chain = Chain(corpus, schedule=Timetable(sweeps=100, burn_in=50), random_state=0)
    chain.run(5)
    posterior = posterior_of(corpus, [chain])
    said = words.findings(posterior, [chain], Diagnosis(None, None, None, False, [], ()))
    assert said[-2:] == [
        "The run is not finished: the program has gone over all words 5 of 100 times. It can be continued "
        "where it stopped.",
        "The program has not kept an answer yet: this page shows where it stands.",
    ]

import numpy as np
import pytest

from franchise.corpus import Corpus, from_texts
from franchise.posterior.diagnostics import diagnose
from franchise.posterior.tables import topics_frame
from franchise.report import chains as described
from franchise.report import topics, write_report
from franchise.sampling import Trace
from franchise.sampling.trials import Event
from tests.unit.posterior.made import draw_of_words
from tests.unit.report.made import SETTINGS, posterior_of, run_chains, small_texts

# ---------------------------------------------------------------- topics


def test_relevant_terms_are_all_that_any_step_ranks_high(seed):
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(60, 0.3), size=4)
    counts = rng.integers(0, 30, 60)
    found = topics.relevant_terms(phi, counts, 7)
    for k in range(4):
        expected = set()
        for step in np.arange(21) / 20:
            score = {
                v: step * np.log(phi[k, v]) + (1 - step) * np.log(phi[k, v] * counts.sum() / counts[v])
                for v in range(60)
                if counts[v]
            }
            expected |= set(sorted(score, key=score.get, reverse=True)[:7])
        assert set(found[k]) == expected


def test_relevant_terms_of_a_small_vocabulary():
    assert [list(one) for one in topics.relevant_terms(np.array([[0.5, 0.3, 0.2]]), np.array([3, 0, 2]))] == [
        [0, 2]
    ]


def test_intervals_are_of_the_most_probable_terms(small):
    corpus, _, posterior = small
    told = topics.describe_topics(posterior, corpus)
    for k, topic in enumerate(told["topics"]):
        order = np.argsort(-posterior.phi[k], kind="stable")[: topics.TERMS_WITH_INTERVAL]
        names = [told["vocabulary"][place] for place, *_ in topic["intervals"]]
        assert names == [corpus.vocabulary[v] for v in order]
        assert told["top"][k] == names[:10]
        for v, (_, phi, low, high) in zip(order, topic["intervals"], strict=True):
            assert phi == posterior.phi[k, v]
            np.testing.assert_allclose((low, high), posterior.phi_interval(k, [v])[0])


@pytest.mark.parametrize("weights", [[1, 1, 1], [0.7, 0.2, 0.1], [1, 1e-6, 0]])
def test_three_topics_keep_their_distances(weights):
    similarity = np.array([[1, 0.5, 0.2], [0.5, 1, 0.4], [0.2, 0.4, 1]])
    place, shown = topics.positions(similarity, weights)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        # A topic without words does not affect the map, but is on it.
        tolerance = 1e-6 if weights[2] else 0.4
        assert np.hypot(*(place[i] - place[j])) == pytest.approx(np.sqrt(1 - similarity[i, j]), abs=tolerance)
    assert shown == pytest.approx(1.0)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_topics_that_are_all_alike_share_one_place(n):
    place, shown = topics.positions(np.ones((n, n)), np.full(n, 1 / n))
    np.testing.assert_array_equal(place, np.zeros((n, 2)))
    assert shown == 1.0


def test_equal_weights_give_classical_scaling(seed):
    rng = np.random.default_rng(seed)
    roots = np.sqrt(rng.dirichlet(np.ones(8), size=6))
    place, shown = topics.positions(roots @ roots.T, np.ones(6))
    centred = (roots - roots.mean(axis=0)) / np.sqrt(2)  # Hellinger distances are Euclidean between these
    u, s, _ = np.linalg.svd(centred)
    np.testing.assert_allclose(np.abs(place), np.abs(u[:, :2] * s[:2]), atol=1e-9)
    assert shown == pytest.approx((s[:2] ** 2).sum() / (s**2).sum())


def test_prevalence_counts_documents():
    shares = np.array([[0.0, 1.0], [0.049, 0.951], [0.05, 0.95], [0.5, 0.5]])
    counts = topics.prevalence(shares)
    np.testing.assert_array_equal(counts[0], np.histogram(shares[:, 0], 20, (0, 1))[0])
    np.testing.assert_array_equal(counts[1].sum(), 4)
    assert counts[1, 19] == 3


def test_shares_by_draw_average_to_the_weights(small):
    _, _, posterior = small
    shares = topics.shares_by_draw(posterior)
    np.testing.assert_allclose(np.nan_to_num(shares).mean(axis=0), posterior.weights)
    np.testing.assert_allclose((~np.isnan(shares)).mean(axis=0), posterior.support)


# ---------------------------------------------------------------- chains


class FakeDraw:
    def __init__(self, names):
        self.names = np.array(names)


class FakeChain:
    """A chain of which only events, the last state and its length are known."""

    def __init__(self, events, present, sweeps):
        self.events, self.sweeps_done, self._present = events, sweeps, present

    def draw(self):
        return FakeDraw(self._present)


EVENTS = [
    Event(2, "born", 5, -1),
    Event(3, "split", 6, 0),
    Event(4, "died", 5, -1),
    Event(30, "split", 7, 6),
    Event(50, "merged", 1, 0),
]


def test_lives_of_topics():
    found = described.lives(FakeChain(EVENTS, [0, 6, 7], 100))
    told = {k: (x.start, x.origin, x.parent, x.end, x.fate, x.heir) for k, x in found.items()}
    assert told == {
        0: (0, "start", -1, 100, "alive", -1),
        1: (0, "start", -1, 50, "merged", 0),
        5: (2, "born", -1, 4, "died", -1),
        6: (3, "split", 0, 100, "alive", -1),
        7: (30, "split", 6, 100, "alive", -1),
    }


def test_tree_shows_the_long_lived_below_their_parents():
    tree = described.describe_family(FakeChain(EVENTS, [0, 6, 7], 100), [], [], 3)
    assert [life["name"] for life in tree["lives"]] == [0, 6, 7, 1]
    assert tree["all"] == 5
    named = [life["name"] for life in tree["lives"]]
    links = {(x["kind"], x["sweep"], named[x["lane"]], named[x["other"]]) for x in tree["links"]}
    assert links == {("split", 3, 6, 0), ("split", 30, 7, 6), ("merged", 50, 1, 0)}


def test_tree_calls_topics_by_listed_ones_or_by_their_terms():
    corpus = Corpus([0, 1, 1, 2, 2, 2], [0, 6], ["cat", "dog", "cow"])
    draw = draw_of_words(corpus, [0, 1, 1, 1, 1, 1], sweep=90)
    events = [Event(10, "split", 1, 0), Event(12, "born", 5, -1), Event(13, "merged", 5, 1)]
    tree = described.describe_family(
        FakeChain(events, [0, 1], 100), [draw], [np.array([0, 1])], 1, corpus.vocabulary
    )
    called = {life["name"]: (life["topic"], life["terms"], life["parent"]["topic"]) for life in tree["lives"]}
    assert called == {0: (0, [], -1), 1: (-1, ["cow", "dog"], 0)}


def test_tree_marks_topics_that_came_and_went():
    events = [Event(10, "split", 9, 0), Event(12, "merged", 9, 0)]
    tree = described.describe_family(FakeChain(events, [0], 100), [], [], 1)
    assert [life["name"] for life in tree["lives"]] == [0]
    assert tree["passing"] == [
        {"sweep": 10, "lane": 0, "kind": "split"},
        {"sweep": 12, "lane": 0, "kind": "merged"},
    ]


def test_tree_has_at_most_so_many_lanes():
    tree = described.describe_family(FakeChain([], range(100), 10), [], [], 3)
    assert len(tree["lives"]) == described.MOST_LANES
    assert tree["all"] == 100


def test_a_long_line_of_descent():
    n = 2_000
    found = {i: described.Life(i, start=i, parent=i - 1, end=n, share=1.0) for i in range(n)}
    assert [one.name for one in described._in_families(found)] == list(range(n))


def test_tree_agrees_with_the_trace(small):
    _, chains, _ = small
    for chain in chains:
        found = described.lives(chain)
        for sweep in range(chain.sweeps_done + 1):
            # Born in this sweep counts, ended in it does not.
            alive = [x for x in found.values() if x.start <= sweep and (x.end > sweep or x.fate == "alive")]
            assert len(alive) == chain.trace["n_topics"][sweep]


def long_trace(n: int) -> Trace:
    columns = ["sweep", "n_topics", "alpha", "gamma", "eta", "log_joint", "split_merge.splits"]
    rows = np.column_stack([np.arange(n), *np.ones((5, n)), np.arange(n) % 3])
    rows[0, -1] = np.nan
    return Trace.from_array(rows, columns)


@pytest.mark.parametrize("n", [1, 2, 400, 401, 1777])
def test_curves_are_short_and_lose_no_split(n):
    points = described.curve(long_trace(n))
    assert len(points["sweep"]) <= 401
    assert points["sweep"][0] == 0
    assert points["sweep"][-1] == n - 1
    assert points["splits"].sum() == sum(i % 3 for i in range(1, n))
    assert points["merges"].sum() == 0


def test_mass_is_cumulative(small):
    _, _, posterior = small
    draw = posterior.flat_draws[0]
    sizes = sorted(np.asarray(draw.document_topics.sum(axis=0)).ravel(), reverse=True)
    (found,) = described.mass([draw], [1, 2, 50])
    assert found == pytest.approx([sizes[0] / sum(sizes), sum(sizes[:2]) / sum(sizes), 1.0])


def test_bands_end_with_the_last_topic():
    assert described.band_ends(3) == [1, 2, 3]
    for n in (11, 12, 40, 500):
        ends = described.band_ends(n)
        assert len(ends) <= described.BANDS
        assert ends[0] == 1
        assert ends[-1] == n


# ---------------------------------------------------------------- independent runs


def test_runs_are_shown_only_where_there_were_any(tmp_path):
    corpus = from_texts(small_texts())
    chains = run_chains(corpus)
    posterior = posterior_of(corpus, chains)
    found = diagnose(posterior, [chain.trace for chain in chains], chains[0].schedule)
    without = write_report(tmp_path / "a.html", posterior, corpus, chains, found, SETTINGS)
    assert 'data-sort="runs"' not in without.read_text("utf-8")
    assert "runs" not in topics_frame(posterior).columns
    posterior.run_support = np.full(posterior.n_topics, 0.8)
    found = diagnose(posterior, [chain.trace for chain in chains], chains[0].schedule)
    page = write_report(tmp_path / "b.html", posterior, corpus, chains, found, SETTINGS).read_text("utf-8")
    assert 'data-sort="runs"' in page
    assert page.count('data-label="runs">80%') == posterior.n_topics
    assert topics_frame(posterior)["runs"].tolist() == [0.8] * posterior.n_topics

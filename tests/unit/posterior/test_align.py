from itertools import pairwise, permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from franchise.posterior.align import _match, align
from tests.unit.posterior.made import draw_of_counts

# ---------------------------------------------------------------- the truth is known


def noisy(rng, proportions, n_words=500):
    """Return a draw: topics of about these proportions of terms."""
    counts = [rng.multinomial(n_words, p) for p in proportions]
    return np.array(counts)


def blocks(n_topics, terms_each=6):
    """Return topics without a term in common."""
    return np.kron(np.eye(n_topics), np.full(terms_each, 1 / terms_each))


def stuck(rng, proportions, n_draws, n_words, moved):
    """Return the draws of a chain that hardly moves: a few words of each topic change from draw to draw."""
    start = noisy(rng, proportions, n_words - moved)
    return [start + noisy(rng, proportions, moved) for _ in range(n_draws)]


def shuffled(rng, topics):
    """Return the topics in another order, and what each of them is."""
    order = rng.permutation(len(topics))
    return topics[order], order


def test_permuted_topics_are_one_cluster_each(seed):
    rng = np.random.default_rng(seed)
    truth = blocks(5) * 0.9 + 0.1 / 30
    drawn = [[shuffled(rng, noisy(rng, truth)) for _ in range(6)] for _ in range(3)]
    found = align([[draw_of_counts(counts) for counts, _ in chain] for chain in drawn])
    assert found.support.tolist() == [1.0] * 5
    assert found.chain_support.tolist() == [1.0] * 5
    assert np.all((found.stability > 0.95) & (found.stability < 1.0))
    known = [what for chain in drawn for _, what in chain]
    pairs = {
        (c, k) for clusters, what in zip(found.clusters, known, strict=True) for c, k in zip(clusters, what)
    }
    assert len(pairs) == 5  # every cluster is one true topic, in all draws


def test_the_same_topics_in_all_draws_are_perfectly_stable():
    counts = np.array([[5, 3, 0, 0], [0, 0, 2, 1], [0, 4, 0, 4]])
    found = align([[draw_of_counts(counts)] * 3, [draw_of_counts(counts[::-1])] * 2])
    assert found.support.tolist() == [1.0, 1.0, 1.0]
    assert found.stability == pytest.approx(np.ones(3), abs=1e-6)
    assert np.all(found.stability <= 1.0)


def test_a_topic_that_is_split_in_half_of_the_draws(seed):
    rng = np.random.default_rng(seed)
    whole = np.array([[4, 4, 2, 2, 0, 0], [0, 0, 0, 0, 1, 1]]) / np.array([[12], [2]])
    halves = np.array([[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1]]) / 2
    draws = [[noisy(rng, whole) for _ in range(10)], [noisy(rng, halves) for _ in range(10)]]
    found = align([[draw_of_counts(counts) for counts in chain] for chain in draws])
    assert found.support.tolist() == [1.0, 1.0, 0.5]
    assert found.chain_support.tolist() == [1.0, 1.0, 0.5]
    # The larger half, of affinity sqrt(2/3) against sqrt(1/3), is what is left of the whole.
    whole_topic, other = found.clusters[0]
    assert all(clusters.tolist() == [whole_topic, other] for clusters in found.clusters[:10])
    assert all(clusters.tolist() == [whole_topic, 2, other] for clusters in found.clusters[10:])
    assert found.stability[whole_topic] < 0.96 < found.stability[other]


def test_births_and_deaths(seed):
    rng = np.random.default_rng(seed)
    truth = blocks(4)
    present = [[0, 1, 2]] * 3 + [[0, 1]] * 3 + [[1, 3, 0]] * 4  # 2 dies, 3 is born
    found = align([[draw_of_counts(noisy(rng, truth[topics])) for topics in present]])
    assert found.support.tolist() == [1.0, 1.0, 0.4, 0.3]
    names = {}
    for clusters, topics in zip(found.clusters, present, strict=True):
        for cluster, topic in zip(clusters, topics, strict=True):
            assert names.setdefault(cluster, topic) == topic
    assert names[2] == 3
    assert names[3] == 2


@pytest.mark.parametrize(("times", "share"), [(0, 0.5), (1, 0.5), (2, 1.0), (20, 1.0)])
def test_a_chain_has_a_topic_when_a_tenth_of_its_draws_do(times, share):
    both, one = np.diag([5, 3]), np.array([[8, 0]])
    chains = [
        [draw_of_counts(both)] * 7,
        [draw_of_counts(both)] * times + [draw_of_counts(one)] * (20 - times),
    ]
    found = align(chains)
    assert found.support.tolist() == [1.0, (7 + times) / 27]
    assert found.chain_support.tolist() == [1.0, share]


def test_clusters_come_by_support_then_by_weight():
    draws = [np.diag([1, 2, 9, 0]), np.diag([1, 2, 0, 9])]
    counts = [draw[draw.any(axis=1)] for draw in draws]
    found = align([[draw_of_counts(c) for c in counts]])
    assert [clusters.tolist() for clusters in found.clusters] == [[1, 0, 2], [1, 0, 3]]
    assert found.support.tolist() == [1.0, 1.0, 0.5, 0.5]


def test_one_draw():
    found = align([[draw_of_counts([[0, 1, 0], [0, 0, 5], [3, 0, 0]])]])
    assert found.clusters[0].tolist() == [2, 0, 1]
    assert found.support.tolist() == found.chain_support.tolist() == [1.0, 1.0, 1.0]
    assert found.stability == pytest.approx(np.ones(3), abs=1e-6)


def test_one_term():
    chains = [[draw_of_counts([[6]]), draw_of_counts([[4], [2]])], [draw_of_counts([[3], [2], [1]])]]
    found = align(chains)
    assert found.support == pytest.approx([1.0, 2 / 3, 1 / 3])
    assert [sorted(clusters.tolist()) for clusters in found.clusters] == [[0], [0, 1], [0, 1, 2]]


def test_topics_of_one_or_two_words():
    # The affinity of {a} and {a, b} is sqrt(1/2), that of {a, b} and {b, c} is 1/2: not above the threshold.
    a, b, ab, bc = [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 1]
    assert align([[draw_of_counts([a])], [draw_of_counts([ab])]]).support.tolist() == [1.0]
    assert align([[draw_of_counts([a])], [draw_of_counts([b])]]).support.tolist() == [0.5, 0.5]
    assert align([[draw_of_counts([ab])], [draw_of_counts([bc])]]).support.tolist() == [0.5, 0.5]
    both = align([[draw_of_counts([a, b])], [draw_of_counts([[2, 1, 0], [0, 1, 0]])]])
    assert both.clusters[0].tolist() == both.clusters[1].tolist()


# ---------------------------------------------------------------- a plain twin


def affinity(p, q):
    p, q = np.asarray(p, float), np.asarray(q, float)
    return float(np.sqrt(p / p.sum()) @ np.sqrt(q / q.sum()))


def best_assignment(affinities, threshold):
    """Return the cluster of each topic, None for none, by trying all assignments."""
    n_topics, n_clusters = affinities.shape
    places = [*range(n_clusters), *[None] * n_topics]
    best, best_gain = None, -1.0
    for choice in set(permutations(places, n_topics)):
        gains = [affinities[k, c] - threshold for k, c in enumerate(choice) if c is not None]
        if min(gains, default=1.0) > 0 and sum(gains) > best_gain:
            best, best_gain = choice, sum(gains)
    return best, best_gain


def directions(counts):
    roots = np.sqrt(np.asarray(counts, float))
    return roots / np.linalg.norm(roots, axis=1, keepdims=True)


def plain_threshold(flat):
    """Return half-way between 1 and a topic's affinity to the nearest other of its draw, at most 0.9."""
    assert len(flat) <= 20  # more are not all looked at
    others = [[a @ b for j, b in enumerate(draw) if j != i] for draw in flat for i, a in enumerate(draw)]
    return min(0.9, 0.5 + np.median([max(own, default=0.0) for own in others]) / 2)


def plain_align(chains):
    """Return the partition of (draw, topic) pairs into clusters, as the module's docstring says."""
    flat = [directions(counts) for chain in chains for counts in chain]
    numbers = iter(range(len(flat)))
    numbered = [[next(numbers) for _ in chain] for chain in chains]
    order = [chain[i] for i in range(max(map(len, chains))) for chain in numbered if i < len(chain)]
    sizes = [len(draw) for draw in flat]
    middle = sorted(sizes)[len(sizes) // 2]
    first = next(i for i in order if sizes[i] == middle)
    order = [first] + [i for i in order if i != first]
    threshold = plain_threshold(flat)

    clusters = []
    for i in order:
        place(threshold, flat, i, clusters, [sum(flat[j][k] for j, k in members) for members in clusters])
    for _ in range(3):
        old = plainly_merged(flat, [members for members in clusters if len(members) > 1], threshold)
        centres = [sum(flat[j][k] for j, k in members) for members in old]
        again = [set() for _ in old]
        for i in range(len(flat)):
            place(threshold, flat, i, again, centres)
        again = [members for members in again if members]
        if partition(again) == partition(clusters):
            break
        clusters = again
    return partition(clusters)


def plainly_merged(flat, clusters, threshold):
    """Return the clusters with copies joined: one pair after another, the nearest first."""

    def nearness(a, b):
        draws_a, draws_b = ({i for i, _ in members} for members in (a, b))
        if len(draws_a & draws_b) > 0.05 * min(len(a), len(b)):
            return 0.0
        centres = [sum(flat[i][k] for i, k in members) for members in (b, a)]
        return min(
            np.mean([flat[i][k] @ centre / np.linalg.norm(centre) for i, k in members])
            for members, centre in zip((a, b), centres, strict=True)
        )

    clusters = [set(members) for members in clusters]
    while len(clusters) > 1:
        pairs = [(a, b) for b in range(len(clusters)) for a in range(b)]
        near, a, b = max((nearness(clusters[a], clusters[b]), a, b) for a, b in pairs)
        if near <= threshold:
            break
        clusters[a] |= clusters.pop(b)
    return clusters


def place(threshold, flat, i, clusters, centres):
    cosines = np.array([[root @ c / np.linalg.norm(c) for c in centres] for root in flat[i]])
    chosen, _ = best_assignment(cosines.reshape(len(flat[i]), len(centres)), threshold)
    for k, c in enumerate(chosen):
        if c is None:
            clusters.append({(i, k)})
        else:
            clusters[c].add((i, k))


def partition(clusters):
    return frozenset(frozenset(members) for members in clusters)


def found_partition(alignment):
    members = {}
    for i, clusters in enumerate(alignment.clusters):
        for k, c in enumerate(clusters.tolist()):
            members.setdefault(c, set()).add((i, k))
    return partition(members.values())


def random_chains(rng, n_terms=4, most_topics=3, lengths=(3, 2), sparsity=0.5):
    """Return counts without ties: large, and of two terms or more (all topics of one term a are alike)."""

    def topic():
        has = rng.random(n_terms) < sparsity
        has[rng.choice(n_terms, 2, replace=False)] = True
        return has * rng.integers(1, 10**6, n_terms)

    def counts():
        return np.array([topic() for _ in range(rng.integers(1, most_topics + 1))])

    return [[counts() for _ in range(length)] for length in lengths]


def aligned(chains):
    return align([[draw_of_counts(counts) for counts in chain] for chain in chains])


@pytest.mark.parametrize("trial", range(40))
def test_the_matching_is_the_best_of_all_assignments(trial):
    rng = np.random.default_rng(trial)
    topics, clusters = (random_chains(rng, most_topics=4, lengths=(1,), sparsity=0.8)[0][0] for _ in range(2))
    found = _match(
        sp.csr_array(directions(topics).astype(np.float32)),
        sp.csr_array((directions(clusters) * rng.integers(1, 9, (len(clusters), 1))).T.astype(np.float32)),
        threshold := rng.uniform(0.1, 0.9),
    )
    affinities = np.array([[affinity(p, q) for q in clusters] for p in topics])
    expected, gain = best_assignment(affinities, threshold)
    assert [None if c < 0 else c for c in found.tolist()] == list(expected)
    assert gain == pytest.approx(sum(affinities[k, c] - threshold for k, c in enumerate(found) if c >= 0))


@pytest.mark.parametrize("trial", range(40))
def test_clusters_are_those_of_the_plain_twin(trial):
    chains = random_chains(np.random.default_rng(trial), lengths=[(3, 2), (5,), (1, 4), (2, 2, 1)][trial % 4])
    found = aligned(chains)
    assert found_partition(found) == plain_align(chains)


@pytest.mark.parametrize("trial", range(20))
def test_merged_clusters_are_those_of_the_plain_twin(trial):
    rng = np.random.default_rng(trial)
    small = [stuck(rng, blocks(2, 10), 4, 10, 2) for _ in range(2)]
    # The small addition keeps affinities from being equal.
    chains = [[counts * 1000 + rng.integers(0, 9, counts.shape) for counts in chain] for chain in small]
    assert found_partition(aligned(chains)) == plain_align(chains)


@pytest.mark.parametrize("trial", range(5))
def test_stability_is_the_mean_affinity_to_the_centre(trial):
    chains = random_chains(np.random.default_rng(trial), lengths=(4, 4))
    found, flat = aligned(chains), [directions(counts) for chain in chains for counts in chain]
    for cluster in range(found.support.size):
        members = [flat[i][list(c).index(cluster)] for i, c in enumerate(found.clusters) if cluster in c]
        centre = sum(members) / np.linalg.norm(sum(members))
        assert found.stability[cluster] == pytest.approx(np.mean([m @ centre for m in members]), abs=1e-6)


# ---------------------------------------------------------------- of all draws

counts_of_topics = st.integers(1, 4).flatmap(
    lambda n_terms: st.lists(
        st.lists(
            st.lists(
                st.lists(st.integers(0, 3), min_size=n_terms, max_size=n_terms).filter(any),
                min_size=1,
                max_size=4,
            ),
            min_size=1,
            max_size=4,
        ),
        min_size=1,
        max_size=3,
    )
)


@settings(max_examples=50)
@given(counts_of_topics)
def test_what_holds_of_all_draws(chains):
    found, again = aligned(chains), aligned(chains)
    flat = [counts for chain in chains for counts in chain]
    n_clusters = found.support.size
    assert [c.size for c in found.clusters] == [len(counts) for counts in flat]
    assert all(len(set(c.tolist())) == c.size for c in found.clusters)  # none twice in a draw
    assert set(np.concatenate(found.clusters).tolist()) == set(range(n_clusters))  # none empty
    assert found.support.sum() == pytest.approx(np.mean([len(counts) for counts in flat]))
    having = np.array([[k in c for k in range(n_clusters)] for c in found.clusters])
    assert found.support == pytest.approx(having.mean(axis=0))
    assert np.all(np.diff(found.support) <= 0)
    assert np.all((found.stability > 0) & (found.stability <= 1.0))
    lengths = np.cumsum([0, *map(len, chains)])
    shares = [having[a:b].mean(axis=0) for a, b in pairwise(lengths)]  # of at most 4 draws
    assert found.chain_support == pytest.approx(np.mean([share > 0 for share in shares], axis=0))
    for one, other in zip(found.clusters, again.clusters, strict=True):
        assert np.array_equal(one, other)


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1))
def test_the_order_of_topics_in_a_draw_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    chains = random_chains(rng, n_terms=6, most_topics=5, lengths=(4, 3))
    orders = [[rng.permutation(len(counts)) for counts in chain] for chain in chains]
    permuted = aligned([[c[o] for c, o in zip(*pair)] for pair in zip(chains, orders)])
    found = aligned(chains)
    flat_orders = [order for chain in orders for order in chain]
    for clusters, permuted_clusters, order in zip(
        found.clusters, permuted.clusters, flat_orders, strict=True
    ):
        assert np.array_equal(clusters[order], permuted_clusters)
    assert found.stability == pytest.approx(permuted.stability, abs=1e-6)

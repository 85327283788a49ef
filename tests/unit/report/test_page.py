import base64
import hashlib
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from franchise.corpus import Corpus, from_counts, from_texts
from franchise.errors import FranchiseError
from franchise.posterior.diagnostics import Diagnosis
from franchise.report import documents, family, render, runs, topics, words, write_report
from franchise.report.documents import Finder, choose_documents, describe_documents
from franchise.sampling import Chain, Schedule, Trace
from franchise.sampling.trials import Event
from tests.unit.report.made import (
    SETTINGS,
    counted_draw,
    large_model,
    posterior_of,
    report_of,
    run_chains,
    small_report,
    small_texts,
)

ROOT = Path(__file__).resolve().parents[3]
EVIL = [
    "</script><script>alert(1)</script> cat dog",
    "<!-- cat <script> dog",
    "cat\u2028dog\u2029 mouse ]]> & &amp; <img src=x onerror=alert(1)>",
    "\U0001f408 cat \U0001f415\U0001f415 dog \U0001f600mouse",
    "cat \ud800 dog \udfff mouse \x00 \x0b \r\n horse",
    "CAT İstanbul dog İİ mouse",
    "",
]


class Elements(HTMLParser):
    """The elements of a page, as an HTML parser sees them."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.open = None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs), []))
        self.open = self.found[-1]

    def handle_endtag(self, tag):
        self.open = None

    def handle_data(self, data):
        if self.open:
            self.open[2].append(data)

    def all(self, tag):
        return [(attributes, "".join(content)) for name, attributes, content in self.found if name == tag]

    def data(self, name):
        (content,) = [content for attributes, content in self.all("script") if attributes.get("id") == name]
        return json.loads(content)


@pytest.fixture(scope="module")
def evil(tmp_path_factory):
    path = tmp_path_factory.mktemp("evil") / "report.html"
    names = [*(f"<b>{i}</b>\ud83d" for i in range(len(EVIL))), *(f"d{i}" for i in range(30))]
    corpus = from_texts([*EVIL, *small_texts()], document_names=names)
    report_of(path, corpus, run_chains(corpus), title="<script>alert('title')</script> & more")
    return corpus, Elements(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def small():
    corpus = from_texts(small_texts())
    chains = run_chains(corpus)
    return corpus, chains, posterior_of(corpus, chains)


# ---------------------------------------------------------------- nothing of a document becomes markup


def test_texts_do_not_add_elements(evil):
    _, elements = evil
    kinds = [attributes.get("type") for attributes, _ in elements.all("script")]
    assert kinds == ["application/json"] * 3 + [None] * 2
    assert not elements.all("img")
    assert all("alert(1)" not in content for name, _, content in elements.found if name != "script")


def test_texts_arrive_unchanged_but_for_half_characters(evil):
    _, elements = evil
    texts = [one["text"] for one in elements.data("report-documents")]
    expected = [text.replace("\ud800", "\ufffd").replace("\udfff", "\ufffd") for text in EVIL]
    assert texts[: len(EVIL)] == expected


def test_names_and_title_are_text(evil):
    _, elements = evil
    assert elements.data("report-documents")[0]["name"] == "<b>0</b>\ufffd"
    assert elements.all("title")[0][1] == "<script>alert('title')</script> & more"
    assert elements.all("h1")[0][1] == "<script>alert('title')</script> & more"


def test_no_handlers_and_no_addresses(evil):
    _, elements = evil
    for name, attributes, _ in elements.found:
        assert not [one for one in attributes if one.startswith("on")], name
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")


def test_policy_allows_exactly_the_scripts_of_the_page(evil):
    _, elements = evil
    policy = next(a["content"] for a, _ in elements.all("meta") if a.get("http-equiv"))
    run = [content for attributes, content in elements.all("script") if "type" not in attributes]
    digests = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in run]
    assert re.findall(r"'sha256-([^']+)'", policy) == digests
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "http" not in policy


@pytest.mark.parametrize("text", ["</script>", "<!--", "a\u2028b", "&lt;", "\U0001f600", "\x00\r\n"])
def test_json_survives_a_script_block(text):
    written = str(render.as_json({"text": text}))
    assert not set(written) & set("<>&\u2028\u2029\r\n\x00")
    assert json.loads(written) == {"text": text}


def test_json_of_numbers():
    given = {"a": np.array([1.23456, np.nan, np.inf]), "b": np.int64(123456), "c": True, "d": None}
    assert json.loads(render.as_json(given)) == {"a": [1.235, None, None], "b": 123456, "c": True, "d": None}


# ---------------------------------------------------------------- marks in texts


def marked(one: dict) -> list[tuple[str, int]]:
    """The marked words of a document and their topics, by JavaScript's count of characters."""
    units = one["text"].encode("utf-16-le")
    found, end = [], 0
    for gap, length, topic in zip(*[iter(one["marks"])] * 3, strict=True):
        start = end + gap
        end = start + length
        found.append((units[2 * start : 2 * end].decode("utf-16-le"), topic))
    return found


def test_marked_words_are_the_words_of_the_corpus(evil):
    corpus, elements = evil
    for one in elements.data("report-documents"):
        expected = [corpus.vocabulary[v] for v in corpus.document(one["number"])]
        assert [word.lower() for word, _ in marked(one)] == expected


def test_marked_topics_are_the_most_probable(small):
    corpus, _, posterior = small
    for one in describe_documents(posterior, corpus, [0, 1, 2, 7]):
        theta = posterior.document_topics[one["number"], :-1]
        for word, topic in marked(one):
            scores = theta * posterior.phi[:, corpus.vocabulary.index(word.lower())]
            assert scores[topic] == pytest.approx(scores.max())


def test_finder_takes_longer_terms_first():
    texts = ["machine learning of the new machine", "machine learning", "new machine learning"]
    corpus = from_texts(texts, ngram_range=(1, 2))
    text = "New Machine of LEARNING: learning"
    found = [(text[s.start : s.end], corpus.vocabulary[s.term]) for s in Finder(corpus)(text)]
    assert found == [
        ("New", "new machine"),
        ("Machine", "new machine"),
        ("LEARNING", "learning"),
        ("learning", "learning"),
    ]


def test_finder_takes_the_group_of_a_pattern():
    corpus = from_texts(["#cat #dog fish", "#cat fish"], token_pattern=r"#(\w+)|fish", stop_words=None)
    text = "a #Cat, fish"
    assert [text[s.start : s.end] for s in Finder(corpus)(text)] == ["Cat"]


def test_finder_without_options_still_finds_words():
    corpus = Corpus([0, 1], [0, 2], ["cat", "the"], texts=["The cat"])
    assert [span.term for span in Finder(corpus)("The cat")] == [1, 0]


def test_words_stand_in_for_texts(small):
    counts = [[2, 0, 1], [0, 3, 1], [1, 1, 0]]
    corpus = from_counts(np.array(counts), vocabulary=["cat", "d<g", "cow"])
    posterior = posterior_of(corpus, run_chains(corpus, 1))
    one, two, _ = describe_documents(posterior, corpus, [0, 1, 2])
    assert one["text"] == "cat ×2 cow"
    assert two["text"] == "d<g ×3 cow"
    assert [word for word, _ in marked(two)] == ["d<g", "cow"]


def test_long_texts_are_cut_between_words(small, monkeypatch):
    corpus, _, posterior = small
    monkeypatch.setattr(documents, "LONGEST_DOCUMENT", 30)
    (one,) = describe_documents(posterior, corpus, [0])
    assert one["cut"]
    assert len(one["text"]) <= 30
    assert corpus.texts[0].startswith(one["text"] + " ")


# ---------------------------------------------------------------- which documents


def test_all_documents_where_there_is_room(small):
    corpus, _, _ = small
    assert choose_documents(corpus, [[3], [1]]) == list(range(corpus.n_documents))


def test_representatives_come_first(small, monkeypatch):
    corpus, _, _ = small
    monkeypatch.setattr(documents, "MOST_DOCUMENTS", 3)
    assert choose_documents(corpus, [[20, 21], [10, 11]]) == [10, 20, 21]
    assert len(choose_documents(corpus, [[20]])) == 3


def test_no_more_text_than_fits(small, monkeypatch):
    corpus, _, _ = small
    lengths = [len(text) for text in corpus.texts]
    monkeypatch.setattr(documents, "MOST_CHARACTERS", lengths[5] + lengths[6] + 1)
    assert choose_documents(corpus, [[5, 6, 7]]) == [5, 6]


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
        # A topic without words does not pull the plane, but is on it all the same.
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
    found = family.lives(FakeChain(EVENTS, [0, 6, 7], 100))
    told = {k: (x.start, x.origin, x.parent, x.end, x.fate, x.heir) for k, x in found.items()}
    assert told == {
        0: (0, "start", -1, 100, "alive", -1),
        1: (0, "start", -1, 50, "merged", 0),
        5: (2, "born", -1, 4, "died", -1),
        6: (3, "split", 0, 100, "alive", -1),
        7: (30, "split", 6, 100, "alive", -1),
    }


def test_tree_shows_the_long_lived_below_their_parents():
    tree = family.describe_family(FakeChain(EVENTS, [0, 6, 7], 100), [], [], 3)
    assert [life["name"] for life in tree["lives"]] == [0, 6, 7, 1]
    assert tree["all"] == 5
    named = [life["name"] for life in tree["lives"]]
    links = {(x["kind"], x["sweep"], named[x["lane"]], named[x["other"]]) for x in tree["links"]}
    assert links == {("split", 3, 6, 0), ("split", 30, 7, 6), ("merged", 50, 1, 0)}


def test_tree_marks_topics_that_came_and_went():
    events = [Event(10, "split", 9, 0), Event(12, "merged", 9, 0)]
    tree = family.describe_family(FakeChain(events, [0], 100), [], [], 1)
    assert [life["name"] for life in tree["lives"]] == [0]
    assert tree["passing"] == [
        {"sweep": 10, "lane": 0, "kind": "split"},
        {"sweep": 12, "lane": 0, "kind": "merged"},
    ]


def test_tree_has_at_most_so_many_lanes():
    tree = family.describe_family(FakeChain([], range(100), 10), [], [], 3)
    assert len(tree["lives"]) == family.MOST_LANES
    assert tree["all"] == 100


def test_a_long_line_of_descent():
    n = 2_000
    found = {i: family.Life(i, start=i, parent=i - 1, end=n, share=1.0) for i in range(n)}
    assert [one.name for one in family._in_families(found)] == list(range(n))


def test_tree_agrees_with_the_trace(small):
    _, chains, _ = small
    for chain in chains:
        found = family.lives(chain)
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
    points = runs.curve(long_trace(n))
    assert len(points["sweep"]) <= 401
    assert points["sweep"][0] == 0
    assert points["sweep"][-1] == n - 1
    assert points["splits"].sum() == sum(i % 3 for i in range(1, n))
    assert points["merges"].sum() == 0


def test_mass_is_cumulative(small):
    _, _, posterior = small
    draw = posterior.flat_draws[0]
    sizes = sorted(np.asarray(draw.document_topics.sum(axis=0)).ravel(), reverse=True)
    (found,) = runs.mass([draw], [1, 2, 50])
    assert found == pytest.approx([sizes[0] / sum(sizes), sum(sizes[:2]) / sum(sizes), 1.0])


def test_bands_end_with_the_last_topic():
    assert runs.band_ends(3) == [1, 2, 3]
    for n in (11, 12, 40, 500):
        ends = runs.band_ends(n)
        assert len(ends) <= runs.BANDS
        assert ends[0] == 1
        assert ends[-1] == n


# ---------------------------------------------------------------- the answer in words


@pytest.mark.parametrize(
    ("agree", "converged", "n_chains", "level"),
    [
        (True, True, 4, "good"),
        (True, False, 4, "rough"),
        (False, False, 4, "bad"),
        (None, None, 1, "open"),
        (None, None, 3, "open"),
    ],
)
def test_verdict(agree, converged, n_chains, level):
    said = words.verdict(Diagnosis(None, agree, converged, False, [], []), n_chains)
    assert said.level == level
    assert said.short
    assert words.how_sure(level)


def test_findings_count_topics_of_every_chain(small):
    _, chains, posterior = small
    everywhere = [k for k in range(posterior.n_topics) if posterior.chain_support[k] == 1]
    said = " ".join(words.findings(posterior, chains))
    count = "All" if len(everywhere) == posterior.n_topics else f"{len(everywhere)} of"
    assert said.startswith(count)
    assert f"{posterior.weights[everywhere].sum():.0%} of the words" in said


# ---------------------------------------------------------------- whole pages


def words_of(path: Path) -> str:
    html = path.read_text(encoding="utf-8")
    return " ".join(re.sub(r"<[^>]*>", " ", html[: html.index('<script type="application/json"')]).split())


def test_page_of_one_topic_and_one_chain(tmp_path):
    corpus = from_texts(["cat dog", "cat", "dog dog cat"])
    chain = Chain(corpus, schedule=Schedule(sweeps=10, burn_in=5), start="one")
    chain.start()
    chain.draws.append(counted_draw(corpus, np.zeros(corpus.n_words, np.int64), 6))
    text = words_of(report_of(tmp_path / "r.html", corpus, [chain]))
    assert "1 topic" in text
    assert "One chain, nothing to compare it with" in text
    assert "1 of 1" in text


def test_page_of_three_topics(tmp_path):
    corpus, chains = large_model(3, 60)
    elements = Elements(report_of(tmp_path / "r.html", corpus, chains).read_text(encoding="utf-8"))
    data = elements.data("report-data")
    assert len(data["topics"]) == 3
    assert sum(topic["weight"] for topic in data["topics"]) == pytest.approx(1.0, abs=0.01)
    rows = [attributes for attributes, _ in elements.all("tr") if "data-topic" in attributes]
    assert [row["data-topic"] for row in rows] == ["0", "1", "2"]


def test_page_without_texts_and_with_empty_documents(tmp_path):
    counts = np.zeros((12, 4), int)
    counts[:6, :2] = 3
    counts[6:10, 2:] = 3  # the last two documents are empty
    corpus = from_counts(counts)
    path = report_of(tmp_path / "r.html", corpus, run_chains(corpus))
    text = words_of(path)
    assert "Texts were not kept" in text
    assert "documents without words 2" in text
    last = Elements(path.read_text(encoding="utf-8")).data("report-documents")[-1]
    assert (last["text"], last["marks"], last["words"]) == ("", [], 0)


def test_page_of_an_unfinished_run(tmp_path):
    corpus = from_texts(small_texts())
    chains = [Chain(corpus, schedule=Schedule(sweeps=100, burn_in=50), number=c) for c in range(3)]
    chains[0].run(20)
    chains[1].run(20)
    text = words_of(report_of(tmp_path / "r.html", corpus, chains))
    assert "The run is not finished: 20 of 100 sweeps were made, by 2 of 3 chains." in text
    assert "No draws were kept yet" in text


def test_page_of_chains_of_which_one_has_draws(tmp_path):
    corpus = from_texts(small_texts())
    chains = [Chain(corpus, schedule=Schedule(sweeps=60, burn_in=30), number=c) for c in range(2)]
    chains[0].run(10)
    chains[1].run()
    path = report_of(tmp_path / "r.html", corpus, chains)
    first, second = Elements(path.read_text(encoding="utf-8")).data("report-data")["chains"]
    assert (first["draws"], first["mass"], first["n_topics"]) == ([], [], [])
    assert len(second["draws"]) == len(chains[1].draws)
    assert any(life["topic"] >= 0 for life in second["family"]["lives"])


def test_page_names_settings_versions_and_sample(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "MOST_DOCUMENTS", 10)
    text = words_of(small_report(tmp_path / "r.html"))
    assert "alpha_prior 1.0, 1.0" in text
    assert "burn_in automatic" in text
    assert f"python {sys.version.split()[0]}" in text
    assert f"numpy {np.__version__}" in text
    assert "This page holds 10 of 30 documents" in text


def test_citation_is_that_of_the_project(tmp_path):
    told = words_of(small_report(tmp_path / "r.html")).partition("How to cite")[2]
    for name in ("title", "name", "family-names", "year", "value", "version"):
        for value in re.findall(rf"^[ -]*{name}: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE):
            assert value in told


# ---------------------------------------------------------------- writing


def test_refuses_to_replace_a_file_unless_told(tmp_path):
    path = tmp_path / "r.html"
    path.write_text("mine")
    with pytest.raises(FranchiseError, match="there is a file already"):
        small_report(path)
    assert path.read_text() == "mine"
    assert small_report(str(path), overwrite=True) == path
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_refuses_a_folder(tmp_path):
    with pytest.raises(FranchiseError, match="this is a folder"):
        small_report(tmp_path)


@pytest.mark.parametrize("library", ["altair", "jinja2", "vl_convert"])
def test_says_how_to_get_what_is_missing(small, tmp_path, monkeypatch, library):
    corpus, chains, posterior = small
    for name in [one for one in sys.modules if re.match(r"franchise\.report\.(chart|render)", one)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(FranchiseError, match=rf'{library}.*pip install "franchise\[report\]"'):
        write_report(
            tmp_path / "r.html",
            posterior,
            corpus,
            chains,
            Diagnosis(None, None, None, False, [], []),
            SETTINGS,
        )

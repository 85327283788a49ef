import base64
import hashlib
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from franchise.corpus import from_counts, from_texts
from franchise.errors import FranchiseError
from franchise.posterior.diagnostics import Diagnosis
from franchise.report import documents, render, write_report
from franchise.sampling import Chain, Timetable
from tests.raising import raises
from tests.unit.report.made import (
    SETTINGS,
    all_but_the_first,
    counted_draw,
    large_model,
    marked,
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


def test_marked_words_are_the_words_of_the_corpus(evil):
    corpus, elements = evil
    for one in elements.data("report-documents"):
        expected = [corpus.vocabulary[v] for v in corpus.document(one["number"])]
        assert [word.lower() for word, _ in marked(one)] == expected


# ---------------------------------------------------------------- whole pages


def words_of(path: Path) -> str:
    html = path.read_text(encoding="utf-8")
    return " ".join(re.sub(r"<[^>]*>", " ", html[: html.index('<script type="application/json"')]).split())


def test_page_of_one_topic_and_one_chain(tmp_path):
    corpus = from_texts(["cat dog", "cat", "dog dog cat"])
    chain = Chain(corpus, schedule=Timetable(sweeps=10, burn_in=5), init="one", random_state=0)
    chain.start()
    chain.draws.append(counted_draw(corpus, np.zeros(corpus.n_words, np.int64), 6))
    text = words_of(report_of(tmp_path / "r.html", corpus, [chain]))
    assert "1 topic" in text
    assert "Done once, with nothing to compare The program divided the texts once." in text
    assert "This topic may not come out again." in text
    assert "1 of 1" in text


def test_page_of_one_chain_after_short_runs(tmp_path):
    """Topics of the only chain are firm if most short runs found them; whether chains agree stays open."""
    corpus = from_texts(small_texts(80), max_df=1.0)
    path = tmp_path / "r.html"
    text = words_of(report_of(path, corpus, run_chains(corpus, 1), find_support=all_but_the_first))
    assert re.search(r"\d topics? came out again and again, with \d+% of the words", text)
    assert "Another thorough division may still have other topics" in text
    assert "Done once, and compared with short runs only" in text
    assert "Rely most on a topic that at least half of the short runs found" in text
    assert "Every chain and" not in text


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
    chains = [
        Chain(corpus, schedule=Timetable(sweeps=100, burn_in=50), number=c, random_state=0) for c in range(3)
    ]
    chains[0].run(20)
    chains[1].run(20)
    text = words_of(report_of(tmp_path / "r.html", corpus, chains))
    assert "the program has gone over all words 20 of 100 times, in 2 of 3 tries." in text
    assert "The program has not kept an answer yet" in text


def test_page_of_chains_of_which_one_has_draws(tmp_path):
    corpus = from_texts(small_texts())
    chains = [
        Chain(corpus, schedule=Timetable(sweeps=60, burn_in=30), number=c, random_state=0) for c in range(2)
    ]
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
    assert "alpha 1.0, 1.0" in text
    assert "burn in none" in text
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
    with raises(FranchiseError, "file-exists", path, "overwrite=True"):
        small_report(path)
    assert path.read_text() == "mine"
    assert small_report(str(path), overwrite=True) == path
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_refuses_a_folder(tmp_path):
    with raises(FranchiseError, "is-a-folder", tmp_path):
        small_report(tmp_path)


def test_says_how_to_get_what_is_missing(small, tmp_path, monkeypatch):
    corpus, chains, posterior = small
    monkeypatch.delitem(sys.modules, "franchise.report.render", raising=False)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with raises(FranchiseError, "missing-package", "jinja2", 'pip install "franchise[report]"'):
        write_report(
            tmp_path / "r.html",
            posterior,
            corpus,
            chains,
            Diagnosis(None, None, None, False, [], ()),
            SETTINGS,
        )

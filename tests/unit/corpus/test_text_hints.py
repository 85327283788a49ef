"""Hints about texts: where they help, and none where all is well."""

import time
import warnings

import numpy as np
import pytest

from franchise import HDPTopicModel, from_counts, from_texts, from_tokens
from franchise.corpus import drop_duplicates, planted, read_corpus, shard, text_hints
from franchise.corpus.data_warnings import corpus_warnings
from franchise.corpus.html import html_in, without_html
from franchise.datasets import arxiv_abstracts, arxiv_months
from franchise.errors import CorpusError, FranchiseWarning
from tests.raising import check, raises

PARTS = {
    "german": [
        "der Hund und die Katze sind in dem Haus, aber sie haben nicht mit dem Vogel gesprochen",
        "wir haben gestern nach einer Antwort auf die Frage gesucht, die bei uns nicht gestellt wird",
        "es gibt noch viele Wege durch den Wald, wenn man nur weiß, wo sie beginnen",
    ],
    "french": [
        "le chien et le chat sont dans la maison, mais ils ne parlent pas avec les oiseaux",
        "nous avons cherché une réponse à la question qui nous est posée par cette étude",
        "il y a encore beaucoup de chemins dans les bois pour ceux qui ont le temps",
    ],
    "spanish": [
        "el perro y el gato están en la casa, pero no hablan con los pájaros de la calle",
        "hemos buscado una respuesta a la pregunta que se nos hace en este estudio sobre los bosques",
        "hay muchos caminos por el monte para los que tienen tiempo y no tienen miedo",
    ],
    "Swedish": [
        "hunden och katten är i huset, men de har inte talat med fågeln som är på taket",
        "vi har sökt ett svar på frågan som inte har ställts, och det är att det kan ta tid",
        "det är en lång väg till skogen för den som har tid med att gå på den och se",
    ],
    "Russian": [
        "собака и кошка в доме, но они не говорят с птицами, потому что это не для них",
        "мы искали ответ на вопрос, который не был задан, и он так же стар, как и все",
        "по лесу много дорог, но из него не выйти за день, если он не знает, что это лес",
    ],
}
ENGLISH = [
    "the dog and the cat are in the house, but they have not spoken with the birds on the roof",
    "we have looked for an answer to the question that was not asked of us in this study",
    "there are still many ways through the wood for those who have the time to walk them",
]


def texts_in(parts, n=60):
    """Return texts of words drawn from these sentences, as no two documents are alike."""
    rng, words = np.random.default_rng(0), " ".join(parts).split()
    return [" ".join(rng.choice(words, 40)) for _ in range(n)]


# ---------------------------------------------------------------- none


@pytest.mark.parametrize("keep_texts", [True, False])
def test_no_hint_about_data_that_come_with_the_package(keep_texts):
    abstracts, months = arxiv_abstracts(), arxiv_months()["words"]
    for texts in (abstracts, abstracts[:80], [text[:100] for text in abstracts], months):
        assert corpus_warnings(from_texts(texts, keep_texts=keep_texts)) == []
    assert corpus_warnings(from_tokens([text.lower().split() for text in abstracts])) == []
    assert corpus_warnings(from_counts(from_texts(abstracts).to_counts())) == []
    assert (
        corpus_warnings(planted(n_documents=300, document_length=50, n_topics=5, n_terms=1500, seed=1).corpus)
        == []
    )


def test_hints_cost_little():
    """Of a large corpus, hints take a small part of the time that splitting it takes."""
    texts = arxiv_abstracts() * 5
    begin = time.process_time()
    corpus = from_texts([f"{text} number{i}" for i, text in enumerate(texts)])
    made = time.process_time()
    text_hints.text_hints(corpus)
    assert time.process_time() - made < 0.5 * (made - begin)


# ---------------------------------------------------------------- languages


@pytest.mark.parametrize("language", PARTS)
@pytest.mark.parametrize("keep_texts", [True, False])
def test_texts_in_another_language(language, keep_texts):
    texts = texts_in(PARTS[language])
    (doubt,) = corpus_warnings(from_texts(texts, max_df=1.0, keep_texts=keep_texts))
    check(doubt, "other-language", "100%", language.capitalize(), "English")
    advice = f"stop_words={language!r}" if language.islower() else "--stop-words"
    check(doubt, "other-language", advice)
    for stop_words in (None, ["hund"], *([language] if language.islower() else [])):
        assert corpus_warnings(from_texts(texts, max_df=1.0, stop_words=stop_words)) == []


def test_english_with_other_stop_words():
    (doubt,) = corpus_warnings(from_texts(texts_in(ENGLISH), max_df=1.0, stop_words="german"))
    check(doubt, "other-language", "English", "German", "stop_words='english'")
    assert corpus_warnings(from_texts(texts_in(ENGLISH), max_df=1.0)) == []


@pytest.mark.parametrize(("n_german", "is_told"), [(2, False), (8, False), (20, True), (50, True)])
def test_a_few_texts_in_another_language_do_not_matter(n_german, is_told):
    texts = texts_in(PARTS["german"], n_german) + texts_in(ENGLISH, 60)[n_german:]
    found = corpus_warnings(from_texts(texts, max_df=1.0))
    assert [doubt.code for doubt in found] == ["other-language"] * is_told
    if is_told:
        check(found[0], "other-language", f"{n_german / 60:.0%}")


# ---------------------------------------------------------------- no spaces

PHRASES = {
    "Chinese": "主题模型发现文档 集合中的主题 我们研究了大量的 新闻文章 结果表明这种方法 非常有效",
    "Japanese": "トピックモデルは文書の 集まりから話題を見つけます 私たちは多くの 新聞記事を調べました",
    "Thai": "แบบจำลองหัวข้อค้นหาหัวข้อ ในชุดเอกสาร เราศึกษาบทความข่าวจำนวนมาก ผลลัพธ์แสดงให้เห็นว่า วิธีนี้ได้ผลดี",
}


@pytest.mark.parametrize(
    ("language", "package", "keep_texts"),
    [
        ("Chinese", "jieba", True),
        ("Chinese", "jieba", False),
        ("Japanese", "fugashi", True),
        ("Japanese", "fugashi", False),
        ("Thai", "pythainlp", True),
    ],
)
def test_texts_without_spaces(language, package, keep_texts):
    rng, phrases = np.random.default_rng(0), PHRASES[language].split()
    texts = ["，".join("".join(rng.choice(phrases, 2)) for _ in range(12)) for _ in range(60)]
    corpus = from_texts(texts, min_df=1, max_df=1.0, keep_texts=keep_texts)
    (doubt,) = corpus_warnings(corpus)
    check(doubt, "no-spaces", language, package)


def test_texts_with_spaces():
    """Words of a tokenizer, English texts with some Chinese, and Korean, which has spaces."""
    chinese = "主题 模型 发现 文档 集合 中 的 主题 我们 研究 了 大量 的 新闻 文章 结果 表明 方法 有效"
    korean = "토픽 모델은 문서 모음에서 주제를 찾습니다 우리는 많은 기사를 조사했습니다 결과는 좋았습니다"
    some = [f"{text} 主题模型发现文档集合" for text in texts_in(ENGLISH)]
    for texts in (texts_in([chinese]), texts_in([korean]), some):
        assert corpus_warnings(from_texts(texts, max_df=1.0)) == []


# ---------------------------------------------------------------- HTML


@pytest.mark.parametrize("html", ["Q&amp;A", "<br/>", "<a href='x'>y</a>", "caf&#233;", "<jats:p>z</jats:p>"])
def test_html(html):
    texts = [f"{text} {html if i % 10 == 0 else ''}" for i, text in enumerate(arxiv_abstracts()[:100])]
    (doubt,) = corpus_warnings(from_texts(texts))
    check(doubt, "html-in-texts", "10%", "strip_html=True")
    corpus = from_texts(texts, strip_html=True)
    assert corpus_warnings(corpus) == []
    assert not {"amp", "br", "href", "jats", "233"} & set(corpus.vocabulary)
    assert not any(("<" in text and ">" in text) or "&amp;" in text for text in corpus.texts[::10])
    assert text_options_survive(corpus)


def text_options_survive(corpus):
    return type(corpus.text_options).from_dict(corpus.text_options.as_dict()) == corpus.text_options


def test_html_in_two_documents_is_no_hint():
    texts = arxiv_abstracts()[:100]
    texts[3], texts[7] = "Q&amp;A " + texts[3], "<br> " + texts[7]
    assert corpus_warnings(from_texts(texts)) == []


@pytest.mark.parametrize(
    "text",
    ["p < 0.05 and q > 0.1", "the mean <p> of <x>", "AT&T; R&D", "a <- b", "x<y>z", "List<String> x = 1"],
)
def test_what_is_no_html(text):
    assert html_in(text) == ""


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("AT&amp;T caf&eacute;s &#8211; x", "AT&T cafés – x"),
        ("<p>One</p><p>two</p>", " One  two "),
        ("H<sub>2</sub>O is <b>w</b>et", "H2O is wet"),
        ("a<script>if (x < 1) y()</script>b<!-- c -->d", "a b d"),
        ('<a href="https://x.org/?a=1">link</a>', "link"),
        ("p < 0.05 > 0.01", "p < 0.05 > 0.01"),
        ("one<BR/>two", "one two"),
        ("", ""),
    ],
)
def test_html_is_taken_out(text, plain):
    assert without_html(text) == plain


def test_new_texts_lose_html_too():
    texts = [f"<b>{text}</b> &amp; more" for text in arxiv_abstracts()[:60]]
    settings = {"sweeps": 4, "chains": 1, "random_state": 0, "verbose": 0, "init": "one"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = HDPTopicModel(**settings, text_options={"strip_html": True}).fit(texts)
        plain = [without_html(text) for text in texts]
        assert (model.transform(texts[:5]) == model.transform(plain[:5])).all()
    assert list(model.corpus_.texts) == plain
    assert "HTML" in model.methods()


# ---------------------------------------------------------------- duplicates and few documents


def test_duplicates():
    texts = arxiv_abstracts()[:60]
    corpus = from_texts(texts * 5)
    (doubt,) = corpus_warnings(corpus)
    check(doubt, "duplicate-documents", "240 of 300", "drop_duplicates", "--drop-duplicates")
    fewer = drop_duplicates(corpus)
    assert fewer.document_names == tuple(map(str, range(60)))
    assert fewer.texts == tuple(texts)
    assert corpus_warnings(fewer) == []
    assert drop_duplicates(fewer) is fewer


def test_what_is_no_duplicate():
    texts = arxiv_abstracts()[:100]
    assert corpus_warnings(from_texts(texts + texts[:4])) == []
    assert corpus_warnings(from_texts(texts + ["quantum field theory"] * 30)) == []  # short answers
    assert corpus_warnings(from_counts(np.ones((100, 20), int))) == []


@pytest.mark.parametrize("times", [1, 50])
def test_the_first_of_each_is_kept(times):
    """Also of counts that are kept as cells; empty documents are no duplicates."""
    counts = times * np.array([[1, 2, 0], [0, 0, 0], [2, 1, 0], [1, 2, 0], [0, 0, 0], [0, 0, 3], [2, 1, 0]])
    corpus = from_counts(counts)
    assert corpus.keeps_cells == (times > 1)
    kept = drop_duplicates(corpus)
    assert kept.document_names == ("0", "1", "2", "4", "5")
    assert (kept.to_counts().toarray() == counts[[0, 1, 2, 4, 5]]).all()


def test_duplicates_are_found_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (40, 6))
    rows[:, 0] = np.arange(1, 41)
    counts = rows[rng.integers(0, 40, 500)]
    monkeypatch.setattr("franchise.corpus.large_arrays.BLOCK", 64)
    _, first = np.unique(counts, axis=0, return_index=True)
    assert drop_duplicates(from_counts(counts)).document_names == tuple(map(str, np.sort(first)))


def test_shards_keep_duplicates(tmp_path):
    corpus = shard(arxiv_abstracts()[:20] * 3, tmp_path / "shards", 2)
    with raises(CorpusError, "in-shards", "franchise shard"):
        drop_duplicates(corpus)


@pytest.mark.parametrize(("n", "is_told"), [(2, True), (20, True), (49, True), (50, False)])
def test_few_documents(n, is_told):
    found = corpus_warnings(from_texts(arxiv_abstracts()[:n]))
    assert [doubt.code for doubt in found] == ["few-documents"] * is_told
    if is_told:
        check(found[0], "few-documents", f"only {n} documents")
    assert corpus_warnings(from_counts(np.arange(1, 2 * n + 1).reshape(n, 2))) == []


# ---------------------------------------------------------------- once, and not at all


def test_a_hint_comes_once_and_can_be_silenced():
    texts = [f"Q&amp;A {text}" for text in arxiv_abstracts()[:60]]
    model = HDPTopicModel(sweeps=4, chains=1, random_state=0, verbose=0, init="one")
    with pytest.warns(FranchiseWarning, match=r"\[html-in-texts\]$") as caught:
        model.fit(texts)
    assert [one.message.code for one in caught] == ["html-in-texts"]
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", r".*\[html-in-texts\]", FranchiseWarning)
        model.fit(texts)


# ---------------------------------------------------------------- files


def test_the_terms_that_gensim_writes(tmp_path):
    (tmp_path / "c.uci").write_text("2\n3\n2\n1 1 4\n2 3 1\n")
    (tmp_path / "c.uci.vocab").write_text("ant\nbee\ncat\n")
    (tmp_path / "c.lda-c").write_text("1 0:4\n1 2:1\n")
    (tmp_path / "c.lda-c.vocab").write_text("ant\nbee\ncat\n")
    for name in ("c.uci", "c.lda-c"):
        assert read_corpus(tmp_path / name).vocabulary == ("ant", "bee", "cat")
    (tmp_path / "c.uci.vocab").write_text("ant\nbee\n")
    with raises(CorpusError, "vocabulary-mismatch", "c.uci.vocab"):
        read_corpus(tmp_path / "c.uci")

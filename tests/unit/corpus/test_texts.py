import json
import pickle
import subprocess
import sys
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from franchise.corpus import TextOptions, from_texts, from_tokens
from franchise.errors import CorpusError, SettingsError
from tests.raising import raises

PLAIN = ["ant", "Ant", "bee", "cat", "dog", "a", "the", "and", "it's", "x_1", "42", "-", "\n"]
STRANGE = ["straße", "naïve", "İstanbul", "ΔΕΛΤΑ", "мир", "東京", "हिन्दी", "🐝", "bee🐝ant", "\ud800"]
ACCENTS = ["cafe\u0301", "caf\u00e9"]  # the same to the eye
WORDS = st.sampled_from([*PLAIN, *STRANGE, *ACCENTS])
TEXTS = st.lists(
    st.lists(WORDS, max_size=8).map(" ".join) | st.text(alphabet="ab .", max_size=9), min_size=1, max_size=9
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "lowercase": st.booleans(),
        "token_pattern": st.sampled_from([r"(?u)\b\w\w+\b", r"\S+", r"[a-z]+", r"(\w)\w*"]),
        "stop_words": st.sampled_from(["english", None, ["ant", "bee"], []]),
        "ngram_range": st.sampled_from([(1, 1), (1, 2), (2, 3)]),
        "min_df": st.sampled_from([1, 2, 0.0, 0.3]),
        "max_df": st.sampled_from([1.0, 0.6, 3, 1]),
        "max_features": st.integers(1, 9),
    },
)


def counted(texts, options):
    """Vocabulary and counts by scikit-learn alone; None where it finds nothing, or the limits cross."""
    full = {"stop_words": "english", "min_df": 1, "max_df": 1.0} | options
    vectorizer = CountVectorizer(**full)
    try:
        counts = vectorizer.fit_transform(texts)
    except ValueError:
        return None
    return tuple(vectorizer.get_feature_names_out()), counts.toarray()


# ---------------------------------------------------------------- from_texts


@given(TEXTS, OPTIONS)
def test_terms_and_counts_are_those_of_scikit_learn(texts, options):
    limit = options.pop("max_features", None)  # ties are tested below
    expected = counted(texts, options)
    if expected is None:
        with pytest.raises((CorpusError, SettingsError)):
            from_texts(texts, **options)
        return
    vocabulary, counts = expected
    corpus = from_texts(texts, **options)
    assert corpus.vocabulary == vocabulary
    assert np.array_equal(corpus.to_counts().toarray(), counts)
    if limit is None:
        return
    by_size = sorted(zip(-counts.sum(axis=0), vocabulary))
    most = from_texts(texts, max_features=limit, **options)
    assert most.vocabulary == tuple(sorted(term for _, term in by_size[:limit]))
    if (
        limit < len(by_size) and by_size[limit - 1][0] < by_size[limit][0]
    ):  # scikit-learn's ties may fall anyhow
        theirs, their_counts = counted(texts, options | {"max_features": limit})
        assert most.vocabulary == theirs
        assert np.array_equal(most.to_counts().toarray(), their_counts)


@given(TEXTS, OPTIONS)
def test_words_are_those_of_the_text_in_its_order(texts, options):
    assume(counted(texts, options) is not None)
    corpus = from_texts(iter(texts), **options)
    splitting = ("lowercase", "token_pattern", "stop_words", "ngram_range")
    full = {"stop_words": "english"} | options
    analyze = CountVectorizer(**{name: full[name] for name in splitting if name in full}).build_analyzer()
    terms = set(corpus.vocabulary)
    words = [[word for word in analyze(text) if word in terms] for text in texts]
    assert corpus == from_tokens(words, vocabulary=corpus.vocabulary)
    assert corpus.texts == tuple(texts)
    assert corpus.text_options == TextOptions(**options)


def test_a_small_example_by_hand():
    corpus = from_texts(["The cat saw a bee; the bee saw the CAT.", "", "Eels and bees", "the of and"])
    assert corpus.vocabulary == ("bee", "bees", "cat", "eels", "saw")
    assert [corpus.vocabulary[v] for v in corpus.document(0)] == ["cat", "saw", "bee", "bee", "saw", "cat"]
    assert corpus.document_lengths.tolist() == [6, 0, 2, 0]  # empty documents stay
    assert corpus.document_names == ("0", "1", "2", "3")


def test_defaults_depend_on_the_number_of_documents():
    def texts(n):  # every: in all; half: in half; pair: in two; once: in one
        first = ["every half pair once", "every half pair"]
        return first + ["every half"] * (n // 2 - 2) + ["every"] * (n - n // 2)

    assert from_texts(texts(49), stop_words=None).vocabulary == ("every", "half", "once", "pair")
    assert from_texts(texts(50), stop_words=None).vocabulary == ("half", "pair")
    kept = from_texts(texts(50), stop_words=None, min_df=1, max_df=1.0).vocabulary
    assert kept == ("every", "half", "once", "pair")
    assert from_texts(texts(50), stop_words=None, max_df=24, min_df=1).vocabulary == ("once", "pair")


def test_ties_for_the_last_place_go_by_the_alphabet():
    terms = [f"term{i:03}" for i in range(200)]  # many: sorting that is not stable would show
    texts = [" ".join(reversed(terms)), "term150"]
    assert from_texts(texts, max_features=3).vocabulary == ("term000", "term001", "term150")


def test_the_order_of_documents_changes_nothing_else(seed):
    rng = np.random.default_rng(seed)
    terms = ["ant", "bee", "cat", "dog", "eel", "fox"]
    texts = [" ".join(rng.choice(terms, rng.integers(0, 9))) for _ in range(60)]
    order = rng.permutation(60)
    corpus = from_texts(texts, max_df=0.9)
    assert (
        from_texts([texts[j] for j in order], max_df=0.9).fingerprint() == corpus.select(order).fingerprint()
    )


def test_texts_can_be_left_out():
    corpus = from_texts((text for text in ["ant bee", "bee"]), keep_texts=False)
    assert corpus.texts is None
    assert corpus.text_options == TextOptions()
    assert corpus == from_texts(["ant bee", "bee"])


def test_names():
    assert from_texts(["ant", "bee"], document_names=["p", "q"]).document_names == ("p", "q")
    series = pd.Series(["ant", "bee"], index=["r", 7])
    assert from_texts(series).document_names == ("r", "7")
    assert from_texts(series, document_names=["p", "q"]).document_names == ("p", "q")
    with raises(CorpusError, "wrong-length", "1 document names", "2 documents"):
        from_texts(["ant", "bee"], document_names=["p"])


def test_strings_of_numpy_become_plain():
    corpus = from_texts(np.array(["Ant bee", "bee"]), lowercase=False)
    assert {type(text) for text in corpus.texts} == {str}
    assert {type(term) for term in corpus.vocabulary} == {str}


def test_a_pattern_with_one_group_takes_the_group():
    assert from_texts(["#ant bee #cat"], token_pattern=r"#(\w+)").vocabulary == ("ant", "cat")


@pytest.mark.parametrize(
    ("missing", "shown"),
    [
        (None, "None (NoneType)"),
        (float("nan"), "nan (float)"),
        (pd.NA, "<NA> (NAType)"),
        (3, "3 (int)"),
        (b"ant", "b'ant' (bytes)"),
        (["ant", "bee"], "['ant', 'bee'] (list)"),
    ],
)
def test_what_is_no_text_is_named_by_its_number(missing, shown):
    with raises(CorpusError, "not-a-text", "document 2", shown):
        from_texts(["ant", "", missing, "bee"])


@pytest.mark.parametrize(
    ("texts", "options", "code", "facts"),
    [
        ("ant bee", {}, "single-string", ("the texts",)),
        (b"ant bee", {}, "single-string", ("the texts",)),
        ({"a": "ant"}, {}, "unordered-collection", ("the texts", "dict")),
        ({"ant", "bee"}, {}, "unordered-collection", ("the texts", "set")),
        (None, {}, "wrong-type", ("the texts", "None (NoneType)")),
        ([], {}, "empty-corpus", ()),
        (
            ["", " "],
            {},
            "no-words-found",
            ("2 texts", "token_pattern=", "stop_words='english'"),
        ),
        (["the and"], {}, "no-words-found", ("stop_words='english'",)),
        (
            ["a b"],
            {"stop_words": None},
            "no-words-found",
            ("1 texts", "token_pattern='"),
        ),
        (["ant", "bee"], {"ngram_range": (2, 2)}, "no-words-found", ("ngram_range=(2, 2)",)),
        (
            ["ant bee", "bee cat", "bee"],
            {"min_df": 2, "max_df": 2},
            "no-terms-left",
            ("3 terms", "2 are", "2 documents (min_df)", "1 in more than 2 (max_df)"),
        ),
    ],
)
def test_texts_refused(texts, options, code, facts):
    with raises(CorpusError, code, *facts):
        from_texts(texts, **options)


def test_repeats_within_a_document_are_one_document():
    # More repeats than a byte counts.
    corpus = from_texts(["ant " * 300, "ant bee", "bee"], min_df=2)
    assert corpus.term_counts.tolist() == [301, 2]


# ---------------------------------------------------------------- options


@given(OPTIONS.filter(lambda options: (options.get("min_df"), options.get("max_df")) != (2, 1)))
def test_options_survive_json_and_pickle(given_options):
    options = TextOptions(**given_options)
    written = options.as_dict()
    read = json.loads(json.dumps(written))
    assert read == written
    assert TextOptions.from_dict(read) == options
    assert hash(TextOptions.from_dict(read)) == hash(options)
    assert pickle.loads(pickle.dumps(options)) == options


def test_numbers_keep_their_kind_in_json():
    # 1 is one document, 1.0 is all of them.
    for share in (1, 1.0):
        read = TextOptions.from_dict(json.loads(json.dumps(TextOptions(max_df=share).as_dict())))
        assert type(read.max_df) is type(share)


def test_options_become_plain():
    options = TextOptions(
        lowercase=np.bool_(True),
        stop_words={"bee", "ant"},
        ngram_range=[1, np.int64(2)],
        min_df=np.int32(3),
        max_df=np.float32(0.5),
        max_features=np.int64(7),
    )
    assert options == TextOptions(
        stop_words=["ant", "bee", "ant"], ngram_range=(1, 2), min_df=3, max_df=0.5, max_features=7
    )
    assert json.dumps(options.as_dict())
    assert options.stop_words == ("ant", "bee")


@pytest.mark.parametrize(
    ("options", "code", "facts"),
    [
        ({"lowercase": "no"}, "not-a-flag", ("lowercase='no'",)),
        ({"token_pattern": "(ant"}, "bad-pattern", ("token_pattern='(ant'", "missing )")),
        ({"token_pattern": None}, "wrong-type", ("token_pattern=None",)),
        (
            {"token_pattern": r"(\w)(\w)"},
            "bad-pattern",
            ("2 groups", "(?:"),
        ),
        ({"token_pattern": r"\w*"}, "bad-pattern", ("+", "*")),
        ({"token_pattern": "a{99999999999999}"}, "bad-pattern", ("token_pattern='a{99999999999999}'",)),
        (
            {"stop_words": "latin"},
            "unknown-stop-words",
            ("stop_words='latin'", "'english'", "'dutch'", "'french'"),
        ),
        ({"stop_words": ["ant", 3]}, "unknown-stop-words", ("stop_words=['ant', 3]", "'english'", "'dutch'")),
        ({"stop_words": 3}, "unknown-stop-words", ("stop_words=3",)),
        ({"stop_words": b"ant"}, "unknown-stop-words", ("stop_words=b'ant'",)),
        ({"ngram_range": (2, 1)}, "not-a-range", ("ngram_range=(2, 1)",)),
        ({"ngram_range": (0, 1)}, "not-a-range", ("ngram_range=(0, 1)",)),
        ({"ngram_range": (1, 1.5)}, "not-a-range", ("ngram_range=(1, 1.5)",)),
        ({"ngram_range": (1, 2, 3)}, "not-a-range", ("ngram_range=(1, 2, 3)",)),
        ({"ngram_range": 2}, "not-a-range", ("ngram_range=2",)),
        ({"ngram_range": "12"}, "not-a-range", ("ngram_range='12'",)),
        (
            {"min_df": 0},
            "out-of-range",
            ("min_df=0", "0.0 to 1.0", "1 or more"),
        ),
        ({"min_df": 1.5}, "out-of-range", ("min_df=1.5",)),
        ({"min_df": True}, "out-of-range", ("min_df=True",)),
        ({"max_df": -0.1}, "out-of-range", ("max_df=-0.1",)),
        ({"max_df": float("nan")}, "out-of-range", ("max_df=nan",)),
        ({"max_df": "half"}, "out-of-range", ("max_df='half'",)),
        ({"max_features": 0}, "not-a-whole-number", ("max_features=0", "1 or more")),
        ({"max_features": 10.0}, "not-a-whole-number", ("max_features=10.0",)),
        ({"min_df": 5, "max_df": 4}, "conflicting-settings", ("min_df=5", "max_df=4")),
        ({"min_df": 0.5, "max_df": 0.4}, "conflicting-settings", ("min_df=0.5", "max_df=0.4")),
        (
            {"min_dff": 5},
            "unknown-option",
            ("min_dff", "lowercase, token_pattern, stop_words,"),
        ),
    ],
)
def test_options_refused(options, code, facts):
    with raises(SettingsError, code, *facts):
        from_texts(["ant", "bee"], **options)


def test_limits_that_cross_once_the_documents_are_known():
    with raises(SettingsError, "conflicting-settings", "min_df=3", "3 documents", "max_df=0.5 in 1.5"):
        from_texts(["ant"] * 3, min_df=3, max_df=0.5)
    with raises(SettingsError, "conflicting-settings", "max_df=0.5 in 30", "out of 60"):
        from_texts(["ant"] * 60, min_df=31)
    assert TextOptions(min_df=3, max_df=0.5).document_limits(6) == (3, 3.0)


# ---------------------------------------------------------------- imports


def test_the_slow_libraries_are_not_loaded_until_needed():
    code = (
        "import sys, franchise.corpus as c; c.as_corpus([['ant']]); c.as_corpus([[1]])\n"
        "print(*{'sklearn', 'pandas', 'scipy'} & set(sys.modules), 'then')\n"
        "c.as_corpus(['ant']); print(*{'sklearn'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["then", "sklearn"]


def test_unicode_by_hand():
    texts = ["Москва мир мир", "東京 東京都", "İzmir 🐝🐝 naïve", "cafe\u0301 caf\u00e9"]
    corpus = from_texts(texts)
    counts = Counter({corpus.vocabulary[v]: n for v, n in enumerate(corpus.term_counts)})
    # A combining mark ends a word for Python's \w, so the two spellings of one word differ; emoji are none.
    assert counts == Counter(
        {"москва": 1, "мир": 2, "東京": 1, "東京都": 1, "zmir": 1, "naïve": 1, "cafe": 1, "caf\u00e9": 1}
    )


def test_texts_are_kept_up_to_a_number_of_characters():
    texts = ["ant bee", "bee cat"]
    assert from_texts(texts, keep_texts=14).texts == ("ant bee", "bee cat")
    assert from_texts(texts, keep_texts=13).texts is None
    assert from_texts(texts, keep_texts=False).texts is None


@pytest.mark.parametrize("keep", [-1, 1.5, "yes"])
def test_a_number_of_characters_that_cannot_be(keep):
    with raises(SettingsError, "not-a-whole-number", "keep_texts="):
        from_texts(["ant bee"], keep_texts=keep)


def test_options_are_given_whole_or_one_by_one():
    options = TextOptions(stop_words=None, min_df=1)
    corpus = from_texts(["the ant", "the bee"], text_options=options)
    assert corpus.text_options is options
    assert corpus == from_texts(["the ant", "the bee"], stop_words=None, min_df=1)
    with raises(SettingsError, "conflicting-settings", "min_df", "text_options"):
        from_texts(["the ant"], text_options=options, min_df=2)

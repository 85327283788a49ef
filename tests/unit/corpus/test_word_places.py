import pytest
from hypothesis import given
from hypothesis import strategies as st

from franchise.corpus import TextOptions
from franchise.corpus.texts import build_locator

# A capital that becomes two characters (İ), sigmas, letters of other sizes, marks, words that English drops.
PIECES = ["İ", "I", "ẞ", "Σ", "ΑΣ", "ǅ", "ﬁ", "é", "e\u0301", "\u0307", "😀", "the", "Of", "ant", "BEE"]
texts = st.lists(st.sampled_from([*PIECES, " ", " ", "x-y", "\n", "."]) | st.text(max_size=3)).map("".join)

patterns = st.sampled_from(
    [r"(?u)\b\w\w+\b", r"\w+", r"\S+", r"[^\s]", r"(\w+)-", r"-(\w)?", r"\w(\w)?", r"[a-zß]+", r"(?<=t)\w"]
)
options = st.builds(
    TextOptions,
    lowercase=st.booleans(),
    token_pattern=patterns,
    stop_words=st.none() | st.just("english") | st.lists(st.sampled_from(["ant", "i", "e", ""])),
    ngram_range=st.tuples(st.integers(1, 3), st.integers(0, 2)).map(lambda pair: (pair[0], sum(pair))),
)


@given(options, texts)
def test_the_terms_are_those_of_the_analyzer(options, text):
    assert [found.term for found in build_locator(options)(text)] == options.build_analyzer()(text)


def folded(text):
    """Lower case; a sigma is the same letter at the end of a word and within."""
    return text.lower().replace("ς", "σ")


@given(options, texts)
def test_a_term_is_made_of_the_words_at_its_places(options, text):
    for term, places in build_locator(options)(text):
        assert options.ngram_range[0] <= len(places) <= options.ngram_range[1]
        there = [text[start:end] for start, end in places]
        if not options.lowercase:
            assert term == " ".join(there)
        elif "İ" not in text:
            assert folded(term) == folded(" ".join(there))
        else:  # a word may be half of what a capital becomes
            assert set(folded(term)) <= set(folded(" ".join(there)))


@given(options, texts)
def test_words_stand_in_the_order_of_the_text(options, text):
    for _, places in build_locator(options)(text):
        assert all(0 <= start <= end <= len(text) for start, end in places)
        assert list(places) == sorted(places)


@pytest.mark.parametrize(
    ("text", "places"),
    [("İİ ant", [(3, 6)]), ("ant İİ ant", [(0, 3), (7, 10)]), ("İant", [(1, 4)]), ("😀 ant", [(2, 5)])],
)
def test_places_are_those_of_the_text_as_it_was(text, places):
    locate = build_locator(TextOptions())
    assert [found.places for found in locate(text)] == [(place,) for place in places]


def test_an_optional_group_that_is_not_there_is_an_empty_word():
    locate = build_locator(TextOptions(token_pattern=r"-(\w)?", stop_words=None))
    assert locate("-a İ-") == [("a", ((1, 2),)), ("", ((4, 4),))]

"""Random small corpora and settings for Hypothesis, odd ones included."""

from hypothesis import strategies as st

from tests.reference.enumeration import Concentrations, seating_of

SEEDS = st.integers(0, 2**63 - 1)
_CONCENTRATION = st.floats(0.05, 10.0)
CONCENTRATIONS = st.builds(Concentrations, _CONCENTRATION, _CONCENTRATION, _CONCENTRATION)


@st.composite
def corpora(draw, max_documents=5, max_length=7, max_terms=4, filled=1):
    """Return (documents, n_terms): empty documents, unused terms, repeated words, a single term.

    At least `filled` documents have words.
    """
    n_terms = draw(st.integers(1, max_terms))
    words = st.integers(0, n_terms - 1)
    documents = [draw(st.lists(words, min_size=1, max_size=max_length)) for _ in range(filled)]
    documents += draw(st.lists(st.lists(words, max_size=max_length), max_size=max_documents - filled))
    return draw(st.permutations(documents)), n_terms


@st.composite
def seated_corpora(draw):
    """Return (documents, n_terms) and a seating of them where two tables, or more, have one topic."""
    documents, n_terms = draw(corpora(filled=2))
    tables = [[draw(st.integers(0, i)) for i in range(len(words))] for words in documents]
    topics = [{t: draw(st.integers(0, 4)) for t in dict.fromkeys(own)} for own in tables]
    *_, first, last = [own for own in topics if own]
    last[0] = first[0]
    return (documents, n_terms), seating_of(tables, topics)

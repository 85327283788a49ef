"""Random small corpora and settings for Hypothesis, odd ones included."""

from hypothesis import strategies as st

from tests.reference.enumeration import Concentrations

SEEDS = st.integers(0, 2**63 - 1)
_CONCENTRATION = st.floats(0.05, 10.0)
CONCENTRATIONS = st.builds(Concentrations, _CONCENTRATION, _CONCENTRATION, _CONCENTRATION)


@st.composite
def corpora(draw, max_documents=5, max_length=7, max_terms=4):
    """Return (documents, n_terms): empty documents, unused terms, repeated words, a single term."""
    n_terms = draw(st.integers(1, max_terms))
    words = st.lists(st.integers(0, n_terms - 1), max_size=max_length)
    documents = draw(st.lists(words, min_size=1, max_size=max_documents).filter(any))
    return documents, n_terms

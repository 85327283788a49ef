import pytest
from matplotlib.figure import Figure

from franchise.corpus import from_texts
from tests.unit.report.made import posterior_of, run_chains, small_texts


@pytest.fixture
def ax():
    return Figure().add_subplot()


@pytest.fixture(scope="module")
def small():
    corpus = from_texts(small_texts())
    chains = run_chains(corpus)
    return corpus, chains, posterior_of(corpus, chains)

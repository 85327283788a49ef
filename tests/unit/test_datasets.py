from franchise.datasets import arxiv_abstracts


def test_abstracts():
    abstracts = arxiv_abstracts()
    assert len(abstracts) == 2000
    assert all(abstract.strip() for abstract in abstracts)
    assert abstracts[0].startswith("A fully differential calculation in perturbative quantum chromodynamics")

from franchise.datasets import arxiv_abstracts, arxiv_months


def test_abstracts():
    abstracts = arxiv_abstracts()
    assert len(abstracts) == 2000
    assert all(abstract.strip() for abstract in abstracts)
    assert abstracts[0].startswith("A fully differential calculation in perturbative quantum chromodynamics")


def test_months():
    frame = arxiv_months()
    assert frame["month"].value_counts().tolist() == [80] * 16
    assert frame["month"].is_monotonic_increasing
    assert frame["id"].is_unique
    assert all(one.split() == sorted(one.split()) for one in frame["words"])
    # An id of arXiv begins with the month.
    assert (frame["month"].str.replace("-", "").str[2:] == frame["id"].str[:4]).all()

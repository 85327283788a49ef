"""Second fits have the documents that they should have, and both programs compare with them."""

import gzip

import numpy as np
import pytest

from benchmarks import agreement, replicability
from benchmarks.cases import cases, less_a_tenth
from benchmarks.refits import WAYS, documents_of, refits
from franchise.corpus import write_corpus
from franchise.corpus.synthetic import planted


@pytest.fixture(scope="module")
def truth():
    sizes = {"n_topics": 4, "n_terms": 60, "n_documents": 100, "document_length": 30}
    return planted(**sizes, seed=1, topic_concentration=0.1, document_concentration=0.5)


@pytest.fixture(scope="module")
def case(truth):
    return less_a_tenth("tiny", truth.corpus, (0.1,), truth.z)


@pytest.fixture
def folder(tmp_path, truth):
    """Two LDA-C corpora, one of them compressed."""
    for name in ("tiny", "packed"):
        (tmp_path / name).mkdir()
        write_corpus(truth.corpus, tmp_path / name / f"{name}.ldac")
        (tmp_path / name / f"{name}.vocab.txt").write_text("\n".join(truth.corpus.vocabulary) + "\n")
    plain = tmp_path / "packed" / "packed.ldac"
    (tmp_path / "packed" / "packed.ldac.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    return tmp_path


# ---------------------------------------------------------------- documents of a refit


def test_a_tenth_is_left_out_with_its_planted_topics(truth, case):
    assert case.corpus.n_documents == 90
    assert len(case.test) == 10
    np.testing.assert_array_equal(case.test[0], truth.corpus.document(9))
    is_kept = np.repeat(np.arange(100) % 10 != 9, truth.corpus.document_lengths)
    np.testing.assert_array_equal(case.truth.z, truth.z[is_kept])


def test_a_refit_has_the_documents_of_its_way():
    assert documents_of("seed", 200, 1).tolist() == list(range(200))
    order, part = documents_of("order", 200, 1), documents_of("90%", 200, 1)
    assert sorted(order) == list(range(200))
    assert (np.diff(order) < 0).any()
    assert np.unique(part).size == part.size == 180
    assert (np.diff(part) < 0).any()


@pytest.mark.parametrize("way", ["order", "90%"])
def test_the_number_of_a_refit_determines_its_documents(way):
    np.testing.assert_array_equal(documents_of(way, 200, 3), documents_of(way, 200, 3))
    assert documents_of(way, 200, 3).tolist() != documents_of(way, 200, 4).tolist()


def test_words_and_planted_topics_move_with_their_documents(case):
    others = refits(case, 1)
    assert tuple(others) == WAYS
    for way, other in others.items():
        assert other.corpus.vocabulary == case.corpus.vocabulary
        assert other.truth.corpus is other.corpus
        for place, j in enumerate(documents_of(way, case.corpus.n_documents, 1)):
            np.testing.assert_array_equal(other.corpus.document(place), case.corpus.document(j))
            theirs, ours = other.corpus.doc_ptr[place : place + 2], case.corpus.doc_ptr[j : j + 2]
            np.testing.assert_array_equal(other.truth.z[slice(*theirs)], case.truth.z[slice(*ours)])


# ---------------------------------------------------------------- corpora by name


def test_any_corpus_of_a_folder_can_be_named(folder):
    plain, packed = cases(None, folder, only=["tiny", "packed"])
    assert (plain.name, packed.name) == ("tiny", "packed")
    assert plain.corpus == packed.corpus
    assert plain.corpus.n_documents == 80
    assert len(plain.test) == 20


@pytest.mark.parametrize("main", [agreement.main, replicability.main])
def test_a_corpus_that_is_missing_is_named_at_once(main, folder, capsys):
    with pytest.raises(SystemExit) as ending:
        main(["--corpora", str(folder), "--only", "tiny", "nowhere"])
    assert ending.value.code == 2
    assert "there is no corpus 'nowhere'" in capsys.readouterr().err


# ---------------------------------------------------------------- programs


def shares_of(row, columns):
    """Return what a row has in the columns of the three ways, as numbers."""
    return [float(row[columns.index(way)].split("%")[0]) / 100 for way in WAYS]


def test_agreement_compares_with_three_second_fits(case):
    row = agreement.row(case, 0.1, "default", "own", 40, 2, 2)
    assert len(row) == len(agreement.COLUMNS)
    assert all(0.5 < share <= 1.0 for share in shares_of(row, agreement.COLUMNS))
    assert " of " in row[agreement.COLUMNS.index("seed")]
    assert len(row[agreement.COLUMNS.index("K")].split()) == 2


def test_without_a_second_seed_there_is_nothing_to_compare_with(case):
    row = agreement.row(case, 0.1, "gibbs", "truth", 10, 1, 2)
    assert [row[agreement.COLUMNS.index(way)] for way in WAYS] == ["-", "-", "-"]


def test_other_programs_fit_the_same_documents(case, monkeypatch):
    fitted = {"ours": [], "theirs": []}
    of_chains, lda = replicability.of_chains, replicability.lda

    def ours(case, *rest):
        fit = of_chains(case, *rest)
        fitted["ours"].append((case.corpus.fingerprint(), fit.weights.size))
        return fit

    def theirs(case, eta, seed, n_topics=5):
        fitted["theirs"].append((case.corpus.fingerprint(), seed, n_topics))
        return lda(case, eta, seed, n_topics)

    monkeypatch.setattr(replicability, "of_chains", ours)
    monkeypatch.setattr(replicability, "lda", theirs)
    names, settings = ["franchise", "LDA same"], {"sweeps": 40, "chains": 2}
    table = list(replicability.rows(case, 0.1, names, 3, settings))
    assert [row[2] for row in table] == names
    for row in table:
        assert len(row) == len(replicability.COLUMNS)
        assert all(0.0 <= share <= 1.0 for share in shares_of(row, replicability.COLUMNS))
    # Three seeds, and two refits of each of the other ways; the seed is the number of the refit.
    assert [(one, size) for one, _, size in fitted["theirs"]] == fitted["ours"]
    assert [seed for _, seed, _ in fitted["theirs"]] == [0, 1, 1, 1, 2, 2, 2]
    assert len({one for one, _ in fitted["ours"]}) == 5


def test_a_quick_look_from_the_command(folder, capsys):
    common = ["--corpora", str(folder), "--only", "tiny", "--seeds", "2", "--sweeps", "12", "--chains", "2"]
    agreement.main([*common, "--methods", "default", "--kinds", "own"])
    replicability.main([*common, "--programs", "franchise", "gibbs"])
    printed = capsys.readouterr().out
    assert "Where chains end: 2 chains, 12 sweeps" in printed
    assert "Words in topics that all chains and second fits have: 2 chains" in printed
    assert "Words whose topic a second fit has too, 2 seeds" in printed

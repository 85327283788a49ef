"""Corpora in shards: the same corpus as in one piece, of which nothing is read before it is asked for."""

import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from franchise.corpus import (
    Corpus,
    ShardedCorpus,
    arrays_of_shard,
    from_counts,
    from_texts,
    from_tokens,
    open_shards,
    planted,
    read_corpus,
    read_shard,
    shard,
    shards_of,
    write_corpus,
)
from franchise.corpus.metadata import kind_of, plain_values
from franchise.corpus.shards.files import is_first, read_about
from franchise.errors import CorpusError, SettingsError
from tests.raising import raises

# What grows with the number of documents, under the names by which it is kept once it was asked for. Names
# and texts do not: each is read when it is asked for.
LAZY = {"doc_ptr", "_x", "metadata"}

TEXTS = [f"ant bee cat{i % 7} dog{i % 5} " * (i % 4) for i in range(200)]
YEARS = {
    "year": [str(2000 + i % 3) for i in range(200)],
    "who": ["Ann" if i % 2 else None for i in range(200)],
}


def corpus_of_texts() -> Corpus:
    return from_texts(TEXTS, document_names=[f"text {i}" for i in range(200)], metadata=YEARS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sharded") / "shards"
    shard(corpus_of_texts(), folder, 7)
    return folder


def touched(corpus: Corpus) -> set[str]:
    return LAZY & set(vars(corpus))


class TestSameCorpus:
    def test_it_equals_the_corpus_in_one_piece(self, folder: Path) -> None:
        one, many = corpus_of_texts(), open_shards(folder)
        assert one == many
        assert many == one
        assert many.x.tolist() == one.x.tolist()
        assert many.texts == one.texts
        assert many.text_options == one.text_options
        assert many.metadata is not None
        assert one.metadata is not None
        pd.testing.assert_frame_equal(one.metadata, many.metadata)
        assert np.array_equal(many.to_counts().toarray(), one.to_counts().toarray())
        assert repr(many) == repr(one)

    def test_what_all_documents_have_together_needs_no_shard(self, folder: Path, tmp_path: Path) -> None:
        one = corpus_of_texts()
        alone = tmp_path / "alone"
        shutil.copytree(folder, alone)
        shutil.rmtree(alone / "documents")
        many = open_shards(alone)
        assert (many.n_documents, many.n_words, many.n_terms) == (one.n_documents, one.n_words, one.n_terms)
        assert many.vocabulary == one.vocabulary
        assert many.term_counts.tolist() == one.term_counts.tolist()
        assert many.documents_of_length.tolist() == one.documents_of_length.tolist()
        assert many.fingerprint() == one.fingerprint()
        assert many.metadata_names == ("year", "who")
        assert not touched(many)
        with raises(CorpusError, "no-such-folder", alone):
            many.x  # noqa: B018
        (alone / "documents").mkdir()
        with raises(CorpusError, "no-such-file", ".words.safetensors"):
            many.x  # noqa: B018

    def test_documents_of_length_counts_empty_ones_first(self) -> None:
        assert Corpus([0, 0, 1], [0, 0, 2, 2, 3], ["a", "b"]).documents_of_length.tolist() == [2, 1, 1]

    def test_some_documents_are_read_from_their_shards_alone(self, folder: Path) -> None:
        one, many = corpus_of_texts(), open_shards(folder)
        chosen = [150, 3, 3, 199, 0, 77]
        few = many.select(chosen)
        assert few == one.select(chosen)
        assert few.texts == one.select(chosen).texts
        assert few.metadata is not None
        assert plain_values(few.metadata["who"]) == [YEARS["who"][j] for j in chosen]
        assert many.document(151).tolist() == one.document(151).tolist()
        terms, counts = many.runs(151)
        assert terms.tolist() == one.runs(151)[0].tolist()
        assert counts.tolist() == one.runs(151)[1].tolist()
        assert not touched(many)
        with raises(CorpusError, "no-such-document", "document 200", "0 to 199"):
            many.document(200)

    def test_names_and_texts_are_read_one_at_a_time(self, folder: Path) -> None:
        one, many = corpus_of_texts(), open_shards(folder)
        for ours, theirs in ((many.document_names, one.document_names), (many.texts, one.texts)):
            assert ours is not None
            assert theirs is not None
            assert (ours[7], ours[-1], ours[198:]) == (theirs[7], theirs[-1], tuple(theirs[198:]))
            assert ours == theirs
            assert theirs == ours
            assert ours != [*theirs[1:], ""]
            assert ours.index(theirs[9]) == theirs.index(theirs[9])
            assert "nothing like this" not in ours
            assert repr(ours) == "<200 strings in 7 shards>"
            with pytest.raises(IndexError):
                ours[200]
        assert not touched(many)

    def test_it_is_pickled_as_its_folder(self, folder: Path) -> None:
        many = open_shards(folder)
        content = pickle.dumps(many)
        assert len(content) < 1000
        again = pickle.loads(content)
        assert isinstance(again, ShardedCorpus)
        assert again == many

    def test_a_folder_that_holds_another_corpus_by_now_is_not_unpickled(self, tmp_path: Path) -> None:
        content = pickle.dumps(shard(["ant bee", "bee"], tmp_path / "s"))
        shard(["other words"], tmp_path / "s", overwrite=True)
        with raises(CorpusError, "corpus-mismatch", tmp_path / "s"):
            pickle.loads(content)

    def test_other_names_and_fewer_words_give_a_corpus_in_one_piece(self, folder: Path) -> None:
        one, many = corpus_of_texts(), open_shards(folder)
        assert many.downsampled(3, random_state=1) == one.downsampled(3, random_state=1)
        terms = [term.upper() for term in one.vocabulary]
        assert many.with_vocabulary(terms) == one.with_vocabulary(terms)
        assert many.with_metadata({"n": range(200)}) == one
        assert many.in_one_piece() == one
        assert not isinstance(many.in_one_piece(), ShardedCorpus)

    def test_other_names_of_terms_and_other_metadata_need_no_shard(self, folder: Path) -> None:
        one, many = corpus_of_texts(), open_shards(folder)
        terms = [term.upper() for term in one.vocabulary]
        changed = many.with_vocabulary(terms).with_metadata({"n": range(200)})
        assert isinstance(changed, ShardedCorpus)
        assert touched(changed) == {"metadata"}
        assert changed.metadata_names == ("n",)
        for same in (changed, pickle.loads(pickle.dumps(changed))):
            assert same == one.with_vocabulary(terms)
            assert same.fingerprint() == one.with_vocabulary(terms).fingerprint()
            assert same.select([5, 2]).metadata["n"].tolist() == [5, 2]
        assert not touched(many)
        assert many.vocabulary == one.vocabulary
        with raises(CorpusError, "vocabulary-mismatch", "1 names", f"{many.n_terms:,} terms"):
            many.with_vocabulary(["a"])
        with raises(CorpusError, "duplicate-term", "'a'"):
            many.with_vocabulary(["a"] * many.n_terms)

    def test_some_documents_of_a_few_shards(self, tmp_path: Path) -> None:
        corpus = planted(n_documents=1000, document_length=5, n_topics=3, n_terms=30, seed=1).corpus
        many = shard(corpus, tmp_path / "s", 50)
        for number in (1, 2, 30, 160, 1000):
            chosen = many.spread(number)
            assert len({many.shard_with(j).number for j in chosen.tolist()}) <= 8
            assert 0 < len(chosen) <= number
            assert np.all(np.diff(chosen) > 0)
        assert many.spread(30)[-1] == 999

    def test_documents_without_names_have_no_file_of_names(self, tmp_path: Path) -> None:
        corpus = from_tokens([["a", "b"], [], ["b"]])
        many = shard(corpus, tmp_path / "s", 2)
        assert many.document_names == ("0", "1", "2")
        assert (many.document_names[1], many.document_names[-1]) == ("1", "2")
        assert not list((tmp_path / "s" / "documents").glob("*.about.*"))
        assert shard(many, tmp_path / "again", 3) == corpus

    def test_large_counts_become_words(self, tmp_path: Path) -> None:
        cells = from_counts([[90, 3], [0, 80]])
        assert cells.keeps_cells
        assert shard(cells, tmp_path / "s") == cells


class TestShards:
    @pytest.mark.parametrize("number", [1, 2, 5, 64, 1000])
    def test_they_cover_the_documents(self, number: int) -> None:
        corpus = planted(n_documents=100, document_length=20, n_topics=3, n_terms=30, seed=1).corpus
        shards = shards_of(corpus, number)
        assert 1 <= len(shards) <= min(number, corpus.n_documents)
        assert [one.number for one in shards] == list(range(len(shards)))
        assert sum(one.n_documents for one in shards) == corpus.n_documents
        assert sum(one.n_words for one in shards) == corpus.n_words
        assert all(one.n_words and one.n_documents for one in shards)
        for one in shards:
            own = arrays_of_shard(corpus, one)
            rows = range(one.first_document, one.first_document + one.n_documents)
            assert own.x.tolist() == [v for j in rows for v in corpus.document(j).tolist()]
            assert own.doc_ptr[0] == 0
            assert own.doc_ptr[-1] == one.n_words == own.x.size
            assert one.n_not_empty == sum(corpus.document(j).size > 0 for j in rows)
            assert not own.x.flags.writeable
            assert own.n_terms == corpus.n_terms

    def test_they_have_about_equal_numbers_of_words(self) -> None:
        corpus = planted(n_documents=1000, document_length=20, n_topics=3, n_terms=30, seed=1).corpus
        sizes = [one.n_words for one in shards_of(corpus, 10)]
        assert len(sizes) == 10
        assert max(sizes) - min(sizes) < 200

    @pytest.mark.parametrize("lengths", [[0, 0, 5, 0, 0], [1, 100, 1], [100, 1, 0], [0, 1], [3]])
    def test_long_and_empty_documents(self, lengths: list[int], tmp_path: Path) -> None:
        corpus = Corpus(np.zeros(sum(lengths), int), np.cumsum([0, *lengths]), ["a"])
        shards = shards_of(corpus, 4)
        assert sum(one.n_documents for one in shards) == len(lengths)
        assert all(one.n_words for one in shards)
        many = shard(corpus, tmp_path / "s", 4)
        assert tuple(one._replace(digest="") for one in many.shards) == shards
        assert many == corpus
        assert shards_of(many, 99) == many.shards

    def test_a_shard_is_read_with_its_folder_and_nothing_else(self, folder: Path) -> None:
        one, many = corpus_of_texts(), open_shards(folder)
        third = pickle.loads(pickle.dumps(many.shards[3]))
        own = read_shard(str(folder), third)
        assert own.x.tolist() == arrays_of_shard(one, third).x.tolist()
        assert own.doc_ptr.tolist() == arrays_of_shard(many, third).doc_ptr.tolist()
        assert own.x.dtype == np.int32
        assert own.doc_ptr.dtype == np.int64
        assert own.n_terms == one.n_terms
        assert not own.x.flags.writeable
        assert not own.doc_ptr.flags.writeable
        names = read_about(folder, third).names
        assert names is not None
        assert names[0] == one.document_names[third.first_document]

    def test_shards_begin_where_pieces_end(self) -> None:
        before = np.array([0, 0, 3, 4, 8, 9, 10, 10])
        whole = is_first(before, -1, 10, 3)
        for cut in range(1, before.size):
            parts = is_first(before[:cut], -1, 10, 3), is_first(before[cut:], int(before[cut - 1]), 10, 3)
            assert np.concatenate(parts).tolist() == whole.tolist()

    def test_numbers_that_cannot_be(self) -> None:
        with raises(SettingsError, "not-a-whole-number", "shards=0"):
            shards_of(corpus_of_texts(), 0)


class TestWriting:
    def test_texts_that_come_one_after_the_other(self, tmp_path: Path) -> None:
        many = shard(iter(TEXTS), tmp_path / "s", 9)
        assert many == from_texts(TEXTS)
        assert many.fingerprint() == from_texts(TEXTS).fingerprint()
        assert many.text_options == from_texts(TEXTS).text_options

    def test_lists_of_words(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("franchise.corpus.batches._BATCH", 30)
        lists = [text.split() for text in TEXTS]
        assert shard(lists, tmp_path / "s", 9) == from_tokens(lists)

    def test_terms_are_left_out_by_all_documents(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("franchise.corpus.batches._BATCH", 11)
        expected = from_texts(TEXTS, max_features=4, min_df=3)
        assert shard(iter(TEXTS), tmp_path / "s", text_options=expected.text_options) == expected

    def test_corpora_with_different_terms(self, tmp_path: Path) -> None:
        parts = [from_tokens([["b", "a"], []]), from_tokens([["c", "b", "b"]]), from_tokens([["a"]])]
        many = shard(iter(parts), tmp_path / "s", 2)
        assert many.vocabulary == ("a", "b", "c")
        assert [[many.vocabulary[v] for v in many.document(j)] for j in range(4)] == [
            ["b", "a"], [], ["c", "b", "b"], ["a"],
        ]  # fmt: skip

    def test_columns_that_differ_in_kind_become_texts(self, tmp_path: Path) -> None:
        parts = [
            from_tokens([["a"], ["b"]], metadata={"when": ["2019-04-30", None], "n": [1, 2], "x": [1, 1]}),
            from_tokens([["a"]], metadata={"when": ["soon"], "n": [None], "y": [1]}),
            from_tokens([["a"]], metadata={"when": [1.5], "n": [4]}),
        ]
        metadata = shard(iter(parts), tmp_path / "s", 2).metadata
        assert metadata is not None
        assert metadata["when"].cat.categories.dtype == object
        assert list(metadata) == ["when", "n"]
        assert plain_values(metadata["when"]) == ["2019-04-30", None, "soon", "1.5"]
        assert plain_values(metadata["n"]) == [1, 2, None, 4]
        assert kind_of(metadata["n"]) == "number"

    def test_names_of_some(self, tmp_path: Path) -> None:
        parts = [from_tokens([["a"], ["b"]]), from_tokens([["a"]], document_names=["third"])]
        assert shard(iter(parts), tmp_path / "s").document_names == ("0", "1", "third")

    def test_nothing_is_left_of_what_fails(self, tmp_path: Path) -> None:
        def texts():
            yield from TEXTS
            raise OSError("the disk is gone")

        with pytest.raises(OSError, match="the disk is gone"):
            shard(texts(), tmp_path / "s")
        with raises(CorpusError, "no-words-found", "2 texts"):
            shard(["", "the"], tmp_path / "s")
        with raises(CorpusError, "wrong-type", "document 0", "3 (int)"):
            shard([3, 4], tmp_path / "s")
        with raises(CorpusError, "mixed-documents", "document 2"):
            shard(["ant", "bee", ["cat"]], tmp_path / "s")
        with raises(CorpusError, "not-a-word", "document 2, word 0", "5"):
            shard([["ant"], ["bee"], [5]], tmp_path / "s")
        with raises(CorpusError, "single-string", "documents"):
            shard("ant", tmp_path / "s")
        with raises(SettingsError, "not-a-whole-number", "shards=0"):
            shard(TEXTS, tmp_path / "s", 0)
        assert not list(tmp_path.iterdir())

    def test_only_shards_are_replaced(self, tmp_path: Path) -> None:
        shard(TEXTS, tmp_path / "s")
        with raises(CorpusError, "folder-exists", tmp_path / "s", "overwrite=True"):
            shard(["ant"], tmp_path / "s")
        assert shard(["ant"], tmp_path / "s", overwrite=True).n_documents == 1
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "mine.txt").write_text("mine")
        with raises(CorpusError, "not-shards", tmp_path / "other"):
            shard(["ant"], tmp_path / "other", overwrite=True)
        assert sorted(one.name for one in tmp_path.iterdir()) == ["other", "s"]

    def test_shards_whose_replacement_was_cut_off_are_found_again(self, tmp_path: Path) -> None:
        folder, old = tmp_path / "s", tmp_path / ".s.old"
        for read in (open_shards, read_corpus):
            shard(TEXTS, folder, overwrite=True)
            folder.rename(old)
            assert read(folder).n_documents == len(TEXTS)
            assert not old.exists()
        folder.rename(old)
        with raises(CorpusError, "folder-exists", folder):
            shard(["ant"], folder)
        assert sorted(one.name for one in tmp_path.iterdir()) == ["s"]

    def test_progress_ends_at_all_words(self, tmp_path: Path) -> None:
        seen: list[tuple[int, int]] = []
        many = shard(corpus_of_texts(), tmp_path / "s", 5, progress=lambda *now: seen.append(now))
        assert len(seen) == 5
        assert seen[-1] == (many.n_words, many.n_words)

    def test_a_shard_has_no_more_words_than_a_partition_can_count(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("franchise.corpus.shards.writing._MOST_WORDS", 20)
        many = shard(iter(TEXTS), tmp_path / "s", 1)
        assert len(many.shards) == -(-many.n_words // 20)

    def test_more_words_than_one_piece_can_have(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        many = shard(iter(TEXTS), tmp_path / "s")
        monkeypatch.setattr("franchise.corpus.shards.corpus.MAX_WORDS", 30)
        with raises(CorpusError, "too-many-words", "30 that", "engine='parallel'"):
            _ = many.x
        assert many.select(range(len(TEXTS))).n_words == many.n_words


class TestDamage:
    @pytest.fixture
    def own(self, folder: Path, tmp_path: Path) -> Path:
        return Path(shutil.copytree(folder, tmp_path / "own"))

    def test_without_its_list(self, own: Path) -> None:
        (own / "shards.json").unlink()
        with raises(CorpusError, "incomplete-shards", own, "shards.json"):
            read_corpus(own)

    def test_not_a_folder_of_shards(self, tmp_path: Path) -> None:
        with raises(CorpusError, "no-such-folder", tmp_path / "nowhere"):
            open_shards(tmp_path / "nowhere")
        with raises(CorpusError, "not-shards", tmp_path, "`franchise shard`"):
            open_shards(tmp_path)

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("{", "damaged-file"),
            ("[]", "damaged-file"),
            ("{}", "not-shards"),
            ('{"format": "franchise shards", "version": 6}', "damaged-file"),
        ],
    )
    def test_a_list_that_is_none(self, own: Path, text: str, code: str) -> None:
        (own / "shards.json").write_text(text)
        with raises(CorpusError, code, own / "shards.json", "write the shards again"):
            open_shards(own)

    def test_an_edited_list(self, own: Path) -> None:
        facts = json.loads((own / "shards.json").read_text())
        facts["documents"] += 1
        (own / "shards.json").write_text(json.dumps(facts))
        with raises(CorpusError, "damaged-file", "shards.json"):
            open_shards(own)

    def test_a_later_version(self, own: Path) -> None:
        facts = json.loads((own / "shards.json").read_text())
        (own / "shards.json").write_text(json.dumps(facts | {"version": 99}))
        with raises(CorpusError, "newer-format", "shards.json"):
            open_shards(own)

    def test_terms_of_another_corpus(self, own: Path, tmp_path: Path) -> None:
        shard(["other words"], tmp_path / "other")
        shutil.copy(tmp_path / "other" / "terms.safetensors", own)
        with raises(CorpusError, "files-disagree", "terms.safetensors", "shards.json"):
            open_shards(own)

    @pytest.mark.parametrize("kind", ["words", "about"])
    def test_a_damaged_shard(self, own: Path, kind: str) -> None:
        path = own / "documents" / f"00002.{kind}.safetensors"
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
        corpus = open_shards(own)
        with raises(CorpusError, "damaged-file", path):
            _ = corpus.x if kind == "words" else list(corpus.document_names)

    @pytest.mark.parametrize("kind", ["words", "about"])
    def test_a_shard_of_another_corpus(self, own: Path, tmp_path: Path, kind: str) -> None:
        changed = corpus_of_texts().select(np.arange(199, -1, -1))
        shard(changed, tmp_path / "other", 7)
        name = f"00002.{kind}.safetensors"
        shutil.copy(tmp_path / "other" / "documents" / name, own / "documents" / name)
        corpus = open_shards(own)
        with raises(CorpusError, "wrong-shard", name):
            _ = corpus.x if kind == "words" else corpus.metadata


class TestReading:
    def test_where_a_file_of_documents_is_read(self, folder: Path, tmp_path: Path) -> None:
        corpus = read_corpus(folder)
        assert isinstance(corpus, ShardedCorpus)
        assert corpus == corpus_of_texts()
        write_corpus(corpus, tmp_path / "one.franchise")
        assert read_corpus(tmp_path / "one.franchise") == corpus

    @pytest.mark.parametrize(
        "option", ["format", "text_column", "id_column", "vocabulary", "delimiter", "layer"]
    )
    def test_options_that_have_no_effect_are_refused(self, folder: Path, option: str) -> None:
        given = {"format": "csv", "delimiter": ";"}.get(option, "body")
        with raises(SettingsError, "does-not-apply", option):
            read_corpus(folder, **{option: given})

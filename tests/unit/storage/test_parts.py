"""Draws whose counts by document lie in parts: the same numbers, from files that others wrote."""

import pickle
import shutil
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from franchise import Chain, ModelError
from franchise._draws import Draw, PartsOfDraw, write_part
from franchise._files import read_arrays, write_arrays
from franchise.sampling import Timetable
from franchise.storage.chain import ChainWriter, load_chain
from franchise.storage.checkpoints import Overflow
from franchise.storage.draws import is_large, read_draw, write_draw
from tests.golden.fingerprint import PRIORS, arithmetic_corpus
from tests.raising import raises
from tests.unit.storage.test_draws import in_bits

CUTS = (0, 7, 8, 20)


@pytest.fixture(scope="module")
def chain():
    chain = Chain(arithmetic_corpus(), PRIORS, Timetable(sweeps=9, burn_in=2, thin=2), random_state=5)
    chain.run()
    return chain


def in_parts(folder, draw, cuts=CUTS):
    """Return the draw with its documents in parts, as workers would have left it."""
    counts = draw.of_documents(slice(None))
    ranges = [*pairwise([*cuts, counts.shape[0]])]
    parts = [write_part(folder, draw.sweep, first, counts[first:last]) for first, last in reversed(ranges)]
    return draw._replace(document_counts=PartsOfDraw(folder, draw.sweep, parts, counts.shape[1]))


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_draw_in_parts_is_the_draw(tmp_path, chain):
    draw = chain.draws[-1]
    parted = in_parts(tmp_path, draw)
    assert is_large(parted)
    assert isinstance(parted.document_counts, PartsOfDraw)
    write_draw(tmp_path, parted)
    opened = read_draw(tmp_path, draw.sweep, chain.corpus)
    assert in_bits(opened) == in_bits(draw)
    assert in_bits(pickle.loads(pickle.dumps(opened))) == in_bits(draw)
    assert not is_large(opened)
    assert opened.is_stored
    name = f"{draw.sweep:06d}"
    assert files(tmp_path) == [
        f"{name}.safetensors",
        *(f"{name}/{first:012d}.safetensors" for first in CUTS),
    ]


def test_some_documents(tmp_path, chain):
    draw, n = chain.draws[0], chain.corpus.n_documents
    parted = in_parts(tmp_path, draw)
    write_draw(tmp_path, parted)
    numbers = [np.array(some, np.int64) for some in ([], [3], [n - 1, 0, 0, 8, 5], range(n))]
    ranges = [slice(None), slice(0, 0), slice(2, 9), slice(n - 3, n + 7), slice(n, n + 1), slice(7, 3)]
    for one in (parted, read_draw(tmp_path, draw.sweep, chain.corpus)):
        for documents in (*numbers, *ranges):
            expected = draw.document_topics.toarray()[documents]
            found = one.of_documents(documents)
            assert found.dtype == np.int32
            assert found.shape == expected.shape
            assert found.toarray().tolist() == expected.tolist()
    with pytest.raises(IndexError, match=f"documents 0 to {n - 1}"):
        parted.of_documents(np.array([n]))


def test_little_of_it_is_in_memory_or_pickled(tmp_path, chain):
    draw = chain.draws[0]
    parted = in_parts(tmp_path, draw)
    assert parted.n_bytes == draw._replace(document_counts=sp.csr_array((0, 0))).n_bytes - 4
    parts = parted.document_counts
    before = len(pickle.dumps(parts))
    assert parts.rows(slice(None)).nnz == draw.document_topics.nnz
    assert len(pickle.dumps(parts)) < before + 100
    assert parts.shape == draw.document_topics.shape
    assert parts.n_bytes == sum(path.stat().st_size for path in tmp_path.rglob("*.safetensors"))


def test_a_part_is_read_when_its_documents_are_asked_for_and_checked_once(tmp_path, chain, monkeypatch):
    seen = []

    def noted(path, kind, **options):
        seen.append((path.stem, options["verified"]))
        return read_arrays(path, kind, **options)

    draw = chain.draws[0]
    write_draw(tmp_path, in_parts(tmp_path, draw))
    opened = read_draw(tmp_path, draw.sweep, chain.corpus)
    monkeypatch.setattr("franchise._draws.read_arrays", noted)
    for documents in (slice(0, 3), slice(3, 7), slice(8, 9), slice(0, 1)):
        opened.of_documents(documents)
    assert seen == [(f"{0:012d}", False), (f"{8:012d}", False), (f"{0:012d}", True)]


def test_files_are_narrow(tmp_path, chain):
    in_parts(tmp_path, chain.draws[0])
    for path in tmp_path.rglob("*.safetensors"):
        arrays, _ = read_arrays(path, "part of a draw")
        assert {arrays[part].dtype for part in ("data", "indices")} == {np.dtype(np.uint8)}


def test_documents_that_are_missing_or_there_twice(tmp_path, chain):
    parts = list(in_parts(tmp_path, chain.draws[0]).document_counts.parts)
    for wrong in ([], parts[1:], [parts[0], *parts], [parts[0], parts[2]]):
        with pytest.raises(ValueError, match="every document once"):
            PartsOfDraw(tmp_path, 3, wrong, 4)
    short = chain.draws[0]._replace(
        document_counts=PartsOfDraw(tmp_path, chain.draws[0].sweep, parts[:-1], parts[0].n_documents)
    )
    write_draw(tmp_path, short)
    with pytest.raises(ValueError, match="do not have every document"):
        read_draw(tmp_path, chain.draws[0].sweep, chain.corpus)


class TestDamage:
    @pytest.fixture
    def draw(self, tmp_path, chain):
        write_draw(tmp_path, in_parts(tmp_path, chain.draws[0]))
        return chain.draws[0]

    @pytest.fixture
    def part(self, tmp_path, draw):
        return tmp_path / f"{draw.sweep:06d}" / f"{7:012d}.safetensors"

    def test_a_part_that_is_gone(self, tmp_path, chain, draw, part):
        opened = read_draw(tmp_path, draw.sweep, chain.corpus)
        part.unlink()
        with raises(ModelError, "no-such-file", part, f"sweep {draw.sweep} "):
            read_draw(tmp_path, draw.sweep, chain.corpus)
        assert opened.of_documents(slice(0, 7)).shape[0] == 7
        with raises(ModelError, "no-such-file", part):
            opened.of_documents(slice(0, 8))

    def test_a_part_that_is_cut_off(self, tmp_path, chain, draw, part):
        part.write_bytes(part.read_bytes()[:-3])
        with raises(ModelError, "damaged-file", part):
            read_draw(tmp_path, draw.sweep, chain.corpus)

    def test_a_bit_that_has_changed(self, tmp_path, chain, draw, part):
        content = bytearray(part.read_bytes())
        content[-1] ^= 1
        part.write_bytes(content)
        opened = read_draw(tmp_path, draw.sweep, chain.corpus)
        with raises(ModelError, "damaged-file", part):
            opened.of_documents(np.array([7]))

    def test_a_part_of_another_draw(self, tmp_path, chain, draw, part):
        other = chain.draws[1]
        in_parts(tmp_path, other)
        strange = tmp_path / f"{other.sweep:06d}" / part.name
        shutil.copy(strange, part)
        parts = read_arrays(tmp_path / f"{draw.sweep:06d}.safetensors", "draw")[1]["parts"]
        parts[1][2] = part.stat().st_size
        arrays, facts = read_arrays(tmp_path / f"{draw.sweep:06d}.safetensors", "draw")
        write_arrays(tmp_path / f"{draw.sweep:06d}.safetensors", "draw", arrays, facts | {"parts": parts})
        opened = read_draw(tmp_path, draw.sweep, chain.corpus)
        with raises(ModelError, "damaged-file", part):
            opened.of_documents(slice(None))

    def test_counts_that_would_crash(self, tmp_path, chain, draw, part):
        arrays, facts = read_arrays(part, "part of a draw")
        arrays["indices"] = np.full_like(arrays["indices"], 200)
        write_arrays(part, "part of a draw", arrays, facts)
        opened = read_draw(tmp_path, draw.sweep, chain.corpus)
        with raises(ModelError, "damaged-file", part):
            opened.of_documents(slice(None))


class TestChains:
    @pytest.fixture
    def parted(self, tmp_path, chain):
        """A chain that has all draws in parts, which workers left in a folder of their own."""
        own = Chain(chain.corpus, PRIORS, Timetable(sweeps=9, burn_in=2, thin=2), random_state=5)
        own.run()
        of_sweep: dict[int, Draw] = {}
        for draw in [*own.draws, own.mode]:
            if draw.sweep not in of_sweep:
                of_sweep[draw.sweep] = in_parts(tmp_path / "workers", draw)
            own.exchange(draw, of_sweep[draw.sweep])
        assert all(isinstance(draw.document_counts, PartsOfDraw) for draw in (*own.draws, own.mode))
        return own

    def test_saved_and_loaded(self, tmp_path, chain, parted):
        writer = ChainWriter(tmp_path / "chain")
        for draw, same in writer.write(writer.take(parted)):
            parted.exchange(draw, same)
        shutil.rmtree(tmp_path / "workers")
        loaded = load_chain(tmp_path / "chain", chain.corpus)
        for one in (parted, loaded):
            assert [in_bits(draw) for draw in one.draws] == [in_bits(draw) for draw in chain.draws]
            assert in_bits(one.mode) == in_bits(chain.mode)
            assert not any(map(is_large, one.draws))

    def test_a_mode_that_is_also_kept_has_files_in_both_places(self, tmp_path, chain, parted):
        kept = parted.draws[-1]
        parted.mode = kept
        writer = ChainWriter(tmp_path / "chain")
        writer.save(parted)
        shutil.rmtree(tmp_path / "chain" / "draws" / f"{kept.sweep:06d}")
        read_draw(tmp_path / "chain" / "mode", kept.sweep, chain.corpus).of_documents(slice(None))

    def test_what_is_dropped_goes_with_its_parts(self, tmp_path, chain, parted):
        writer = ChainWriter(tmp_path / "chain")
        writer.save(parted)
        parted.reschedule(Timetable(sweeps=9, burn_in=5, thin=2))
        parted.sweeps_done, parted.mode = 9, parted.draws[0]
        writer.save(parted)
        parted.mode = parted.draws[-1]
        writer.save(parted)
        writer.forget_dropped()
        sweeps = sorted(draw.sweep for draw in parted.draws)
        there = sorted({int(path.name[:6]) for path in (tmp_path / "chain" / "draws").iterdir()})
        assert there == sweeps
        modes = {int(path.name[:6]) for path in (tmp_path / "chain" / "mode").iterdir()}
        assert modes == {parted.draws[0].sweep, parted.draws[-1].sweep}

    def test_parts_of_a_run_that_was_killed_are_replaced(self, tmp_path, chain):
        draw = chain.draws[0]
        in_parts(tmp_path, draw, cuts=(0, 3, 11))
        write_draw(tmp_path, in_parts(tmp_path, draw))
        assert len(files(tmp_path / f"{draw.sweep:06d}")) == len(CUTS)
        assert in_bits(read_draw(tmp_path, draw.sweep, chain.corpus)) == in_bits(draw)

    def test_files_are_copied_where_they_cannot_have_two_names(self, tmp_path, chain, parted, monkeypatch):
        def refuse(*_):
            raise OSError("another disk")

        monkeypatch.setattr("os.link", refuse)
        ChainWriter(tmp_path / "chain").save(parted)
        shutil.rmtree(tmp_path / "workers")
        loaded = load_chain(tmp_path / "chain", chain.corpus)
        assert [in_bits(draw) for draw in loaded.draws] == [in_bits(draw) for draw in chain.draws]

    def test_a_run_without_a_folder_leaves_them_where_they_are(self, parted):
        last = parted.draws[-1]
        Overflow().save(parted, now=True)
        assert parted.draws[-1] is last

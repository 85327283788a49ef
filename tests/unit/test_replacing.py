"""A folder that replaces another: at every step, whatever happens, one of the two is complete and is found.

Each call that changes the file system is struck in turn: it fails, Ctrl-C falls on it, or the process is
killed there, after which nothing more reaches the disk.
"""

import builtins
import os

import numpy as np
import pytest

from franchise import FranchiseError
from franchise._files import read_text, write_text
from franchise.corpus import from_texts, open_shards, shard
from franchise.storage import model as store

CALLS = ("mkdir", "rename", "replace", "rmdir", "unlink", "fsync", "open")
OLD = ["cat milk cat paw", "dog bone dog ear", "cat dog milk tail", "bone bone dog tail fur"]
DOCUMENTS = {"old": OLD, "new": [text.replace("milk", "fish") for text in OLD]}


class Killed(BaseException):
    """The process is no more."""


class Strikes:
    """Lets the n-th of the calls raise; after a kill, all that follow too."""

    def __init__(self, n=None, error=None):
        self.n, self.error, self.calls = n, error, 0

    def wrapped(self, call):
        def struck(*arguments, **options):
            self.calls += 1
            if self.calls == self.n or (self.n and self.calls > self.n and isinstance(self.error, Killed)):
                raise self.error
            return call(*arguments, **options)

        return struck

    def __enter__(self):
        self._patch = pytest.MonkeyPatch()
        for name in CALLS:
            self._patch.setattr(os, name, self.wrapped(getattr(os, name)))
        self._patch.setattr(builtins, "open", self.wrapped(open))
        return self

    def __exit__(self, *_):
        self._patch.undo()


class Shards:
    """A folder of shards."""

    def __init__(self):
        self.words = {kind: [text.split() for text in texts] for kind, texts in DOCUMENTS.items()}

    def write(self, kind, folder):
        shard(self.words[kind], folder, 2, overwrite=True)

    def read(self, folder):
        corpus = open_shards(folder)
        read = [
            [corpus.vocabulary[v] for v in document] for document in np.split(corpus.x, corpus.doc_ptr[1:-1])
        ]
        (kind,) = [kind for kind, documents in self.words.items() if read == documents]
        return kind


class Model:
    """The folder of a model, with a file in the place of its chains."""

    def __init__(self):
        self.corpora = {kind: from_texts(texts) for kind, texts in DOCUMENTS.items()}

    def write(self, kind, folder):
        def fill(temporary):
            write_text(store.chains_folder(temporary) / "0" / "chain", kind)

        with store.writing(folder):
            store.create(folder, self.corpora[kind], {"of": kind}, fill, overwrite=True)

    def read(self, folder):
        corpus, settings, _ = store.read(folder)
        kind = settings["of"]
        assert corpus.vocabulary == self.corpora[kind].vocabulary
        assert read_text(store.chains_folder(folder) / "0" / "chain") == kind
        return kind


@pytest.fixture(scope="module", params=[Shards, Model])
def things(request):
    return request.param()


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _: None)  # it takes most of the time


@pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt(), Killed()], ids=repr)
def test_a_fault_at_any_step_of_a_replacement(things, error, tmp_path):
    folder, seen = tmp_path / "here", []
    things.write("old", folder)
    with Strikes() as counted:
        things.write("new", folder)
    assert counted.calls > 30
    things.write("old", folder)
    for n in range(1, counted.calls + 1):
        try:
            with Strikes(n, error):
                things.write("new", folder)
        except (FranchiseError, OSError, KeyboardInterrupt, Killed) as raised:
            what = f"call {n}: {raised!r}"
        else:
            what = f"call {n}: not told"
        if not isinstance(error, Killed):
            assert folder.is_dir(), what
        seen.append(things.read(folder))
        things.write("old", folder)
        assert things.read(folder) == "old", what
        assert [path.name for path in tmp_path.iterdir()] == ["here"], what
    assert set(seen) == {"old", "new"}

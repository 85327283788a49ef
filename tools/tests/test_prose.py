"""The list of phrases to reread: what it finds, in which text, and which uses are accepted."""

import pytest

from tools import prose


def phrases(path, text):
    path.write_text(text, "utf-8")
    return [hit.phrase for hit in prose.hits_in(path, path.name)[0]]


@pytest.mark.parametrize(
    ("sentence", "phrase"),
    [
        ("It runs in so many threads.", "so many"),
        ("A message that nobody reads.", "nobody"),
        ("It takes 28 bytes a word.", "bytes a word"),
        ("`resume` goes on where it stopped.", "goes on"),
        ("Of smaller corpora chains are shorter.", "Of smaller corpora chains are"),
    ],
)
def test_a_phrase_is_found(tmp_path, sentence, phrase):
    assert phrases(tmp_path / "page.md", sentence) == [phrase]


def test_plain_sentences_have_none(tmp_path):
    assert (
        phrases(tmp_path / "page.md", "Chains on smaller corpora are shorter. It takes 28 bytes per word.")
        == []
    )


def test_of_python_only_prose_is_read(tmp_path):
    text = '''"""Nothing that nobody reads."""\nnobody = 1  # in so many threads\nname = "anew"\n'''
    assert phrases(tmp_path / "module.py", text) == ["nobody", "so many"]


def test_the_project_has_none_but_accepted_ones(capsys):
    assert prose.main([]) == 0, capsys.readouterr().out


def test_an_accepted_use_that_is_gone_is_reported(tmp_path, monkeypatch, capsys):
    accepted = tmp_path / "accepted.txt"
    accepted.write_text(prose.ACCEPTED.read_text("utf-8") + "README.md: whereof\n", "utf-8")
    monkeypatch.setattr(prose, "ACCEPTED", accepted)
    assert prose.main([]) == 1
    assert "README.md: whereof: no longer used" in capsys.readouterr().out

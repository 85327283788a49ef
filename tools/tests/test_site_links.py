import shutil

import pytest

from tools.site_links import problems


@pytest.fixture
def site(tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "picture.png").write_bytes(b"")
    (tmp_path / "index.html").write_text(
        '<a href="more/page.html#here">x</a> <a href="https://example.org">y</a>'
        '<img src="picture.png" alt="z">'
    )
    (tmp_path / "more" / "page.html").write_text('<h1 id="here">x</h1> <a href="../">back</a>')
    return tmp_path


def test_a_site_without_fault(site):
    assert problems(site) == []


def test_the_folders_above_a_site_have_any_names(site, tmp_path_factory):
    copy = shutil.copytree(site, tmp_path_factory.mktemp("with a blank") / "_static" / "site")
    assert problems(copy) == []


@pytest.mark.parametrize(
    ("html", "problem"),
    [
        ('<a href="gone.html">x</a>', "gone.html is not there"),
        ('<a href="#nowhere">x</a>', "#nowhere has no such anchor"),
        ('<a href="../index.html#nowhere">x</a>', "has no such anchor"),
        ('<img src="gone.png" alt="x">', "gone.png is not there"),
        ('<img src="../picture.png" srcset="gone.png 2x" alt="x">', "gone.png is not there"),
        ('<img src="../picture.png">', "has no text"),
        ('<script src="https://example.org/x.js"></script>', "would be fetched from elsewhere"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "would be fetched from elsewhere"),
    ],
)
def test_what_is_wrong_is_named_with_its_page(site, html, problem):
    (site / "more" / "page.html").write_text(f'<h1 id="here">x</h1> {html}')
    (one,) = problems(site)
    assert one.startswith("more/page.html: ")
    assert problem in one


def test_a_page_that_no_other_leads_to(site):
    (site / "alone.html").write_text('<a href="#">top</a>')
    assert problems(site) == ["alone.html: no other page leads to it"]


def test_a_folder_without_pages(tmp_path):
    (one,) = problems(tmp_path)
    assert "no pages" in one

"""What can be said of the site without building it."""

import inspect
import re
from itertools import pairwise
from pathlib import Path

import click
import pytest

import franchise
from franchise import HDPTopicModel, cli

DOCS = Path(__file__).resolve().parents[3] / "docs"
API = DOCS / "reference" / "api"
BUILT = ("_build", "gallery")  # the gallery's pages are made from examples/gallery
TOCTREE = re.compile(r"toctree(?:}|::)\n(.*?)(?:```|\Z)", re.DOTALL)
OF_MODEL = re.compile(r"\bmodel\.([a-z]\w+)")
COMMAND = re.compile(r"\bfranchise ([a-z]+) ([^`\n|;#]*)")
LINK = re.compile(r"\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#{1,3} (.+)$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
AUTO = re.compile(r"\.\. auto(?:class|exception|function|method|attribute):: (\S+)")


def pages() -> set[str]:
    found = {path.relative_to(DOCS) for path in DOCS.rglob("*") if path.suffix in (".md", ".rst")}
    return {str(path.with_suffix("")) for path in found if path.parts[0] not in BUILT}


def in_toctrees() -> set[str]:
    entries = set()
    for page in pages():
        path = next(path for path in (DOCS / f"{page}.md", DOCS / f"{page}.rst") if path.is_file())
        for listed in TOCTREE.findall(path.read_text("utf-8")):
            lines = [line.strip() for line in listed.splitlines()]
            names = [re.sub(r".*<(.*)>", r"\1", line) for line in lines if line and not line.startswith(":")]
            entries |= {str((path.parent / name).relative_to(DOCS)) for name in names}
    return entries


def documented() -> set[str]:
    return {name for path in API.glob("*.rst") for name in AUTO.findall(path.read_text("utf-8"))}


def test_every_page_is_in_a_toctree():
    assert pages() - in_toctrees() == {"index"}


def test_every_toctree_has_pages_that_there_are():
    assert in_toctrees() - pages() == {"gallery/index"}


def test_every_public_name_is_in_the_reference():
    assert set(franchise.__all__) - documented() == {"__version__"}


def test_every_public_method_of_the_model_is_in_the_reference():
    ours = [one for one in HDPTopicModel.__mro__ if one.__module__.startswith("franchise")]
    methods = {
        name
        for one in ours
        for name, value in vars(one).items()
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, classmethod))
    }
    assert len(methods) > 30
    assert {f"HDPTopicModel.{name}" for name in methods} - documented() == set()


def test_every_figure_is_in_the_reference():
    from franchise.report import figures

    assert {f"franchise.report.figures.{name}" for name in figures.__all__} - documented() == set()


def texts() -> list[tuple[str, str]]:
    paths = [*DOCS.rglob("*.md"), *DOCS.parent.glob("*.md")]
    here = [path for path in paths if not {*BUILT, "CHANGELOG.md"} & {*path.relative_to(DOCS.parent).parts}]
    return [(str(path.relative_to(DOCS.parent)), path.read_text("utf-8")) for path in sorted(here)]


@pytest.mark.parametrize(("page", "text"), texts(), ids=[name for name, _ in texts()])
def test_what_pages_ask_of_a_model_it_has(page, text):
    attributes = set(re.findall(r"\w+_\b", inspect.getdoc(HDPTopicModel)))
    asked = set(OF_MODEL.findall(text)) - {"json", "bin", "md", "state", "joint", "likelihood", "measure"}
    assert {name for name in asked if not hasattr(HDPTopicModel, name)} - attributes == set()


@pytest.mark.parametrize(("page", "text"), texts(), ids=[name for name, _ in texts()])
def test_commands_on_pages_have_the_options_that_they_are_given(page, text):
    context = click.Context(cli.main)
    for name, rest in COMMAND.findall(text):
        command = cli.main.get_command(context, name)
        options = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", rest.partition("&&")[0].partition(">")[0]))
        if command is None:
            assert not options, f"franchise {name} {rest}"
        elif name != "hdp":  # which parses its own
            known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
            assert options - known - {"--help"} == set(), f"franchise {name} {rest}"


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and MyST make them."""
    headings = HEADING.findall(FENCED.sub("", text))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(("page", "text"), texts(), ids=[name for name, _ in texts()])
def test_links_of_pages_lead_somewhere(page, text):
    here = DOCS.parent / page
    for name, anchor in LINK.findall(re.sub(r"`[^`\n]*`", "", FENCED.sub("", text))):
        target = (here.parent / name) if name else here
        if "gallery" in target.parts:  # made when the site is built
            assert (DOCS.parent / "examples" / "gallery" / f"{target.name}.py").is_file(), name
            continue
        assert target.exists(), f"{page}: {name}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target.read_text("utf-8")), f"{page}: {name}#{anchor}"


@pytest.mark.parametrize(("page", "text"), texts(), ids=[name for name, _ in texts()])
def test_blocks_of_commands_are_whole(page, text):
    """A first line that has lost its indent makes a paragraph of the block."""
    lines = FENCED.sub("", text).splitlines()
    for before, line in pairwise(lines):
        torn = re.match(r"(franchise|pip|make|python|zcat|ray) ", before) and line.startswith("    ")
        assert not torn, f"{page}: {before}"

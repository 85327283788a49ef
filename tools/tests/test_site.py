"""What can be said of the site without building it."""

import inspect
import re
from itertools import pairwise
from pathlib import Path

import click

import franchise
from franchise import HDPTopicModel, cli

DOCS = Path(__file__).resolve().parents[2] / "docs"
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


def test_pages_use_only_what_a_model_has():
    attributes = set(re.findall(r"\w+_\b", inspect.getdoc(HDPTopicModel)))
    files = {"json", "bin", "md", "state", "joint", "likelihood", "measure"}
    known = attributes | files | set(dir(HDPTopicModel))
    used = {(page, name) for page, text in texts() for name in OF_MODEL.findall(text)}
    assert len(used) > 50
    assert {
        (page, name) for page, name in used if name not in known and not hasattr(HDPTopicModel, name)
    } == set()


def unknown_options(text: str) -> list[str]:
    """Return the commands of a text with options that they do not have."""
    context, wrong = click.Context(cli.main), []
    for name, rest in COMMAND.findall(text):
        command = cli.main.get_command(context, name)
        options = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", rest.partition("&&")[0].partition(">")[0]))
        known = {
            option for one in getattr(command, "params", ()) for option in (*one.opts, *one.secondary_opts)
        }
        if name != "hdp" and options - known - ({"--help"} if command else set()):  # hdp parses its own
            wrong.append(f"franchise {name} {rest}")
    return wrong


def test_commands_on_pages_have_the_options_that_they_are_given():
    assert {page: wrong for page, text in texts() if (wrong := unknown_options(text))} == {}
    assert unknown_options("run `franchise fit --no-such-option x`") != []


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and MyST make them."""
    headings = HEADING.findall(FENCED.sub("", text))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def torn_links(page: str, text: str) -> list[str]:
    """Return the links of a page that lead nowhere."""
    here, torn = DOCS.parent / page, []
    for name, anchor in LINK.findall(re.sub(r"`[^`\n]*`", "", FENCED.sub("", text))):
        target = (here.parent / name) if name else here
        if "gallery" in target.parts:  # made when the site is built
            is_there = (DOCS.parent / "examples" / "gallery" / f"{target.name}.py").is_file()
        else:
            is_there = target.exists()
        if is_there and anchor and target.suffix == ".md":
            is_there = anchor in anchors(target.read_text("utf-8"))
        if not is_there:
            torn.append(f"{page}: {name}#{anchor}")
    return torn


def test_links_of_pages_lead_somewhere():
    assert [torn for page, text in texts() for torn in torn_links(page, text)] == []
    assert torn_links("README.md", "[no](nowhere.md) [no](README.md#nowhere)") != []


def test_blocks_of_commands_are_whole():
    """A first line that has lost its indent makes a paragraph of the block."""
    torn = []
    for page, text in texts():
        for before, line in pairwise(FENCED.sub("", text).splitlines()):
            if re.match(r"(franchise|pip|make|python|zcat|ray) ", before) and line.startswith("    "):
                torn.append(f"{page}: {before}")
    assert torn == []

"""The package as a whole: what it exports, and what importing it costs."""

import ast
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import franchise


@pytest.mark.parametrize("name", franchise.__all__)
def test_every_exported_name_resolves(name):
    assert getattr(franchise, name) is not None


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(franchise.__file__).read_text("utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.asname for node in block.body for alias in node.names}
    assert seen | {"__version__"} == set(franchise.__all__)


def test_dir_lists_the_exported_names():
    assert set(franchise.__all__) <= set(dir(franchise))


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = franchise.no_such_name


def test_version_is_that_of_the_distribution():
    assert franchise.__version__ == version("franchise")


def test_import_loads_no_heavy_package():
    heavy = {"numba", "numpy", "rich", "scipy"}
    # -I leaves out the environment and the working directory, but keeps the installed package.
    code = f"import sys, franchise; print(*sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_a_fit_and_the_command_line_do_without_the_extras():
    code = (
        "import sys\n"
        "extras = 'jinja2', 'markupsafe', 'matplotlib', 'pyarrow', 'xarray'\n"
        "sys.modules |= dict.fromkeys(extras)\n"  # importing one fails now
        "from click.testing import CliRunner\n"
        "from franchise import HDPTopicModel, cli\n"
        "texts = ['the dog chased a cat', 'a bank lent money to a bank'] * 5\n"
        "fitted = HDPTopicModel(sweeps=4, chains=1, random_state=0).fit(texts)\n"
        "print(fitted.topics().shape[0] >= 1, CliRunner().invoke(cli.main, ['--help']).exit_code)\n"
        "print(*(name for name in extras if sys.modules[name]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "0"]


@pytest.mark.parametrize("error", [franchise.CorpusError, franchise.SettingsError])
def test_errors_can_be_caught_as_ours_or_as_value_errors(error):
    assert issubclass(error, franchise.FranchiseError)
    assert issubclass(error, ValueError)

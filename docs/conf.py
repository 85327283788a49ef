"""How the site is built: `make docs`. Nothing here needs the network."""

import os
import sys
import tomllib
import warnings
from pathlib import Path

import franchise

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

project = "franchise"
author = "The franchise developers"
copyright = "The franchise developers"
version = release = franchise.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "as_mathml",
    "command_line",
    "source_links",
    "wrapped_output",
]
exclude_patterns = ["_build", "_ext", "gallery/**/*.ipynb", "gallery/**/*.py"]
highlight_language = "none"  # code without a language is mostly a shell's

# ---------------------------------------------------------------- pages

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
smartquotes = False  # -- in an option is no dash
suppress_warnings = ["config.cache"]  # functions in sphinx_gallery_conf: the settings are then not kept

# ---------------------------------------------------------------- reference

add_module_names = False
add_function_parentheses = False  # names beside the page are long enough
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autosummary_generate = False
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
python_maximum_signature_line_length = 88
viewcode_follow_imported_members = True
default_role = "py:obj"  # `Corpus` in a docstring is a link where there is such a name


# ---------------------------------------------------------------- gallery

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "image_scrapers": ("own_figures", "matplotlib"),  # the second closes what it has seen
    "capture_repr": ("_repr_html_",),
    "within_subsection_order": "FileNameSortKey",
    "copyfile_regex": r".*\.csv",
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "thumbnail_size": (400, 280),
    "image_srcset": ["2x"],
    "matplotlib_animations": False,
    "doc_module": (),
    "reference_url": {},
}
os.environ.setdefault("NO_COLOR", "1")
warnings.filterwarnings("ignore", message=".*non-interactive.*")

# ---------------------------------------------------------------- looks

html_theme = "pydata_sphinx_theme"
html_title = f"franchise {version}"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_css_files = ["site.css"]
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"index": [], "faq": [], "benchmarks": []}
# The address of the repository is in the package's metadata, once there is one.
urls = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
repository = {"name": "Repository", "url": urls.get("Repository"), "icon": "fa-solid fa-code-branch"}
html_theme_options = {
    "logo": {"text": "franchise"},
    "header_links_before_dropdown": 8,
    "navbar_start": ["navbar-logo", "site-version"],
    "navbar_align": "left",
    "navbar_end": ["theme-switcher", "navbar-icon-links"],
    "icon_links": [repository] if repository["url"] else [],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_exclude = ".linenos, .gp, .go"

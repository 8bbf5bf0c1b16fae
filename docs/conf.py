"""How Sphinx builds the site. `make site` runs it on a copy of this folder: see scripts/site."""

import importlib
import shutil
import sys
import warnings
from pathlib import Path

import menet

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "menet"
author = copyright = "The menet developers"
version = release = menet.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "docstrings",
    "parameters",
    "terminal",
]
# Pieces that other pages include, and what belongs to this configuration.
exclude_patterns = ["generated", "_*", "**/README.md", "**/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
highlight_language = "none"
default_role = "py:obj"

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
# GitHub's formulas are fenced blocks with this language.
myst_fence_as_directive = ["math"]

# One file, with its fonts inside, so that formulas need no network. This folder is a copy, so a file more does no harm.
_mathjax = Path(importlib.import_module("sphinx-mathjax-offline").__file__).parent / "static/mathjax/tex-svg.js"
shutil.copy(_mathjax, Path(__file__).parent / "_static")
mathjax_path = _mathjax.name
mathjax3_config = {"options": {"enableMenu": False}, "svg": {"fontCache": "local"}}

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
python_maximum_signature_line_length = 90
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = f"menet {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/menet.svg"
html_copy_source = html_show_sourcelink = False
html_show_sphinx = False
# Pages opened from a disk cannot read each other, so that a search cannot quote them.
html_show_search_summary = False
html_theme_options = {
    "logo": {"text": "menet", "image_light": "_static/menet.svg", "image_dark": "_static/menet.svg"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": []}

_scripts = Path(__file__).resolve().parent.parent / "scripts"
sphinx_gallery_conf = {
    "examples_dirs": [str(_scripts / "case-studies"), str(_scripts / "gallery")],
    "gallery_dirs": ["case-studies", "gallery"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "order.in_order",
    "backreferences_dir": "generated/examples",
    "doc_module": ("menet",),
    "exclude_implicit_doc": {r"menet\.datasets\..*"},
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "write_computation_times": False,
    "reset_modules": ("matplotlib",),
    "nested_sections": False,
    "min_reported_time": 0,
}

# A script may write warnings of its own; those of matplotlib's backend say only that there is no display.
warnings.filterwarnings("ignore", message=".*non-interactive.*", category=UserWarning)

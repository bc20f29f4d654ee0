"""The documentation as a site: `make docs`, with warnings as errors, into build/docs."""

from __future__ import annotations

import os
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from scripts.site_files import without_sources, write_all  # noqa: E402
from scripts.site_navigation import add_to_page, keep_description  # noqa: E402

_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

# The reference is of what a host imports, and in this repository that has another name.
_ALIAS = ROOT / "build" / "imported"
_ALIAS.mkdir(parents=True, exist_ok=True)
if not (_ALIAS / "flask_frontdesk").exists():
    (_ALIAS / "flask_frontdesk").symlink_to(ROOT / "app", target_is_directory=True)
sys.path.insert(0, str(_ALIAS))
os.environ.setdefault("SECRET_KEY", "the documentation signs nothing")

project = "Frontdesk"
author = _PROJECT["authors"][0]["name"]
version = release = import_module("flask_frontdesk").__version__
project_copyright = f"2026, {author}"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
suppress_warnings = ["myst.header", "myst.domains"]

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

# Docstrings have the sections Args, Returns and Raises, and examples after `Example::`.
napoleon_numpy_docstring = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 80
add_module_names = False

# "Edit this page" needs the repository's address. Read the Docs passes it to its builds; elsewhere
# it is the `Repository` of [project.urls], and without one the pages have no such link.
_REPOSITORY = os.environ.get("READTHEDOCS_GIT_CLONE_URL") or _PROJECT["urls"].get("Repository", "")

html_theme = "furo"
html_title = f"Frontdesk {release}"
html_baseurl = _PROJECT["urls"]["Documentation"]
html_static_path = ["_static"]
html_css_files = ["frontdesk.css"]
html_js_files = ["site.js"]
html_favicon = "_static/favicon.svg"
html_show_sphinx = False
# Each page has its Markdown next to it (scripts/site_files.py).
html_copy_source = False
html_use_index = False
html_additional_pages = {"404": "404.html"}
pygments_style = "a11y-light"
pygments_dark_style = "github-dark"
html_theme_options = {
    "navigation_with_keys": True,
    "top_of_page_buttons": [],
    # The colors of the console.
    "light_css_variables": {
        "color-brand-primary": "#1f4e79",
        "color-brand-content": "#1f5a91",
        "color-brand-visited": "#1f5a91",
    },
    "dark_css_variables": {
        "color-brand-primary": "#9cc4ef",
        "color-brand-content": "#9cc4ef",
        "color-brand-visited": "#9cc4ef",
    },
}
if _REPOSITORY:
    _REPOSITORY = _REPOSITORY.removesuffix(".git")
    html_context = {"repository": _REPOSITORY}
    html_theme_options |= {
        "source_repository": f"{_REPOSITORY}/",
        "source_branch": "main",
        "source_directory": "docs/",
        "top_of_page_buttons": ["edit"],
    }

copybutton_exclude = ".linenos, .gp, .go"


def _plain(
    _app: Any, _what: str, _name: str, documented: Any, _options: Any, lines: list[str]
) -> None:
    """Convert `code` in docstrings to reStructuredText, and add the response of an error."""
    if isinstance(documented, type) and hasattr(documented, "security_event"):
        status, code = documented.status, documented.code
        lines += ["", f"The response has the status {status} and the code `{code}`."]
    lines[:] = [line.replace("``", "`").replace("`", "``").replace("*", r"\*") for line in lines]


def _add_anchors(app: Any, doctree: nodes.document) -> None:
    """Give each setting its name as an anchor, to which errors and older links lead."""
    if app.env.docname == "settings":
        for signature in doctree.findall(addnodes.desc_signature):
            signature["ids"].insert(0, signature["fullname"])


def _without_sources(_app: Any, _name: str, source: list[str]) -> None:
    source[0] = without_sources(source[0])


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", _plain)
    app.connect("doctree-read", _add_anchors)
    app.connect("doctree-read", keep_description)
    app.connect("source-read", _without_sources)
    # After the theme, which builds the tree of the navigation.
    app.connect("html-page-context", add_to_page, priority=900)
    app.connect("build-finished", write_all)

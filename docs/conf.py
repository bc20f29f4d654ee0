"""The documentation as a site: `make docs`, with warnings as errors, into build/docs."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

from docutils import nodes

ROOT = Path(__file__).resolve().parents[1]
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
project_copyright = author

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
html_search_scorer = str(ROOT / "docs" / "_static" / "scorer.js")
html_favicon = "_static/favicon.svg"
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
if _REPOSITORY:
    html_theme_options |= {
        "source_repository": _REPOSITORY.removesuffix(".git") + "/",
        "source_branch": "main",
        "source_directory": "docs/",
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
    """Give each row of the settings' tables its name as an anchor."""
    if app.env.docname == "settings":
        for row in doctree.findall(nodes.row):
            name = next(row.findall(nodes.literal), None)
            if name is not None and name.astext().isupper():
                row["ids"].append(name.astext())


def _add_openapi(app: Any, error: Exception | None) -> None:
    """Add the OpenAPI document, for readers to download."""
    if error is None and app.builder.name == "html":
        sys.path.insert(0, str(ROOT))
        from scripts.http_api import document

        (Path(app.outdir) / "openapi.json").write_text(json.dumps(document(), ensure_ascii=False))


# Former names of pages, which redirect to the present ones.
REDIRECTS = {
    "codes-by-mail": "passwordless",
    "cookbook/lite": "cookbook/flask-sqlalchemy-lite",
    "cookbook/other-columns": "cookbook/column-mapping",
    "cookbook/tenants": "cookbook/multi-tenancy",
    "cookbook/tests": "cookbook/test-fixtures",
    "decisions/mail-lanes": "decisions/transactional-email",
    "decisions/turns": "decisions/sign-in-queue",
    "hooks/README": "hooks",
    "hosts": "existing-app",
    "moving-in": "import-users",
    "own-account": "account-self-service",
    "own-code": "use-from-python",
    "records": "audit-log",
    "second-factor": "mfa",
}


def _add_redirects(app: Any, error: Exception | None) -> None:
    """Write a page for each former name that forwards the browser to the present page."""
    if error is None and app.builder.name == "html":
        for former, present in REDIRECTS.items():
            path = Path(app.outdir) / f"{former}.html"
            target = os.path.relpath(Path(app.outdir) / f"{present}.html", path.parent)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(
                f'<!doctype html><meta charset="utf-8"><title>Moved</title>'
                f'<meta http-equiv="refresh" content="0; url={target}">'
                f'<a href="{target}">This page has moved</a>\n'
            )


# A first line such as `# examples/saas/wsgi.py` says where `make snippets` takes the code from.
_SNIPPET = re.compile(
    r"^```(?P<language>\w+)\n(?:#|//) (?:examples/\w+|tests)/(?P<file>\S+)(?P<region> [\w-]+)?\n",
    re.MULTILINE,
)


def _caption(found: re.Match[str]) -> str:
    """A whole file gets a caption with the path that the reader gives it, a part of one none."""
    # The tutorial's first version of the file that the reader replaces later.
    file = found["file"].replace("first_run.py", "pinboard/__init__.py")
    if found["region"] or found["language"] not in ("python", "js"):
        return f"```{found['language']}\n"
    return f"```{{code-block}} {found['language']}\n:caption: {file}\n\n"


def _without_sources(_app: Any, _name: str, source: list[str]) -> None:
    source[0] = _SNIPPET.sub(_caption, source[0])


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", _plain)
    app.connect("doctree-read", _add_anchors)
    app.connect("build-finished", _add_openapi)
    app.connect("build-finished", _add_redirects)
    app.connect("source-read", _without_sources)

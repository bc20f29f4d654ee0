"""Files of the site that Sphinx does not write: Markdown texts, llms.txt, sitemap, redirects."""

from __future__ import annotations

import json
import os
import re
from html import escape
from pathlib import Path
from typing import Any

from .site_navigation import description_of, groups

ROOT = Path(__file__).resolve().parents[1]
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
# A first line such as `# examples/tutorial/wsgi.py` says where `make snippets` takes the code from.
_SNIPPET = re.compile(
    r"^```(?P<language>\w+)\n(?:#|//) (?:examples/\w+|tests)/(?P<file>\S+)(?P<region> [\w-]+)?\n",
    re.MULTILINE,
)
_TOCTREE = re.compile(r"^```\{toctree\}\n.*?^```\n*", re.MULTILINE | re.DOTALL)
_INCLUDE = re.compile(r"^```\{include\} (\S+)\n(?:.*\n)*?```\n", re.MULTILINE)


def without_sources(text: str) -> str:
    """Remove the lines that say where code comes from; whole files get a caption instead."""
    return _SNIPPET.sub(_caption, text)


def _caption(found: re.Match[str]) -> str:
    # The tutorial's first version of the file that the reader replaces later.
    file = found["file"].replace("first_run.py", "pinboard/__init__.py")
    if found["region"] or found["language"] not in ("python", "js", "ts", "nginx"):
        return f"```{found['language']}\n"
    # A caption is Markdown, in which underscores make `__init__` bold.
    caption = file.replace("_", r"\_")
    return f"```{{code-block}} {found['language']}\n:caption: {caption}\n\n"


def write_all(app: Any, error: Exception | None) -> None:
    if error is not None or app.builder.name != "html":
        return
    site = Path(app.outdir)
    _write_openapi(site)
    _write_redirects(site)
    _write_markdown(app, site)
    _write_sitemap(app, site)


def _write_openapi(site: Path) -> None:
    from .http_api import document

    (site / "openapi.json").write_text(json.dumps(document(), ensure_ascii=False))


def _write_redirects(site: Path) -> None:
    for former, present in REDIRECTS.items():
        path = site / f"{former}.html"
        target = os.path.relpath(site / f"{present}.html", path.parent)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f'<!doctype html><meta charset="utf-8"><title>Moved</title>'
            f'<meta http-equiv="refresh" content="0; url={target}">'
            f'<a href="{target}">This page has moved</a>\n'
        )


def _write_markdown(app: Any, site: Path) -> None:
    """Write each page as Markdown next to its HTML, and llms.txt, which lists them."""
    for page in app.env.found_docs:
        (site / f"{page}.md").write_text(markdown(Path(app.env.doc2path(page))))
    base, lines = app.config.html_baseurl, ["# Frontdesk", ""]
    lines.append(f"> {description_of(app.env, app.config.root_doc)}")
    for title, pages in groups(app.env).items():
        lines += ["", f"## {title}", ""]
        for page in pages:
            about = description_of(app.env, page)
            lines.append(f"- [{app.env.titles[page].astext()}]({base}{page}.md): {about}")
    (site / "llms.txt").write_text("\n".join([*lines, ""]))


def markdown(source: Path) -> str:
    """Return the Markdown of a page, with the files that it includes and without its navigation."""
    text = _INCLUDE.sub(
        lambda found: (source.parent / found[1]).read_text().replace("](docs/", "]("),
        source.read_text(),
    )
    return _TOCTREE.sub("", without_sources(text)).rstrip() + "\n"


def _write_sitemap(app: Any, site: Path) -> None:
    root = app.config.root_doc
    paths = sorted("" if page == root else f"{page}.html" for page in app.env.found_docs)
    urls = "".join(
        f"<url><loc>{escape(app.config.html_baseurl + path)}</loc></url>\n" for path in paths
    )
    (site / "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{urls}</urlset>\n'
    )

"""The site's navigation: groups that fold, breadcrumbs, and a description of each page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import Any

from docutils import nodes
from sphinx import addnodes

# Search engines and link previews show about as much.
DESCRIPTION_LENGTH = 160
_GROUP = re.compile(
    r'<p class="caption" role="heading"><span class="caption-text">(?P<title>[^<]+)</span></p>\s*'
    r'(?P<list><ul(?P<current> class="current")?>)'
)


def groups(env: Any) -> dict[str, list[str]]:
    """Return the groups of the navigation with all their pages, in reading order."""
    found: dict[str, list[str]] = {}
    for tree in env.get_doctree(env.config.root_doc).findall(addnodes.toctree):
        pages = [page for top in tree["includefiles"] for page in _with_children(env, top)]
        found[tree["caption"]] = pages
    return found


def _with_children(env: Any, page: str) -> Iterator[str]:
    yield page
    for child in env.toctree_includes.get(page, ()):
        yield from _with_children(env, child)


def keep_description(app: Any, doctree: nodes.document) -> None:
    """Remember the first paragraph of a page, which says what the page is for."""
    paragraphs = doctree.findall(nodes.paragraph)
    first = next((each for each in paragraphs if isinstance(each.parent, nodes.section)), None)
    descriptions = _descriptions(app.env)
    descriptions[app.env.docname] = "" if first is None else " ".join(first.astext().split())


def _descriptions(env: Any) -> dict[str, str]:
    # Sphinx stores its environment between builds, with this attribute.
    if not hasattr(env, "page_descriptions"):
        env.page_descriptions = {}
    found: dict[str, str] = env.page_descriptions
    return found


def description_of(env: Any, page: str) -> str:
    text = _descriptions(env).get(page, "")
    if len(text) <= DESCRIPTION_LENGTH:
        return text
    return text[:DESCRIPTION_LENGTH].rpartition(" ")[0].rstrip(".,;:") + "…"


def add_to_page(app: Any, page: str, _template: str, context: dict[str, Any], _doc: Any) -> None:
    """Give the templates of a page its group, its description and its Markdown text."""
    context["navigation_group"] = next(
        (title for title, pages in groups(app.env).items() if page in pages), None
    )
    context["furo_navigation_tree"] = fold(context.get("furo_navigation_tree") or "")
    if text := description_of(app.env, page):
        tags = {
            '<meta name="description"': text,
            '<meta property="og:description"': text,
            '<meta property="og:title"': re.sub("<.*?>", "", context["title"]),
            '<meta property="og:image"': f"{app.config.html_baseurl}_static/screens/accounts.png",
        }
        context["metatags"] = context.get("metatags", "") + "".join(
            f'\n{tag} content="{escape(value)}">' for tag, value in tags.items()
        )
        context["markdown_url"] = f"{page.rpartition('/')[2]}.md"


def fold(tree: str) -> str:
    """Put each group of links into an element that opens; the group of the page is open."""
    parts = re.split(r'(?=<p class="caption")', tree)
    return "".join(
        _GROUP.sub(_opened, part) + "</details>" if _GROUP.match(part) else part for part in parts
    )


def _opened(found: re.Match[str]) -> str:
    is_open = " open" if found["current"] else ""
    return f'<details class="nav-group"{is_open}><summary>{found["title"]}</summary>{found["list"]}'

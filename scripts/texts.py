"""`make texts`: extracts the console's texts for translators, and compiles the translations.

A language is a folder: `app/console/translations/de/LC_MESSAGES/console.po`, which starts as a copy
of `console.pot`. Templates and code mark texts with `_("…")`; errors have titles in their classes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from io import BytesIO

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from app.core.actions import Action
from app.extension.actions import PACKAGES

from .environment import ROOT

FOLDER = ROOT / "app" / "console" / "translations"
TEMPLATE = FOLDER / "console.pot"
_KEYWORDS = {"_": None, "_n": (1, 2), "mark": None, "Title": None}
_TEMPLATES = [("**.html", "jinja2.ext:babel_extract")]
_MODULES = [("**.py", "python")]
_ACTIONS = [("*/actions.py", "python")]


def main() -> None:
    TEMPLATE.write_bytes(extract())
    for source in FOLDER.glob("*/LC_MESSAGES/*.po"):
        source.with_suffix(".mo").write_bytes(compile_catalog(source.read_bytes()))


def extract() -> bytes:
    """Return every text once, in alphabetical order, so that a difference shows the changed
    texts."""
    catalog = Catalog(project="Frontdesk", charset="utf-8")
    for text, where in sorted(
        [*_marked_texts(), *_error_titles(), *_titles()], key=lambda found: str(found[0])
    ):
        catalog.add(text, locations=[(where, 0)])
    file = BytesIO()
    write_po(file, catalog, omit_header=True, include_lineno=False, width=100)
    return file.getvalue()


def compile_catalog(po: bytes) -> bytes:
    file = BytesIO()
    write_mo(file, read_po(BytesIO(po)))
    return file.getvalue()


def _marked_texts() -> Iterator[tuple[str | tuple[str, ...], str]]:
    for folder, methods in (
        (ROOT / "templates" / "console", _TEMPLATES),
        (ROOT / "app" / "console", _MODULES),
        (ROOT / "app", _ACTIONS),
    ):
        found = extract_from_dir(str(folder), method_map=methods, keywords=_KEYWORDS)
        for name, _line, text, _comments, _context in found:
            yield text, str((folder / name).relative_to(ROOT))


def _error_titles() -> Iterator[tuple[str, str]]:
    """Yield the title of each problem class."""
    for path in sorted((ROOT / "app").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                yield from ((text, str(path.relative_to(ROOT))) for text in _class_titles(node))


def _titles() -> Iterator[tuple[str, str]]:
    """Return the titles of actions, which pages show instead of their types, and their areas."""
    for package in PACKAGES:
        where = package.__name__.replace(".", "/") + ".py"
        yield from ((area, where) for area in package.AREAS)
        for each in vars(package).values():
            if isinstance(each, Action) and each.is_audited:
                yield each.title, where


def _class_titles(kind: ast.ClassDef) -> Iterator[str]:
    for each in kind.body:
        match each:
            case (
                ast.Assign(targets=[ast.Name(id="title")], value=ast.Constant(value=str(text)))
                | ast.AnnAssign(target=ast.Name(id="title"), value=ast.Constant(value=str(text)))
            ):
                yield text


if __name__ == "__main__":
    main()

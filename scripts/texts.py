"""`make texts`: extracts the texts of pages and emails for translators, and updates translations.

A catalog is `console.pot` (pages) or `emails.pot`. A language is a folder with a `.po` file for
each catalog: `app/translations/de/LC_MESSAGES/console.po`. `make texts ARGS=de` adds one.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from app.auth.scopes import SCOPES
from app.core.actions import Action
from app.core.translations import BUILT_IN
from app.extension.actions import PACKAGES

from .environment import ROOT
from .translations import incomplete, malformed

_KEYWORDS: dict[str, Any] = {
    "_": None,
    "_n": (1, 2),
    "_p": ((1, "c"), 2),
    "mark": None,
    "Title": None,
    "Variant": None,
}
_EMAIL_KEYWORDS: dict[str, Any] = {"translate": None, "translate_n": (1, 2), "mark": None}
_UNUSED_FIELDS = tuple(
    f'"{name}: '.encode()
    for name in (
        "Project-Id-Version",
        "Report-Msgid-Bugs-To",
        "POT-Creation-Date",
        "PO-Revision-Date",
        "Last-Translator",
        "Language-Team",
        "Generated-By",
    )
)
_TEMPLATES = [("**.html", "jinja2.ext:babel_extract"), ("**.txt", "jinja2.ext:babel_extract")]
_EMAILS = [("console/**", "ignore"), *_TEMPLATES]
_MODULES = [("**.py", "python")]
_DATES = [("translations.py", "python")]
_ACTIONS = [("*/actions.py", "python")]
_OTHER_MODULES = [("console/**", "ignore"), *_MODULES]
# A text or its plural forms, its file, the comments for translators, and its context.
Found = tuple[str | tuple[str, ...], str, list[str], str | None]


def main() -> None:
    parser = argparse.ArgumentParser(prog="make texts", description=__doc__)
    parser.add_argument("language", nargs="*", help="a language to add, such as `de` or `pt_BR`")
    for domain in DOMAINS:
        template = extract(domain)
        template_path(domain).write_bytes(template)
        for language in parser.parse_args().language:
            if not (path := translation_path(domain, language)).exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                catalog = Catalog(
                    locale=Locale.parse(language),
                    project="Frontdesk",
                    header_comment="# A translation of Frontdesk.",
                    fuzzy=False,
                )
                path.write_bytes(_write(catalog))
        for path in sorted(BUILT_IN.glob(f"*/LC_MESSAGES/{domain}.po")):
            updated = update(path.read_bytes(), template, language := path.parts[-3])
            path.write_bytes(updated)
            untranslated = incomplete(updated, template, language)
            print(f"{language}/{domain}: texts to translate: {len(untranslated)}")
            for error in (*untranslated, *malformed(updated, language)):
                print(f"  {error}")


def template_path(domain: str) -> Path:
    return BUILT_IN / f"{domain}.pot"


def translation_path(domain: str, language: str) -> Path:
    return BUILT_IN / language / "LC_MESSAGES" / f"{domain}.po"


def extract(domain: str) -> bytes:
    """Return every text once, in alphabetical order, so that a difference shows the changed
    texts."""
    catalog = Catalog(project="Frontdesk", charset="utf-8")
    for text, where, comments, context in sorted(
        DOMAINS[domain](), key=lambda found: (str(found[0]), found[3] or "", found[1])
    ):
        catalog.add(text, locations=[(where, 0)], auto_comments=comments, context=context)
    return _write(catalog, omit_header=True)


def update(po: bytes, template: bytes, language: str) -> bytes:
    """Return a translation with the texts of the template. Texts that changed a little keep their
    translation, marked as fuzzy, until a translator confirms it."""
    catalog = read_po(BytesIO(po), locale=language)
    catalog.update(
        read_po(BytesIO(template)), update_header_comment=False, update_creation_date=False
    )
    catalog.obsolete.clear()
    return _without_placeholders(_write(catalog))


def _without_placeholders(po: bytes) -> bytes:
    """Return a translation without the header fields that Babel fills with examples and dates."""
    lines = po.splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(_UNUSED_FIELDS))


def _write(catalog: Catalog, omit_header: bool = False) -> bytes:
    file = BytesIO()
    write_po(
        file, catalog, omit_header=omit_header, include_lineno=False, sort_output=False, width=100
    )
    return file.getvalue()


def _console() -> Iterator[Found]:
    yield from _marked(ROOT / "templates" / "console", _TEMPLATES, _KEYWORDS)
    yield from _marked(ROOT / "app" / "console", _MODULES, _KEYWORDS)
    yield from _marked(ROOT / "app", _ACTIONS, _KEYWORDS)
    yield from _marked(ROOT / "app" / "core", _DATES, _KEYWORDS)
    for text, where in [*_error_titles(), *_titles()]:
        yield text, where, [], None


def _emails() -> Iterator[Found]:
    yield from _marked(ROOT / "templates", _EMAILS, _EMAIL_KEYWORDS)
    yield from _marked(ROOT / "app", _OTHER_MODULES, _EMAIL_KEYWORDS)


DOMAINS = {"console": _console, "emails": _emails}


def _marked(
    folder: Path, methods: list[tuple[str, str]], keywords: dict[str, Any]
) -> Iterator[Found]:
    found = extract_from_dir(
        str(folder), method_map=methods, keywords=keywords, comment_tags=["Translators"]
    )
    for name, _line, text, comments, context in found:
        yield text, str((folder / name).relative_to(ROOT)), comments, context


def _error_titles() -> Iterator[tuple[str, str]]:
    """Yield the title of each problem class."""
    for path in sorted((ROOT / "app").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                yield from ((text, str(path.relative_to(ROOT))) for text in _class_titles(node))


def _titles() -> Iterator[tuple[str, str]]:
    """Return the titles of actions, which pages show instead of their types, their areas, and the
    descriptions of scopes."""
    yield from ((text, "app/auth/scopes.py") for text in SCOPES.values())
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

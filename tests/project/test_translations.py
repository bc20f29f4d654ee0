"""Shipped translations are complete, and templates show no text that translators do not see."""

from __future__ import annotations

import re
from io import BytesIO

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po
from jinja2 import Environment, nodes

from app.core.process.folders import templates_folder
from app.core.translations import BUILT_IN
from scripts.texts import DOMAINS, template_path, translation_path, update
from scripts.translations import errors, languages

_WORD = re.compile(r"[^\W\d_]{2,}")
_TAG = re.compile(r"<!--.*?-->|<(style|script|svg)\b.*?</\1>|<[^>]*>", re.DOTALL)
_ATTRIBUTE = re.compile(r'\b(?:aria-label|placeholder|title|alt|data-label|data-done)="([^"]*)"')
# Names that are the same in every language, and attributes in expressions.
_NAMES = re.compile(r"\b(?:UTC|SMS|ID|URL)\b|\.html\b|[\w-]+=\"[^\"]*\"")
# Calls whose first arguments are texts.
_TRANSLATING = {"_", "_n", "translate", "translate_n"}
_SENTENCE = re.compile(r"[A-Z]\w+( [^ ]+)+")
# Blocks with the classes of a layout.
_CLASSES = re.compile(r"{% block width %}.*?{% endblock %}")
# Drawings, and the page with samples of all components.
_WITHOUT_TEXTS = {"console/icons.html", "console/design.html"}
TEMPLATES = sorted(
    {str(path.relative_to(templates_folder())) for path in templates_folder().rglob("*.html")}
    - _WITHOUT_TEXTS
)


@pytest.mark.parametrize("domain", DOMAINS)
def test_shipped_translations_are_complete(domain: str) -> None:
    template = template_path(domain).read_bytes()
    found = []
    for language in languages():
        path = translation_path(domain, language)
        if not path.exists():
            found.append(f"{language}: {domain}.po is missing")
            continue
        found += [f"{language}: {each}" for each in errors(path.read_bytes(), template, language)]
    assert not found, "\n".join(found)


def test_pages_and_emails_have_the_same_languages() -> None:
    folders = {path.name for path in BUILT_IN.iterdir() if path.is_dir()}
    assert folders == set(languages())


def _po(catalog: Catalog) -> bytes:
    file = BytesIO()
    write_po(file, catalog)
    return file.getvalue()


def _template() -> bytes:
    catalog = Catalog()
    catalog.add("Hello {name}")
    catalog.add(("One day", "{n} days of {name}"))
    catalog.add("Open", context="button")
    return _po(catalog)


def _translated() -> Catalog:
    catalog = read_po(BytesIO(update(_po(Catalog(locale="ar")), _template(), "ar")), locale="ar")
    catalog["Hello {name}"].string = "مرحبا {name}"
    catalog["One day"].string = ("{name} 0", "{name} 1", "{name} 2", *["{n} {name}"] * 3)
    button = catalog.get("Open", "button")
    assert button is not None
    button.string = "افتح"
    return catalog


def test_complete_translation_has_no_errors() -> None:
    assert errors(_po(_translated()), _template(), "ar") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "not translated"),
        ("مرحبا", "has no values instead of {name}"),
        ("مرحبا {nombre}", "has {nombre} instead of {name}"),
        ("<b>مرحبا</b> {name}", "has other markup"),
        ("مرحبا {name} ", "has other spaces at its ends"),
    ],
)
def test_wrong_text_is_an_error(text: str, expected: str) -> None:
    catalog = _translated()
    catalog["Hello {name}"].string = text
    assert errors(_po(catalog), _template(), "ar") == [f"{expected}: 'Hello {{name}}'"]


def test_missing_fuzzy_and_removed_texts_are_errors() -> None:
    catalog = _translated()
    catalog["Hello {name}"].flags.add("fuzzy")
    catalog.delete("Open", "button")
    catalog.add("Removed", "x")
    assert errors(_po(catalog), _template(), "ar") == [
        "fuzzy: 'Hello {name}'",
        "missing, run `make texts`: button: 'Open'",
        "not in the template, run `make texts`: 'Removed'",
    ]


def test_missing_plural_forms_are_errors() -> None:
    catalog = _translated()
    catalog["One day"].string = ("{name}", "{n} {name}")
    [error] = errors(_po(catalog), _template(), "ar")
    assert error == "not translated: '{n} days of {name}'"


@pytest.mark.parametrize("name", TEMPLATES)
def test_template_has_no_text_outside_of_the_catalog(name: str) -> None:
    tree = Environment(extensions=["jinja2.ext.do"], autoescape=True).parse(
        _CLASSES.sub("", (templates_folder() / name).read_text())
    )
    # An expression is a space: a tag with expressions stays one tag.
    html = "".join(
        each.data if isinstance(each, nodes.TemplateData) else " "
        for output in tree.find_all(nodes.Output)
        for each in output.nodes
    )
    shown = [*_ATTRIBUTE.findall(html), *_TAG.sub("\n", html).splitlines()]
    found = [text.strip() for text in shown if _WORD.search(_NAMES.sub("", text))]
    assert not found, found
    assert not (texts := sorted(set(_untranslated(tree)))), texts


def _untranslated(node: nodes.Node) -> list[str]:
    """Return the sentences in expressions, without the arguments of translating functions."""
    if isinstance(node, nodes.Const):
        is_text = isinstance(node.value, str) and _SENTENCE.fullmatch(node.value)
        return [node.value] if is_text else []
    called = node.node if isinstance(node, nodes.Call) else None
    if (
        isinstance(node, nodes.Call)
        and isinstance(called, nodes.Name)
        and called.name in _TRANSLATING
    ):
        return [text for each in node.kwargs for text in _untranslated(each)]
    return [text for each in node.iter_child_nodes() for text in _untranslated(each)]

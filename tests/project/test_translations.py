"""Translations differ from the English texts only in words, a release has all of them, and
templates show no text that translators do not see."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po
from jinja2 import Environment, nodes

from app.core.process.folders import templates_folder
from app.core.translations import BUILT_IN
from scripts import release
from scripts.texts import update
from scripts.translations import incomplete, languages, malformed

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


@pytest.mark.parametrize("language", languages())
def test_shipped_translations_are_well_formed(language: str) -> None:
    for path in (BUILT_IN / language).rglob("*.po"):
        assert not malformed(path.read_bytes(), language), path


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
    po = _po(_translated())
    assert (incomplete(po, _template(), "ar"), malformed(po, "ar")) == ([], [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("مرحبا", "has no values instead of {name}"),
        ("مرحبا {nombre}", "has {nombre} instead of {name}"),
        ("<b>مرحبا</b> {name}", "has other markup"),
        ("مرحبا {name} ", "has other spaces at its ends"),
    ],
)
def test_wrong_text_is_malformed(text: str, expected: str) -> None:
    catalog = _translated()
    catalog["Hello {name}"].string = text
    assert malformed(_po(catalog), "ar") == [f"{expected}: 'Hello {{name}}'"]


def test_untranslated_fuzzy_missing_and_removed_texts_are_incomplete() -> None:
    catalog = _translated()
    catalog["Hello {name}"].flags.add("fuzzy")
    catalog["One day"].string = ("{name}", "{n} {name}")
    catalog.delete("Open", "button")
    catalog.add("Removed", "x")
    assert incomplete(_po(catalog), _template(), "ar") == [
        "fuzzy: 'Hello {name}'",
        "not translated: '{n} days of {name}'",
        "missing, run `make texts`: button: 'Open'",
        "not in the template, run `make texts`: 'Removed'",
    ]


def test_translation_without_a_new_text_is_well_formed() -> None:
    catalog = _translated()
    catalog.add("A new text with {name}")
    assert malformed(_po(catalog), "ar") == []


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, ...]]:
    """Return the tools that a release of a small catalog runs."""
    ran: list[tuple[str, ...]] = []
    monkeypatch.setattr(release, "run", lambda *command: ran.append(command))
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(release, "FILES", ())
    monkeypatch.setattr(release, "BUILT_IN", tmp_path)
    monkeypatch.setattr(release, "LANGUAGES", ("ar",))
    monkeypatch.setattr(release, "DOMAINS", ("console",))
    monkeypatch.setattr(release, "extract", lambda _domain: _template())
    return ran


def _write_arabic(folder: Path, catalog: Catalog) -> None:
    path = folder / "ar" / "LC_MESSAGES" / "console.po"
    path.parent.mkdir(parents=True)
    path.write_bytes(_po(catalog))


def test_release_with_complete_translations_is_built(
    builds: list[tuple[str, ...]], tmp_path: Path
) -> None:
    _write_arabic(tmp_path, _translated())
    release.main()
    assert [command[0] for command in builds] == ["build", "twine"]


@pytest.mark.parametrize("text", ["", "مرحبا"])
def test_release_with_an_incomplete_or_malformed_translation_is_not_built(
    text: str, builds: list[tuple[str, ...]], tmp_path: Path
) -> None:
    catalog = _translated()
    catalog["Hello {name}"].string = text
    _write_arabic(tmp_path, catalog)
    with pytest.raises(SystemExit, match="Errors in the translations: 1"):
        release.main()
    assert not builds


def test_release_without_a_language_is_not_built(
    builds: list[tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="make texts"):
        release.main()
    assert (capsys.readouterr().out, builds) == ("ar/console: missing\n", [])


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

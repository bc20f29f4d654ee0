"""Translations: the available languages, the language of a reader, and the catalogs of texts.

English texts are in the code and templates. A translation is a file,
`LANGUAGE/LC_MESSAGES/DOMAIN.po` (or `.mo`), in this package or in the application's folder
`translations`. A catalog is loaded when a text is first shown in its language. English needs none.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import Literal

from markupsafe import Markup, escape

from .process.folders import PACKAGE

ENGLISH = "en"
BUILT_IN = PACKAGE / "translations"
# Languages that are written from right to left, in their usual script.
_FROM_RIGHT = frozenset({"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})


def mark(text: str) -> str:
    """Mark a text for translators; it is translated where it is shown."""
    return text


MONTHS = (
    mark("Jan"),
    mark("Feb"),
    mark("Mar"),
    mark("Apr"),
    mark("May"),
    mark("Jun"),
    mark("Jul"),
    mark("Aug"),
    mark("Sep"),
    mark("Oct"),
    mark("Nov"),
    mark("Dec"),
)
DAY = mark("{day} {month} {year}")


def translation_folders(root_path: str) -> tuple[Path, ...]:
    """Return the folder of an application, whose texts take precedence, and Frontdesk's."""
    return Path(root_path) / "translations", BUILT_IN


@cache
def available_languages(domain: str, folders: tuple[Path, ...]) -> frozenset[str]:
    found = (path for folder in folders for path in folder.glob(f"*/LC_MESSAGES/{domain}.[mp]o"))
    return frozenset([ENGLISH, *(path.parts[-3] for path in found)])


def select_language(available: frozenset[str], wanted: Iterable[str | None]) -> str:
    """Return the first wanted language that is available, otherwise English.

    A language without its region is as good: `de` for `de-AT`.
    """
    for tag in filter(None, wanted):
        for name in (tag.replace("-", "_"), tag.partition("-")[0]):
            if name in available:
                return name
    return ENGLISH


def language_tag(name: str) -> str:
    """Return the tag of a language for HTML, such as `pt-BR` for the folder `pt_BR`."""
    return name.replace("_", "-")


def direction(name: str) -> Literal["ltr", "rtl"]:
    return "rtl" if name.partition("_")[0] in _FROM_RIGHT else "ltr"


def isolated(values: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Return the values of a text, isolated if the text is written from right to left.

    Without the two invisible characters, a Latin name or an email address within an Arabic sentence
    would reorder the words around it.
    """
    if direction(name) == "ltr":
        return values
    return {
        key: f"\u2068{value}\u2069" if type(value) is str else value
        for key, value in values.items()
    }


_NONE = NullTranslations()


def load_catalog(domain: str, name: str, folders: tuple[Path, ...]) -> NullTranslations:
    return _NONE if name == ENGLISH else _load(domain, name, folders)


@cache
def _load(domain: str, name: str, folders: tuple[Path, ...]) -> NullTranslations:
    """Load the application's translations, with the shipped ones as fallback."""
    read = _NONE
    # A text of `de_AT` that is missing is in German.
    for language in dict.fromkeys((name.partition("_")[0], name)):
        for folder in reversed(folders):
            if found := _read(folder / language / "LC_MESSAGES" / domain):
                found.add_fallback(read)
                read = found
    return read


def _read(path: Path) -> NullTranslations | None:
    """Read the compiled file of a translation, otherwise its source."""
    if (compiled := path.with_suffix(".mo")).is_file():
        with compiled.open("rb") as file:
            return GNUTranslations(file)
    source = path.with_suffix(".po")
    if not source.is_file():
        return None
    # Imported here: most processes need no translation, or only compiled ones.
    from .po_files import read_po

    return read_po(source)


class _Day(date):
    """A date that a text without a format for it has as `written`."""

    written: str

    def __format__(self, format: str) -> str:
        return super().__format__(format) if format else self.written


@dataclass(frozen=True)
class Translator:
    """Translates the texts of one document, such as an email, and fills in their values. A date,
    but not a datetime, is written in the language of the document unless the text formats it."""

    language: str
    catalog: NullTranslations
    # In HTML, values are escaped unless they are markup.
    is_html: bool = False

    def __call__(self, text: str, /, **values: object) -> str:
        # The translation of an empty text is the catalog's header.
        return self._format(self.catalog.gettext(text), values) if text else ""

    def plural(self, one: str, many: str, n: int, /, **values: object) -> str:
        return self._format(self.catalog.ngettext(one, many, n), {"n": n, **values})

    @property
    def tag(self) -> str:
        return language_tag(self.language)

    @property
    def direction(self) -> str:
        return direction(self.language)

    @property
    def start(self) -> str:
        """The side that a line starts at, for CSS of emails."""
        return "right" if self.direction == "rtl" else "left"

    def _format(self, text: str, values: dict[str, object]) -> str:
        shown: str | Markup = escape(text) if self.is_html else text
        values = {
            name: self._day(value) if type(value) is date else value
            for name, value in values.items()
        }
        return shown.format(**isolated(values, self.language)) if values else shown

    def _day(self, value: date) -> _Day:
        month = self.catalog.gettext(MONTHS[value.month - 1])
        text = self.catalog.gettext(DAY).format(day=value.day, month=month, year=value.year)
        day = _Day(value.year, value.month, value.day)
        day.written = str(isolated({"day": text}, self.language)["day"])
        return day

"""Translations are read from `.po` files as a gettext compiler reads them."""

from __future__ import annotations

from gettext import GNUTranslations
from io import BytesIO

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import write_po

from app.core.po_files import compile_po


def _catalog() -> Catalog:
    catalog = Catalog(locale="ar")
    catalog.add("Sign in", "دخول", locations=[("a.html", 3)], auto_comments=["A button"])
    catalog.add("Open", "افتح", context="button")
    catalog.add("Open", "مفتوح", context="state")
    catalog.add('A "quoted"\ttext\nof lines \\', '"نص"\t\n\\')
    catalog.add("A long text " * 20, "ترجمة " * 40)
    catalog.add(("One day", "{n} days"), [f"{{n}} {form}" for form in "abcdef"])
    catalog.add("Not translated")
    catalog.add(("Partly", "translated"), ["a", "b", "c", "d", "e", ""])
    catalog.add("Unsure", "ربما", flags=["fuzzy"])
    catalog.add("After the unsure one", "بعد")
    return catalog


def test_po_file_has_the_texts_of_the_compiled_file() -> None:
    po, mo = BytesIO(), BytesIO()
    write_po(po, _catalog(), width=40)
    write_mo(mo, _catalog())
    read = GNUTranslations(BytesIO(compile_po(po.getvalue().decode())))
    expected = GNUTranslations(BytesIO(mo.getvalue()))
    for message in _catalog():
        if isinstance(message.id, str) and message.context:
            found = read.pgettext(message.context, message.id)
            assert found == expected.pgettext(message.context, message.id) == message.string
        elif isinstance(message.id, str) and message.id:
            assert read.gettext(message.id) == expected.gettext(message.id)
    for n in (0, 1, 2, 3, 11, 100):
        assert read.ngettext("One day", "{n} days", n) == expected.ngettext(
            "One day", "{n} days", n
        )
    assert read.gettext("Unsure") == "Unsure"
    assert read.gettext("After the unsure one") == "بعد"
    assert read.ngettext("Partly", "translated", 1) == "Partly"


def test_removed_texts_and_comments_are_ignored() -> None:
    po = '# A comment\nmsgid "Old"\nmsgstr "New"\n\n#~ msgid "Gone"\n#~ msgstr "Weg"\n'
    read = GNUTranslations(BytesIO(compile_po(po)))
    assert (read.gettext("Old"), read.gettext("Gone")) == ("New", "Gone")

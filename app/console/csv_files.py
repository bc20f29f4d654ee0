"""CSV for spreadsheets. A spreadsheet never runs a text of these files as a formula."""

import csv
from collections.abc import Iterable
from datetime import datetime
from io import StringIO

MIMETYPE = "text/csv"
# Spreadsheets assume another encoding without it.
BYTE_ORDER_MARK = "\ufeff".encode()
# The full-width signs are the same to some spreadsheets.
_FORMULA_STARTS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_CONTROL_CHARACTERS = ("\t", "\r", "\n")


def csv_lines(rows: Iterable[Iterable[object]]) -> bytes:
    file = StringIO(newline="")
    # All fields are quoted: a spreadsheet may also split fields at semicolons.
    writer = csv.writer(file, quoting=csv.QUOTE_ALL)
    writer.writerows([_field(value) for value in row] for row in rows)
    return file.getvalue().encode()


def _field(value: object) -> object:
    if value is None or isinstance(value, (int, float)):
        return value
    text = value.isoformat() if isinstance(value, datetime) else str(value)
    is_formula = text.lstrip().startswith(_FORMULA_STARTS) or text.startswith(_CONTROL_CHARACTERS)
    return f"'{text}" if is_formula else text

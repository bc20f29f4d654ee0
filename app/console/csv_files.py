"""Downloads as CSV for spreadsheets, which never run a text of these files as a formula, and as
JSON lines."""

import csv
import re
from collections.abc import Iterable
from datetime import datetime
from io import StringIO
from itertools import chain

from flask import Response, stream_with_context

from ..audit.routes import JSON_LINES
from ..core.context import current_frontdesk
from ..core.db.transaction import release

MIMETYPE = "text/csv"
# Spreadsheets assume another encoding without it.
BYTE_ORDER_MARK = "\ufeff".encode()
# The places in a value where a cell would begin with a formula, a tab or a carriage return. Where
# the list separator is a semicolon or a tab, a spreadsheet ignores the quotes of this file, and
# also starts cells and rows within a value. The full-width signs are the same to some spreadsheets.
_UNSAFE_STARTS = re.compile('(?:^|(?<=[,;\t\r\n]))(?=[\\s"]*[-=+@\uff1d\uff0b\uff0d\uff20]|[\t\r])')


def release_connection() -> None:
    """Return the connection of the queries so far, which a slow client would otherwise keep."""
    if current_frontdesk.owns_application:
        release(current_frontdesk.session)


def download(name: str, batches: Iterable[bytes], columns: Iterable[str]) -> Response:
    """Return the batches of rows as a streamed file. The end of the name is the format: `.csv`,
    which starts with a row of the columns, or `.jsonl`.
    The name of the file also has the date, in UTC."""
    is_csv = is_csv_name(name)
    if is_csv:
        batches = chain([BYTE_ORDER_MARK + csv_lines([columns])], batches)
    response = Response(
        stream_with_context(iter(batches)), mimetype=MIMETYPE if is_csv else JSON_LINES
    )
    stem, _, ending = name.rpartition(".")
    dated = f"{stem}-{current_frontdesk.clock.now():%Y-%m-%d}.{ending}"
    response.headers["Content-Disposition"] = f'attachment; filename="{dated}"'
    return response


def is_csv_name(name: str) -> bool:
    return name.endswith(".csv")


def csv_lines(rows: Iterable[Iterable[object]]) -> bytes:
    file = StringIO(newline="")
    writer = csv.writer(file, quoting=csv.QUOTE_ALL)
    writer.writerows([_field(value) for value in row] for row in rows)
    return file.getvalue().encode()


def _field(value: object) -> object:
    if value is None or isinstance(value, (int, float)):
        return value
    text = value.isoformat() if isinstance(value, datetime) else str(value)
    return _UNSAFE_STARTS.sub("'", text)

"""Downloads of the filtered list of accounts."""

from collections.abc import Sequence

from flask import Response

from ...administration.schemas import AccountDetails, AccountQuery
from ...administration.search import AccountSearch
from ...administration.view import Details
from ...audit.service import write_json_lines
from ...core.context import service
from ...core.errors import Invalid
from ...core.web.request_data import load_body
from ...core.web.responses import field_names
from ..csv_files import csv_lines, download, is_csv_name, release_connection
from ..links import link_to, redirect
from .accounts import AT, FILTERS, account_query
from .filters import admins_only, filter_values

COLUMNS = tuple(field_names(AccountDetails))


@admins_only
def accounts_csv() -> Response:
    return _download("accounts.csv")


@admins_only
def accounts_file() -> Response:
    return _download("accounts.jsonl")


def _download(name: str) -> Response:
    filters = filter_values((*FILTERS, "sort"))
    write = _write_csv if is_csv_name(name) else write_json_lines
    release_connection()
    try:
        query: AccountQuery.Input = load_body(AccountQuery, account_query(filters))
        batches = service(AccountSearch).export(query, name.partition(".")[2], write)
    except Invalid:
        # The page shows the errors of the filters.
        return redirect(link_to(f".{AT}", **filters))
    return download(name, batches, COLUMNS)


def _write_csv(rows: Sequence[Details]) -> bytes:
    return csv_lines([row[name] for name in COLUMNS] for row in rows)

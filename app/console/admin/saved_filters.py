"""The admin's saved filters of the audit log."""

from typing import TypedDict
from urllib.parse import urlencode

from flask import Response

from ...audit.saved_filters import NAME_LENGTH, QUERY_LENGTH, SavedFilters
from ...audit.service import Records
from ...auth.caller import caller
from ...core.context import service
from ...core.errors import Invalid
from ...core.web.fields import RequestSchema, Text
from ...core.web.request_data import takes
from ..api_calls import ApiCall, calls_api
from ..audit_log import PERSON_FILTERS, load_filters
from ..links import redirect_to
from ..pages import render_page
from ..texts import _
from .events import AT, FILTERS, parse_filters
from .filters import admins_only, filter_values

LIST = ".saved_filters_page"


class FilterName(RequestSchema):
    class Input(TypedDict):
        name: str

    name = Text(min=1, max=NAME_LENGTH, required=True)


@admins_only
def saved_filters_page() -> Response:
    saved = service(SavedFilters).list(caller().account.id)
    return render_page(
        "admin/saved_filters.html", at=AT, saved=saved, filters=filter_values(FILTERS)
    )


@admins_only
@takes(form=FilterName)
def _save_filter(form: FilterName.Input) -> None:
    """Save the filters in the page's query, with ids of accounts instead of email addresses."""
    filters = filter_values(FILTERS)
    known = parse_filters(filters)
    # Rejects invalid filters.
    service(Records).page(load_filters(known), {"limit": 1})
    filters |= {name: known[name] for name in PERSON_FILTERS if name in known}
    query = urlencode(filters)
    if not query or len(query) > QUERY_LENGTH:
        raise Invalid.about("name", _("Choose a filter first."))
    service(SavedFilters).save(caller().account.id, form["name"], query)


@calls_api(_save_filter, form_page=saved_filters_page)
def save_event_filter(call_api: ApiCall) -> Response:
    call_api()
    return redirect_to(LIST, _("Filter saved."))


@admins_only
def delete_event_filter(filter_id: int) -> Response:
    service(SavedFilters).delete(caller().account.id, filter_id)
    return redirect_to(LIST, _("Filter deleted."))

"""Keeps the fields of a form that was sent after its session had ended, until the user signs in,
and of a form that needs a re-authentication.

The fields are in the shared state store. Only the account of the ended session gets them back.
Only named fields are stored: the ones below, and the ones that a page of the application names.
"""

from contextlib import suppress
from typing import NamedTuple

import orjson
from flask import Response, after_this_request, request
from werkzeug.datastructures import ImmutableMultiDict
from werkzeug.exceptions import HTTPException

from ..auth.caller import caller
from ..auth.sessions.cookie_sessions import CookieSessions
from ..core.context import current_frontdesk, service
from ..core.db.account_ids import serialize_id
from ..core.keystore import KeystoreUnavailable
from ..core.request import unwrap_request
from ..core.web.paging import own_path
from ..extension.console_pages import HostConsole
from ..profiles.models import WRITABLE
from .cookies import KEPT_FORM, LOST, BrowserEntry, delete_kept_form, read_cookie, set_cookie
from .forms import endpoint_name, sent_path, show_kept_form
from .links import has_page, is_fragment_request
from .pages import is_signed_in

SECONDS = 30 * 60
_FORM = BrowserEntry(KEPT_FORM, "kept-form")
# What the sign-in page says, instead of a key.
KEPT, SIGNED_OUT = "kept", "signed-out"
_MARK_SECONDS = 60
# Of the stored fields, and of the request.
MAX_SIZE = 64 * 1024
MAX_BODY = 3 * MAX_SIZE
# Forms of one account within `SECONDS`: the state store cannot be filled with them.
MAX_FORMS = 20
# The stored fields of the console's own forms: nothing that is secret.
_OWN_FIELDS = WRITABLE | frozenset(
    (
        *("account", "account_receiver_ids", "audience", "draft", "email", "emails", "language"),
        *("days", "scopes"),
        *("data.channels", "data.message", "data.title", "length", "list", "locale", "message"),
        *("name", "phone", "role", "search", "segment", "slug", "status", "suspended_reason"),
        *("suspended_until", "text", "time_zone", "type", "way", "workspace"),
    )
)


class KeptForm(NamedTuple):
    # The id of the ended session's account.
    account: object
    # The path of the page with the form, without a query.
    page: str
    # The endpoint and the path of the form's action.
    endpoint: str
    path: str
    fields: list[tuple[str, str]]
    after_sign_out: bool = True


def keep_form(response: Response, page: str) -> Response:
    """Keep the form of this request while the user re-authenticates."""
    _keep(response, page, after_sign_out=False)
    return response


def note_sign_out(response: Response, page: str) -> Response:
    """Keep the form of this request, and set the cookie for what the sign-in page says."""
    has_changes = _keep(response, page, after_sign_out=True)
    if not has_changes and service(CookieSessions).is_sent(request) and not read_cookie(KEPT_FORM):
        set_cookie(response, KEPT_FORM, SIGNED_OUT, _MARK_SECONDS)
    return response


def sign_out_note() -> str:
    """Return what the sign-in page says: `kept`, `lost`, `signed-out`, or nothing."""
    mark = read_cookie(KEPT_FORM)
    if mark in (LOST, SIGNED_OUT):
        return mark
    try:
        return KEPT if _FORM.read() else ""
    except KeystoreUnavailable:
        return LOST


def delete_mark(response: Response) -> Response:
    """Delete the cookie after the sign-in page, unless the next page needs it."""
    return delete_kept_form(response) if read_cookie(KEPT_FORM) == SIGNED_OUT else response


def restore_form() -> None:
    """Fill in the page of a kept form for the account that sent it; other accounts delete it."""
    if request.method != "GET" or is_fragment_request():
        return
    with suppress(KeystoreUnavailable):
        value = _FORM.read()
        if value is None or not is_signed_in():
            return
        kept = KeptForm(*orjson.loads(value))
        is_own = kept.account == serialize_id(caller().account.id)
        if is_own and kept.page != own_path():
            return
        after_this_request(delete_kept_form)
        # Of two pages at once, one gets the form.
        if _FORM.take() is not None and is_own:
            _show(kept)


def _show(kept: KeptForm) -> None:
    """Let the page read the fields as it reads those of a rejected form."""
    filled = unwrap_request()
    filled.form = ImmutableMultiDict((name, value) for name, value in kept.fields)
    # Werkzeug reads both from the body, which this request does not have.
    filled.files = ImmutableMultiDict()
    show_kept_form(kept.endpoint, kept.path, after_sign_out=kept.after_sign_out)


def _keep(response: Response, page: str, *, after_sign_out: bool) -> bool:
    """Store the form of this request, or note that it is lost; return False if it has no input."""
    fields = _fields()
    if fields is None or (fields and not _store(response, fields, page, after_sign_out)):
        set_cookie(response, KEPT_FORM, LOST, SECONDS)
    return fields != []


def _fields() -> list[tuple[str, str]] | None:
    """Return the fields that are stored, or None if the request has too much, or only others."""
    if request.method != "POST" or is_fragment_request():
        return []
    if (request.content_length or 0) > MAX_BODY:
        return None
    try:
        sent = [*request.form.items(multi=True)]
        has_files = any(file.filename for file in request.files.values())
    except HTTPException:
        return None
    pages, name = service(HostConsole).pages, endpoint_name(request.endpoint or "")
    named = next((page.keep for page in pages if page.name == name), None)
    fields = [each for each in sent if each[0] in (_OWN_FIELDS if named is None else named)]
    if any(value.strip() for _, value in fields):
        return fields
    # Many of the console's own forms are only a button.
    is_lost = has_files or (named is not None and any(value.strip() for _, value in sent))
    return None if is_lost else []


def _store(
    response: Response, fields: list[tuple[str, str]], page: str, after_sign_out: bool
) -> bool:
    """Store the form; return False if it cannot be kept."""
    path = page.partition("?")[0]
    account_id = service(CookieSessions).find_account_id(request)
    if account_id is None or not has_page(path):
        return False
    account = serialize_id(account_id)
    endpoint = endpoint_name(request.endpoint or "")
    kept = KeptForm(account, path, endpoint, sent_path(), fields, after_sign_out)
    value = orjson.dumps(list(kept)).decode()
    if len(value.encode()) > MAX_SIZE:
        return False
    try:
        if current_frontdesk.keystore.count(f"kept-forms:{account}", SECONDS) > MAX_FORMS:
            return False
        _FORM.store(response, value, SECONDS)
    except KeystoreUnavailable:
        return False
    return True

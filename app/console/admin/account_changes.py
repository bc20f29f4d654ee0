"""Changes of an account that need a separate form: suspension, email address, linked identities,
notes, sessions and tokens."""

from datetime import timedelta
from typing import TypedDict

from flask import Response, request

from ...accounts.models import ROOT, SUSPENDED, keeps_dates
from ...accounts.notes import TEXT_LENGTH, AccountNotes
from ...administration import credential_routes
from ...administration import routes as administration_api
from ...administration.credentials import CredentialAdministration
from ...administration.service import OWNERLESS, Administration
from ...auth.caller import caller
from ...auth.decorators import fresh_factor_required
from ...auth.email_change.service import EmailChanges
from ...core.context import current_frontdesk, service
from ...core.errors import Invalid
from ...core.types import AccountKey, JsonObject
from ...core.web.fields import EnumField, NamedEnum, RequestSchema, Text
from ...core.web.request_data import takes
from ...tokens import routes as tokens_api
from ..api_calls import ApiCall, console_form
from ..owner.step_up import require_recent_sign_in
from ..texts import _, device_name
from ..tokens import ended_text
from .account import (
    change_page,
    managed_account_page,
    redirect_to_account,
    undo_status,
    with_ownerless,
)
from .filters import admins_only, start_of_day

# The lengths of a suspension: a number of days, until a date, or until an admin lifts it.
DAYS = ("1", "7", "30")
UNTIL_DAY, WITHOUT_END = "day", "open"
# How an email address is changed: the owner confirms it, or the admin has verified it.
CONFIRM, VERIFIED = "confirm", "verified"


@admins_only
def suspend_managed_account_page(account_id: AccountKey) -> Response:
    has_dates = keeps_dates(current_frontdesk.tables.account_model)
    return change_page("admin/suspend_account.html", account_id, has_dates=has_dates)


@console_form(administration_api.update_managed_account, page=suspend_managed_account_page)
def suspend_managed_account(call_api: ApiCall, account_id: AccountKey) -> Response:
    changed = call_api(json={"status": SUSPENDED, **sent_suspension()})
    text = _("Suspended {email} and ended its sessions.", email=changed["email"])
    text = with_ownerless(text, changed[OWNERLESS])
    return redirect_to_account(text, account_id, undo_status(account_id))


def sent_suspension() -> JsonObject:
    """Return the end and the reason of the suspension in the form."""
    suspension: JsonObject = {}
    if until := _until():
        suspension["suspended_until"] = until
    if reason := request.form.get("suspended_reason", "").strip():
        suspension["suspended_reason"] = reason.replace("\r\n", "\n")
    return suspension


def _until() -> str:
    duration = request.form.get("length", WITHOUT_END)
    if duration in DAYS:
        until = current_frontdesk.clock.now() + timedelta(days=int(duration))
        return until.isoformat()
    if duration != UNTIL_DAY:
        return ""
    day = request.form.get("suspended_until", "")
    if not day:
        raise Invalid.about("suspended_until", _("Choose a date."))
    return start_of_day(day) or day


class NewAddress(RequestSchema):
    class Input(TypedDict):
        email: str
        method: str

    email = Text(min=1, max=320, strip=True, required=True)
    method = EnumField(NamedEnum("NewAddressMethod", (CONFIRM, VERIFIED)), load_default=CONFIRM)


@admins_only
@require_recent_sign_in
def managed_email_page(account_id: AccountKey) -> Response:
    waiting = service(EmailChanges).waiting(account_id)
    return change_page("admin/change_email.html", account_id, waiting=waiting)


@console_form(page=managed_email_page)
@admins_only
@fresh_factor_required
@takes(form=NewAddress)
def change_managed_email(account_id: AccountKey, form: NewAddress.Input) -> Response:
    credentials, actor, email = service(CredentialAdministration), caller().account, form["email"]
    if form["method"] == VERIFIED:
        credentials.set_email(actor, account_id, email)
        text = _("The email address is now {email}. All sessions have ended.", email=email)
    else:
        credentials.request_email(actor, account_id, email)
        text = _("We emailed {email}. The address changes when the owner confirms it.", email=email)
    return redirect_to_account(text, account_id)


@console_form(page=managed_account_page)
@admins_only
@fresh_factor_required
def unlink_managed_identity(account_id: AccountKey, identity_id: int) -> Response:
    label = service(CredentialAdministration).unlink(caller().account, account_id, identity_id)
    return redirect_to_account(_("Unlinked {email}.", email=label), account_id)


class NoteText(RequestSchema):
    class Input(TypedDict):
        text: str

    text = Text(min=1, max=TEXT_LENGTH, strip=True, required=True)


@console_form(page=managed_account_page)
@admins_only
@takes(form=NoteText)
def add_account_note(account_id: AccountKey, form: NoteText.Input) -> Response:
    actor = caller().account
    service(Administration).find(actor, account_id)
    service(AccountNotes).add(actor.id, account_id, form["text"])
    return redirect_to_account(_("Note added."), account_id, tab="notes")


@console_form(page=managed_account_page)
@admins_only
def delete_account_note(account_id: AccountKey, note_id: int) -> Response:
    actor = caller().account
    service(Administration).find(actor, account_id)
    service(AccountNotes).delete(actor, account_id, note_id, of_others=actor.role == ROOT)
    return redirect_to_account(_("Note deleted."), account_id, tab="notes")


@console_form(credential_routes.end_account_session, page=managed_account_page)
def end_managed_account_session(
    call_api: ApiCall, account_id: AccountKey, session_id: str
) -> Response:
    device = device_name(call_api()["label"]) or _("The device")
    text = _("Signed out {device}.", device=device)
    return redirect_to_account(text, account_id, tab="sessions")


@console_form(tokens_api.end_account_token, page=managed_account_page)
def end_managed_account_token(call_api: ApiCall, account_id: AccountKey, token_id: int) -> Response:
    text = _("Ended {name}.", name=call_api()["name"])
    return redirect_to_account(text, account_id, tab="sessions")


@console_form(tokens_api.end_account_tokens, page=managed_account_page)
def end_managed_account_tokens(call_api: ApiCall, account_id: AccountKey) -> Response:
    return redirect_to_account(ended_text(call_api()["ended"]), account_id, tab="sessions")

"""The forms for notes about an account."""

from typing import TypedDict

from flask import Response

from ...accounts.notes import TEXT_LENGTH, AccountNotes
from ...administration.rules import ROOT
from ...administration.service import Administration
from ...auth.caller import caller
from ...core.context import service
from ...core.types import AccountKey
from ...core.web.fields import RequestSchema, Text
from ...core.web.request_data import takes
from ..api_calls import ApiCall, calls_api, show_form_again
from ..texts import _
from .account import managed_account_page, redirect_to_account
from .filters import admins_only


class NoteText(RequestSchema):
    class Input(TypedDict):
        text: str

    text = Text(min=1, max=TEXT_LENGTH, strip=True, required=True)


@admins_only
@takes(form=NoteText)
def _add_note(account_id: AccountKey, form: NoteText.Input) -> None:
    actor = caller().account
    service(Administration).find(actor, account_id)
    service(AccountNotes).add(actor.id, account_id, form["text"])


@calls_api(_add_note, form_page=managed_account_page)
def add_account_note(call_api: ApiCall, account_id: AccountKey) -> Response:
    call_api()
    return redirect_to_account(_("Note added."), account_id)


@show_form_again(managed_account_page)
@admins_only
def delete_account_note(account_id: AccountKey, note_id: int) -> Response:
    actor = caller().account
    service(Administration).find(actor, account_id)
    service(AccountNotes).delete(actor, account_id, note_id, of_others=actor.role == ROOT)
    return redirect_to_account(_("Note deleted."), account_id)

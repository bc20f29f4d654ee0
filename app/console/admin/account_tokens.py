"""The forms with which roots end the personal tokens of an account."""

from flask import Response

from ...core.types import AccountKey
from ...tokens import routes as tokens_api
from ..api_calls import ApiCall, console_form
from ..texts import _
from ..tokens import ended_text
from .account import managed_account_page, redirect_to_account


@console_form(tokens_api.end_account_token, page=managed_account_page)
def end_managed_account_token(call_api: ApiCall, account_id: AccountKey, token_id: int) -> Response:
    text = _("Ended {name}.", name=call_api()["name"])
    return redirect_to_account(text, account_id, tab="sessions")


@console_form(tokens_api.end_account_tokens, page=managed_account_page)
def end_managed_account_tokens(call_api: ApiCall, account_id: AccountKey) -> Response:
    return redirect_to_account(ended_text(call_api()["ended"]), account_id, tab="sessions")

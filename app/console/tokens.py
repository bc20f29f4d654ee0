"""Tokens for programs, as several pages show them."""

from __future__ import annotations

from collections.abc import Container, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from markupsafe import Markup

from ..auth.scopes import Scopes
from ..core.context import current_frontdesk, service
from ..core.types import AccountKey, JsonObject
from .links import link_to
from .resources import ConsoleResources
from .texts import _, _n

if TYPE_CHECKING:
    from ..tokens.stored import ShownToken

# Tokens that expire within this time are marked.
SOON = timedelta(days=7)


def personal_tokens(account_id: AccountKey) -> Sequence[ShownToken]:
    """Return the valid personal tokens of an account; none with the feature off."""
    if not service(ConsoleResources).features.has(".tokens_page"):
        return ()
    # Imported only if the feature is enabled.
    from ..tokens.service import PersonalTokens

    return service(PersonalTokens).list(account_id)


def token_list(tokens: Sequence[ShownToken]) -> JsonObject:
    """Return the variables of a template with a list of tokens."""
    return {"tokens": tokens, "soon": current_frontdesk.clock.now() + SOON}


def new_token_form(without: Container[str]) -> JsonObject:
    """Return the variables of a template with the form of a new token; `without` are scopes that it
    does not offer."""
    from ..tokens.models import NAME_LENGTH
    from ..tokens.schemas import DEFAULT_DAYS, LONGEST_DAYS

    known = service(Scopes).known
    return {
        "scopes": [
            (name, Markup("<code>{}</code>").format(name), _(known[name]))
            for name in sorted(known)
            if name not in without
        ],
        "name_length": NAME_LENGTH,
        "days": DEFAULT_DAYS,
        "most_days": LONGEST_DAYS,
    }


def ended_text(number: int) -> Markup:
    return _n("Ended one token.", "Ended {n} tokens.", number)


def path_to_tokens(account_id: AccountKey | None) -> str:
    """Return the path of the page after a change that ends sessions but no tokens; empty if the
    account has no tokens."""
    if account_id is None or not personal_tokens(account_id):
        return ""
    return link_to(".tokens_page", changed="true")

"""The views of personal tokens: for their owners, and for roots who end them."""

from collections.abc import Iterable, Sequence

from ..accounts.errors import AccountNotFound
from ..accounts.service import Accounts
from ..auth.caller import caller
from ..auth.decorators import (
    account_required,
    active_account_required,
    fresh_required,
    superuser_required,
)
from ..auth.scopes import Scopes
from ..core.context import service
from ..core.types import AccountKey
from ..core.web.operation import example, raises
from ..core.web.request_data import takes
from ..core.web.responses import answers
from . import schemas
from .errors import PersonalTokenNotFound, TooManyTokens
from .schemas import EndedTokens, PersonalTokenCreate, PersonalTokenCreated, PersonalTokenRead
from .service import BY_OPERATOR, PersonalTokens
from .stored import ShownToken


@account_required
@example(answer=[schemas.SCOPE])
@answers(200, schemas.ScopeRead, many=True)
def list_scopes() -> Iterable[dict[str, str]]:
    """List the scopes that tokens can have"""
    known = service(Scopes).known
    return [{"name": name, "description": known[name]} for name in sorted(known)]


@active_account_required
@example(answer=[schemas.TOKEN])
@answers(200, PersonalTokenRead, many=True)
def list_personal_tokens() -> Sequence[ShownToken]:
    """List the caller's personal tokens, the newest first"""
    return service(PersonalTokens).list(caller().account.id)


@active_account_required
@fresh_required()
@example(json=schemas.BACKUP, answer=schemas.CREATED)
@raises(TooManyTokens)
@takes(json=PersonalTokenCreate)
@answers(201, PersonalTokenCreated)
def create_personal_token(json: PersonalTokenCreate.Input) -> ShownToken:
    """Create a personal token for a program

    The response has the token, which is stored nowhere and not shown again. An account can have 25
    valid tokens.
    """
    return service(PersonalTokens).create(caller(), json)


@active_account_required
@example(answer=schemas.TOKEN)
@raises(PersonalTokenNotFound)
@answers(200, PersonalTokenRead)
def end_personal_token(token_id: int) -> ShownToken:
    """End a personal token"""
    return service(PersonalTokens).end(caller().account.id, token_id)


@active_account_required
@example(answer=schemas.ENDED)
@answers(200, EndedTokens)
def end_personal_tokens() -> dict[str, int]:
    """End all of the caller's personal tokens"""
    return {"ended": service(PersonalTokens).end_all(caller().account.id)}


@superuser_required
@example(answer=[schemas.TOKEN])
@raises(AccountNotFound)
@answers(200, PersonalTokenRead, many=True)
def list_account_tokens(account_id: AccountKey) -> Sequence[ShownToken]:
    """List an account's personal tokens, the newest first"""
    return service(PersonalTokens).list(_existing(account_id))


@superuser_required
@example(answer=schemas.ENDED)
@raises(AccountNotFound)
@answers(200, EndedTokens)
def end_account_tokens(account_id: AccountKey) -> dict[str, int]:
    """End all personal tokens of an account"""
    return {"ended": service(PersonalTokens).end_all(_existing(account_id), BY_OPERATOR)}


@superuser_required
@example(answer=schemas.TOKEN)
@raises(AccountNotFound, PersonalTokenNotFound)
@answers(200, PersonalTokenRead)
def end_account_token(account_id: AccountKey, token_id: int) -> ShownToken:
    """End a personal token of an account"""
    return service(PersonalTokens).end(_existing(account_id), token_id, BY_OPERATOR)


def _existing(account_id: AccountKey) -> AccountKey:
    if service(Accounts).by_id(account_id) is None:
        raise AccountNotFound
    return account_id

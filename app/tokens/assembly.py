"""Adds tokens for programs: their tables, what reads them, and what ends them."""

from datetime import datetime
from functools import partial

from ..accounts.actions import ACCOUNT_UPDATED
from ..accounts.models import SUSPENDED, AccountLike
from ..accounts.service import Accounts, Reclaimer
from ..auth.actions import PASSWORD_RESET, TOKENS_ENDED
from ..auth.errors import InactiveCaller, InsufficientScope
from ..auth.features import TokenFeature
from ..auth.scopes import Scopes
from ..auth.settings import AuthSettings
from ..core.context import Context, Pruner
from ..core.data_export import DataExporter
from ..core.db.transaction import AnySession
from ..core.types import AccountKey, Values
from ..core.web.operation import PathVariable, ScopedCredential
from ..delivery.mail.one_off import OwnerMail
from ..delivery.mail.templates import Templates
from ..delivery.worker.due_rows import DueRows
from ..delivery.worker.worker import BackgroundWork
from .errors import TokenLimitReached
from .export import export_tokens
from .format import PERSONAL
from .limits import RequestLimit
from .mails import TokenMails
from .models import PersonalToken
from .reader import PERSONAL_TOKEN, PersonalTokenReader, TokenReader
from .reminders import FIRST_REMINDER, REMIND, Reminders
from .rows import TokenRows
from .service import BY_OPERATOR, BY_PASSWORD_RESET, BY_RECLAIM, BY_SUSPENSION, PersonalTokens
from .uses import TokenUses


def assemble(context: Context) -> None:
    context.tables.add(PersonalToken)
    context.provide(PersonalTokens, _tokens)
    context.provide(TokenFeature, _feature)
    context.contribute(
        ScopedCredential(PERSONAL_TOKEN, (InactiveCaller, InsufficientScope, TokenLimitReached)),
        BackgroundWork(REMIND, partial(_reminders, context)),
        DataExporter(export_tokens),
        Reclaimer(partial(_reclaim, context)),
        Pruner("personal_tokens", lambda: context.get(PersonalTokens).prune()),
        PathVariable("token_id", "ID of the token."),
    )
    _end_with_actions(context)


def _tokens(context: Context) -> PersonalTokens:
    known = context.get(Scopes).known
    accounts, mails = context.get(Accounts), _mails(context)
    return PersonalTokens(context.session, accounts, context.clock, known, mails)


def _mails(context: Context) -> TokenMails:
    return TokenMails(context.get(Templates), context.get(OwnerMail))


def _feature(context: Context) -> TokenFeature:
    auth, accounts = context.settings.of(AuthSettings), context.get(Accounts)
    uses = TokenUses(context.session, keeps_networks=auth.SESSION_ADDRESSES != "none")
    personal = PersonalTokenReader(TokenRows(accounts.rows, accounts.model), accounts, uses)
    limit = RequestLimit(auth.PERSONAL_TOKEN_LIMIT)
    return TokenFeature(TokenReader({PERSONAL: personal.read}, limit, context.clock))


def _reminders(context: Context) -> DueRows:
    reminders = Reminders(context.session, context.get(Accounts), context.clock, _mails(context))
    return DueRows(FIRST_REMINDER, reminders.send_due, context.engine, context.clock)


def _reclaim(
    context: Context, _session: AnySession, account: AccountLike, since: datetime | None
) -> None:
    context.get(PersonalTokens).end_all(account.id, BY_RECLAIM, since)


def _end_with_actions(context: Context) -> None:
    """End tokens in the transactions of what locks a person out of an account.

    The loss of a membership ends the tokens for its workspace by their foreign key.
    """

    def end(account_id: AccountKey | None, reason: str) -> None:
        tokens = context.get(PersonalTokens)
        # The sign-out of everybody names no account.
        if account_id is None:
            tokens.end_of_everybody()
        else:
            tokens.end_all(account_id, reason)

    def end_if_suspended(account_id: AccountKey | None, data: Values) -> None:
        if data.get("after", {}).get("status") == SUSPENDED:
            end(account_id, BY_SUSPENSION)

    actions = context.actions
    actions.add_effect(PASSWORD_RESET, lambda account_id, _: end(account_id, BY_PASSWORD_RESET))
    actions.add_effect(TOKENS_ENDED, lambda account_id, _: end(account_id, BY_OPERATOR))
    actions.add_effect(ACCOUNT_UPDATED, end_if_suspended)

"""Adds tokens for programs: their tables, what reads them, and what ends them."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial

from sqlalchemy import select

from ..accounts.actions import ACCOUNT_DELETION_REQUESTED, ACCOUNT_UPDATED
from ..accounts.models import SUSPENDED, AccountLike
from ..accounts.service import Accounts, Reclaimer
from ..auth.actions import PASSWORD_RESET, TOKENS_ENDED
from ..auth.errors import AccountRequired, InactiveCaller, InsufficientScope
from ..auth.features import TokenFeature
from ..auth.scopes import Scopes
from ..auth.settings import AuthSettings
from ..core.clock import Clock
from ..core.context import Context, Pruner
from ..core.data_export import DataExporter, DataSubject, ExportReader
from ..core.db.transaction import AnySession
from ..core.types import AccountKey, Values
from ..core.web.operation import PathVariable, ScopedCredential
from ..delivery.mail.one_off import OwnerMail
from ..delivery.mail.templates import Templates
from ..delivery.worker.worker import BackgroundWork, DueRows
from ..workspaces.members import Members
from ..workspaces.models import Workspace
from .actions import PERSONAL_TOKEN_NETWORK_ADDED, WORKSPACE_TOKEN_NETWORK_ADDED
from .emails import FIRST_REMINDER, REMIND, Reminders, TokenMails
from .errors import TokenLimitReached
from .format import PERSONAL, WORKSPACE
from .models import PersonalToken, TokenModel, WorkspaceToken
from .reader import (
    PERSONAL_TOKEN,
    PersonalTokenReader,
    ReadDigest,
    RequestLimit,
    TokenReader,
    WorkspaceTokenReader,
)
from .rows import TokenRows
from .service import (
    BY_DELETION,
    BY_OPERATOR,
    BY_PASSWORD_RESET,
    BY_RECLAIM,
    BY_SUSPENSION,
    PersonalTokens,
    WorkspaceTokens,
)
from .stored import is_valid, prune
from .uses import TokenUses

MODELS: tuple[TokenModel, ...] = (PersonalToken, WorkspaceToken)
_PROBLEMS = (InactiveCaller, InsufficientScope, AccountRequired, TokenLimitReached)


def assemble(context: Context) -> None:
    for model in MODELS:
        context.tables.add(model)
    context.provide(PersonalTokens, lambda known: PersonalTokens(*_shared(known), _mails(known)))
    context.provide(
        WorkspaceTokens, lambda known: WorkspaceTokens(*_shared(known), known.get(Members))
    )
    context.provide(TokenFeature, _feature)
    context.contribute(
        ScopedCredential(PERSONAL_TOKEN, _PROBLEMS),
        BackgroundWork(REMIND, partial(_reminders, context)),
        DataExporter(export_tokens),
        Reclaimer(partial(_reclaim, context)),
        *(Pruner(f"{model.kind}s", partial(_prune, context, model)) for model in MODELS),
        PathVariable("token_id", "ID of the token."),
    )
    _end_with_actions(context)


def _shared(context: Context) -> tuple[AnySession, Accounts, Clock, Mapping[str, str]]:
    known = context.get(Scopes).known
    return context.session, context.get(Accounts), context.clock, known


def _prune(context: Context, model: TokenModel) -> int:
    return prune(context.session, model, context.clock.now())


def _mails(context: Context) -> TokenMails:
    return TokenMails(context.get(Templates), context.get(OwnerMail))


def _feature(context: Context) -> TokenFeature:
    auth, accounts = context.settings.of(AuthSettings), context.get(Accounts)
    session = context.session
    keeps_networks = auth.SESSION_ADDRESSES != "none"
    uses = TokenUses(session, PersonalToken, PERSONAL_TOKEN_NETWORK_ADDED, keeps_networks)
    personal = PersonalTokenReader(TokenRows(accounts.rows, accounts.model), accounts, uses)
    uses = TokenUses(session, WorkspaceToken, WORKSPACE_TOKEN_NETWORK_ADDED, keeps_networks)
    of_workspace = WorkspaceTokenReader(session, uses)
    kinds: dict[str, ReadDigest] = {PERSONAL: personal.read, WORKSPACE: of_workspace.read}
    limit = RequestLimit(auth.PERSONAL_TOKEN_LIMIT)
    return TokenFeature(TokenReader(kinds, limit, context.clock), partial(_is_valid, context))


def _is_valid(context: Context, token_id: int) -> bool:
    now, is_this = context.clock.now(), WorkspaceToken.id == token_id
    valid = select(WorkspaceToken.id).where(is_this, *is_valid(WorkspaceToken, now))
    return context.session.scalar(valid) is not None


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

    def end(reason: str, account_id: AccountKey | None, _data: Values) -> None:
        tokens = context.get(PersonalTokens)
        # The sign-out of everybody names no account.
        if account_id is None:
            tokens.end_of_everybody()
        else:
            tokens.end_before_commit(account_id, reason)

    def end_if_suspended(account_id: AccountKey | None, data: Values) -> None:
        if data.get("after", {}).get("status") == SUSPENDED:
            end(BY_SUSPENSION, account_id, data)

    on = context.actions.add_effect
    on(PASSWORD_RESET, partial(end, BY_PASSWORD_RESET))
    on(TOKENS_ENDED, partial(end, BY_OPERATOR))
    on(ACCOUNT_DELETION_REQUESTED, partial(end, BY_DELETION))
    on(ACCOUNT_UPDATED, end_if_suspended)


def export_tokens(subject: DataSubject, reader: ExportReader) -> Iterator[tuple[str, object]]:
    if reader.has(PersonalToken, Workspace):
        names = "name prefix scopes networks created_at expires_at last_used_at ended_at"
        columns = (getattr(PersonalToken, name) for name in names.split())
        tokens = (
            select(PersonalToken.id, *columns, Workspace.slug.label("workspace"))
            .outerjoin(Workspace, Workspace.id == PersonalToken.workspace_id)
            .where(PersonalToken.account_id == subject.id)
        )
        yield "personal_tokens.jsonl", reader.rows(tokens)

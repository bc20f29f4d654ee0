from datetime import timedelta
from functools import partial

from ..accounts.search import AccountFinder
from ..accounts.service import Accounts
from ..auth.features import MembershipFeature
from ..auth.proofs import Proofs, Purpose
from ..auth.sign_in_assembly import token_feature
from ..core.context import Context, Pruner
from ..core.data_export import DataExporter
from ..core.web.operation import PathVariable, RequestHeader
from ..delivery.mail.one_off import OneOffMail
from ..delivery.mail.templates import Templates
from .directory import WorkspaceDirectory
from .export import export_workspaces
from .invitations.emails import INVITATION, InvitationProofs, render_invitation, reserve_emails
from .invitations.received import ReceivedInvitations
from .invitations.service import Invitations
from .lookup import find_ids
from .members import Members
from .ownership import Ownership
from .resolvers import HEADER
from .service import LogoDeleter, Workspaces
from .settings import WorkspacesSettings


def assemble(context: Context) -> None:
    context.provide(Ownership, lambda known: Ownership(known.session, known.get(Accounts)))
    context.provide(Members, _members)
    context.provide(
        WorkspaceDirectory,
        lambda known: WorkspaceDirectory(known.get(Accounts), known.get(AccountFinder)),
    )
    context.provide(Workspaces, _workspaces)
    context.provide(InvitationProofs, _proofs)
    context.provide(Invitations, _invitations)
    context.provide(ReceivedInvitations, _received)
    context.contribute(
        DataExporter(export_workspaces),
        RequestHeader(HEADER),
        MembershipFeature(
            lambda slugs: find_ids(context.session, slugs),
            lambda *given: context.get(Members).lock_member(*given),
            lambda *given: context.get(Members).set_type(*given),
        ),
        PathVariable("workspace_slug", "Slug of the workspace, or `current` or `default`."),
        PathVariable("invitation_id", "ID of the invitation."),
        Pruner("invitations", lambda: context.get(Invitations).prune()),
    )


def _members(context: Context) -> Members:
    accounts, finder = context.get(Accounts), context.get(AccountFinder)
    ownership, tokens = context.get(Ownership), token_feature(context)
    return Members(context.session, accounts, finder, ownership, context.clock, tokens)


def _workspaces(context: Context) -> Workspaces:
    return Workspaces(
        context.session,
        context.get(Accounts),
        context.get(Members),
        context.clock,
        context.settings.of(WorkspacesSettings),
        lambda: context.all_contributions(LogoDeleter),
    )


def _proofs(context: Context) -> InvitationProofs:
    days = context.settings.of(WorkspacesSettings).INVITATION_DAYS
    purpose = Purpose(INVITATION, timedelta(days=days))
    return InvitationProofs(context.session, context.get(Proofs), purpose, context.clock)


def _invitations(context: Context) -> Invitations:
    settings = context.settings.of(WorkspacesSettings)
    templates, proofs = context.get(Templates), context.get(InvitationProofs)
    return Invitations(
        context.basics,
        context.get(Accounts),
        context.get(Members),
        partial(reserve_emails, context.keystore, settings.INVITATIONS_PER_HOUR),
        partial(render_invitation, settings, templates, proofs),
        context.get(OneOffMail),  # type: ignore[type-abstract]
        settings,
    )


def _received(context: Context) -> ReceivedInvitations:
    accounts, members = context.get(Accounts), context.get(Members)
    proofs = context.get(InvitationProofs)
    return ReceivedInvitations(context.session, accounts, members, proofs, context.clock)

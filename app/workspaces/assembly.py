from datetime import timedelta

from ..accounts.search import AccountFinder
from ..accounts.service import Accounts
from ..auth.proofs import Proofs, Purpose
from ..core.context import Context, Pruner
from ..core.data_export import DataExporter
from ..core.web.operation import PathVariable, RequestHeader
from ..delivery.mail.one_off import OneOffMail
from ..delivery.mail.templates import Templates
from .directory import WorkspaceDirectory
from .export import export_workspaces
from .invitations.emails import INVITATION, InvitationEmails, InvitationProofs, InvitationRate
from .invitations.received import ReceivedInvitations
from .invitations.service import Invitations
from .members import Members
from .ownership import Ownership
from .resolvers import HEADER
from .service import LogoDeleter, Workspaces
from .settings import WorkspacesSettings


def assemble(context: Context) -> None:
    context.contribute(
        DataExporter(export_workspaces),
        RequestHeader(HEADER),
        PathVariable("workspace_slug", "Slug of the workspace, or `current` or `default`."),
        PathVariable("invitation_id", "ID of the invitation."),
    )
    session, clock, accounts = context.session, context.clock, context.get(Accounts)
    settings = context.settings.of(WorkspacesSettings)
    ownership = Ownership(session, accounts)
    finder = context.get(AccountFinder)
    members = Members(session, accounts, finder, ownership, clock)
    context.add(ownership)
    context.add(members)
    context.add(WorkspaceDirectory(accounts, finder))
    deleters = context.contributions(LogoDeleter)
    context.add(Workspaces(session, accounts, members, clock, settings, deleters))
    purpose = Purpose(INVITATION, timedelta(days=settings.INVITATION_DAYS))
    proofs = InvitationProofs(session, context.get(Proofs), purpose, clock)
    invitations = Invitations(
        context.basics,
        accounts,
        members,
        InvitationRate(context.keystore, settings.INVITATIONS_PER_HOUR),
        InvitationEmails(settings, context.get(Templates), proofs),
        context.get(OneOffMail),  # type: ignore[type-abstract]
        settings,
    )
    context.add(invitations)
    context.contribute(Pruner("invitations", invitations.prune))
    context.add(ReceivedInvitations(session, accounts, members, proofs, clock))

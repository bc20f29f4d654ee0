"""The questions: what of each table is an account's, and which of its columns are told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import String, cast, or_, select

from ..auth.email_change.models import EmailChange
from ..auth.idp.models import Identity
from ..core.db.account_ids import LONGEST_TEXT, WholeIds, kind_of
from ..core.db.transaction import AnySession
from ..core.records.models import Record
from ..delivery.outbox.models import Delivery, OutgoingMessage
from ..notifications.models import InboxItem, Notification
from ..workspaces.invitations.models import Invitation
from ..workspaces.models import Member, Workspace


def receiver_id(account: Any, session: AnySession) -> Any:
    """As the outbox writes it, which has the database make the text of an id that is no number."""
    key = type(account).id
    [column] = select(key).selected_columns
    if isinstance(kind_of(column.type), WholeIds):
        return account.id
    return session.scalar(select(cast(key, String(LONGEST_TEXT))).where(key == account.id))


def workspaces(account_id: Any) -> Any:
    return (
        select(
            Member.id,
            Workspace.slug,
            Workspace.name,
            Workspace.is_personal,
            Member.type,
            Member.status,
            Member.created_at,
        )
        .join(Workspace, Workspace.id == Member.workspace_id)
        .where(Member.account_id == account_id)
    )


def invitations(account_id: Any, email: str | None) -> Any:
    """Those that it sent; and those that its address was sent, once it is known to be its own."""
    mine = Invitation.inviter_id == account_id
    return (
        select(
            Invitation.id,
            Workspace.slug.label("workspace"),
            Invitation.email,
            Invitation.type,
            Invitation.message,
            Invitation.state,
            Invitation.created_at,
            Invitation.expires_at,
        )
        .join(Workspace, Workspace.id == Invitation.workspace_id)
        .where(mine if email is None else or_(mine, Invitation.email == email))
    )


def identities(account_id: Any) -> Any:
    return select(
        Identity.id,
        Identity.provider,
        Identity.issuer,
        Identity.subject,
        Identity.email,
        Identity.linked_at,
        Identity.last_used_at,
    ).where(Identity.account_id == account_id)


def email_changes(account_id: Any) -> Any:
    return select(
        EmailChange.id,
        EmailChange.old_email,
        EmailChange.new_email,
        EmailChange.requested_at,
        EmailChange.confirmed_at,
    ).where(EmailChange.account_id == account_id)


def sessions(model: Any, account_id: Any) -> Any:
    """Without what opens them."""
    return select(
        model.id,
        model.kind,
        model.amr,
        model.created_at,
        model.used_at,
        model.expires_at,
        model.ended_at,
        model.end_reason,
        model.ip,
        model.user_agent,
    ).where(model.account_id == account_id)


def inbox(account_id: Any) -> Any:
    return (
        select(
            InboxItem.id,
            InboxItem.is_read,
            Notification.title,
            Notification.message,
            Notification.notification_type,
            Notification.created_at,
        )
        .join(Notification, Notification.id == InboxItem.notification_id)
        .where(InboxItem.receiver_id == account_id)
    )


def sent(account_id: Any) -> Any:
    return select(
        Notification.id,
        Notification.title,
        Notification.message,
        Notification.channels,
        Notification.receivers,
        Notification.created_at,
    ).where(Notification.sender_id == account_id)


def events(account_id: Any) -> Any:
    return select(
        Record.id,
        Record.type,
        Record.at,
        Record.actor_kind,
        Record.actor_id,
        Record.workspace_id,
        Record.target_kind,
        Record.target_id,
        Record.address,
        Record.user_agent,
        Record.data,
    ).where(Record.account_id == account_id)


def seen_by(account_id: Any, event: Mapping[str, Any]) -> Mapping[str, Any]:
    """From where others act on the account is theirs."""
    if event["actor_id"] in (None, account_id):
        return event
    return {**event, "address": None, "user_agent": None}


def deliveries(receiver: Any, channels: list[str]) -> Any:
    return (
        select(
            Delivery.id,
            Delivery.channel,
            Delivery.state,
            Delivery.attempts,
            Delivery.reason,
            Delivery.reference,
            Delivery.finished_at,
            OutgoingMessage.title,
            OutgoingMessage.message,
            OutgoingMessage.created_at,
        )
        .join(OutgoingMessage, OutgoingMessage.id == Delivery.outgoing_id)
        .where(Delivery.receiver_id == receiver, Delivery.channel.in_(channels))
    )

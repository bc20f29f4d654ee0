"""Sends a notification: stores it, its inbox rows and its deliveries in one transaction.

Receivers are never loaded: the inbox rows are one `INSERT … SELECT`, and messages are sent to the
accounts of those rows. A notification to many receivers is stored without their rows, which a
worker then stores.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from marshmallow import ValidationError
from sqlalchemy import func, select

from ..accounts.service import Accounts
from ..core.actions import Target
from ..core.coded_messages import CodedMessage
from ..core.context import BasicService, find_context, report_action
from ..core.db.account_ids import IntegerIds
from ..core.db.transaction import after_commit, extended_timeout, transaction
from ..core.errors import Invalid, SetupError
from ..core.hooks import check_known
from ..core.types import AccountKey, JsonObject, Values
from ..core.web.request_data import schema_instance
from ..delivery.message import NewMessage, Subject
from ..delivery.outbox.enqueue import CountsByChannel, Outbox, counts_by_subject
from ..delivery.outbox.models import PENDING, STATES
from ..workspaces.models import Workspace
from .actions import NOTIFICATION_SENT
from .errors import NoChannels, SenderRequired, UnknownWorkspace
from .keys import NotificationKeys, make_fingerprint
from .kinds import INAPP, NotificationKind, NotificationKinds, delay_problem
from .models import (
    ACCOUNT_SCOPE,
    ADMIN,
    EXPAND_BROADCASTS,
    SUBJECT,
    SYSTEM,
    Expansion,
    Notification,
    NotificationKey,
)
from .receivers import Audience, Receivers, check_role
from .schemas import CHANNEL, CHANNELS, NotificationCreate


@dataclass(frozen=True)
class Draft:
    """A notification to send. Its texts are validated by the route's schema or by `validate`."""

    title: str
    message: str
    channels: Sequence[str]
    notification_type: str = SYSTEM
    scope: str = ACCOUNT_SCOPE
    sender_id: AccountKey | None = None
    template_file: str | None = None
    context: Values = field(default_factory=dict)
    # Whether the texts have personal fields.
    is_personal: bool = False
    url: str | None = None
    kind: str | None = None
    data: JsonObject | None = None
    workspace_id: int | None = None
    # With a key, the notification is sent once.
    key: str | None = None
    # Minutes; None: those of the kind.
    email_if_unread: int | None = None

    @classmethod
    def validate(
        cls,
        kinds: NotificationKinds,
        channels: Sequence[str] | None,
        context: Values,
        values: JsonObject,
    ) -> Draft:
        """Return the draft of an application's code, validated by the route's schema: a database
        or an email does not accept every text. Raises SetupError or ValueError."""
        kind = _declared(kinds, values["kind"])
        if channels is None:
            channels = default_channels(kind)
        if isinstance(channels, str):
            raise SetupError(f'channels= takes several: channels=["{channels}"].')
        for name in channels:
            how = f'registered first, with @frontdesk.channel("{name}")'
            check_known("channel", name, CHANNEL.known_values(), how)
        if kind is not None and (excluded := kind.excluded(channels)):
            raise SetupError(
                f"The kind {kind.key!r} does not have the channels {', '.join(excluded)}: add them"
                " to channels= of its declaration."
            )
        minutes = values["email_if_unread"]
        if minutes is not None and (problem := delay_problem(minutes, channels)):
            raise SetupError(f"The notification {problem}.")
        try:
            given = {name: values[name] for name in _LOADED if values[name] is not None}
            loaded = schema_instance(NotificationCreate).load({**given, "channels": channels})
        except ValidationError as error:
            raise ValueError(f"This cannot be sent: {error.messages}") from None
        variables = dict(context)
        template_file = variables.pop("template_file", None)
        return cls(**{**values, **loaded}, template_file=template_file, context=variables)


# The values of a draft that the route's schema validates.
_LOADED = ("title", "message", "url", "kind", "data", "workspace_id", "key")
# The parts of a draft that a key stands for, with the channels and the recipients.
_KEYED = ("title", "message", "url", "kind", "data", "workspace_id")


def default_channels(kind: NotificationKind | None) -> list[str]:
    """Return the channels of a notification if its sender names none."""
    return list((kind and kind.channels) or [INAPP])


def _declared(kinds: NotificationKinds, key: str | None) -> NotificationKind | None:
    if key is not None:
        how = f'declared first, with frontdesk.notification_kind("{key}", name="…")'
        check_known("kind of notifications", key, kinds, how)
    return None if key is None else kinds[key]


class SendResult(NamedTuple):
    """The stored notification (None without the channel `inapp`) and the deliveries."""

    notification: Notification | None
    deliveries: CountsByChannel
    # Whether the notification was sent with its key before.
    is_replay: bool = False


@dataclass(eq=False)
class Notifications(BasicService):
    accounts: Accounts
    outbox: Outbox
    # With more receivers, a worker stores their rows, and not the request.
    inline_receivers: int
    kinds: NotificationKinds
    keys: NotificationKeys

    def send(self, draft: Draft, to: Audience | Iterable[object] | None) -> SendResult:
        """Send to an audience, to accounts or their ids, each once, or to all accounts (None)."""
        names = list(dict.fromkeys(draft.channels))
        if not names:
            raise NoChannels
        if draft.notification_type == ADMIN and INAPP in names and draft.sender_id is None:
            raise SenderRequired
        if draft.key is not None and INAPP not in names:
            needs = CodedMessage(f"Needs the channel {INAPP}.", "required", expected=INAPP)
            raise Invalid.about("data.key", needs)
        if to is not None and not isinstance(to, Audience):
            to = list(to)
        with transaction(self.session), extended_timeout(self.session):
            key = None if draft.key is None else self._find_or_add_key(draft, draft.key, names, to)
            if isinstance(key, Notification):
                counts = counts_by_subject(self.session, SUBJECT, [key.id])
                return SendResult(key, counts.get(key.id, {}), is_replay=True)
            if draft.workspace_id is not None:
                self._lock_workspace(draft.workspace_id)
            sent = self._send(draft, names, self._receivers(to))
            stored, is_broadcast = sent.notification, draft.notification_type == ADMIN
            if key is not None and stored is not None:
                key.notification_id = stored.id
                self.session.flush()
            if stored is not None and is_broadcast and isinstance(to, Audience):
                stored.audience = to.to_json()
            self._record(draft, names, sent.notification)
            return sent

    def count_reach(
        self,
        channels: Sequence[str],
        to: Audience | Iterable[object] | None,
        kind: str | None = None,
    ) -> JsonObject:
        """Count the receivers that each channel reaches, and the others by reason, with the query
        that a notification would be sent by."""
        if kind is not None:
            self.check_channels(self.find_kind(kind), channels)
        self.check_exist(channels)
        with transaction(self.session) as session, extended_timeout(self.session):
            targets = self._receivers(to).targets(None)
            all_targets = select(func.count()).select_from(targets.subquery())
            receivers = session.scalar(all_targets) or 0
            reach = {
                name: self._channel_reach(name, targets, receivers, kind)
                for name in dict.fromkeys(channels)
            }
        return {"receivers": receivers, "channels": reach}

    def first_receivers(
        self, to: Audience | Iterable[object] | None, most: int
    ) -> Sequence[AccountKey]:
        """Return the ids of some accounts that a notification would be sent to."""
        with transaction(self.session) as session, extended_timeout(self.session):
            targets = self._receivers(to).targets(None).order_by(self.accounts.model.id)
            return session.scalars(targets.limit(most)).all()

    def find_kind(self, key: str, parent: str = "") -> NotificationKind:
        """Return the kind that a request names in its object `parent`; raise Invalid."""
        if (kind := self.kinds.get(key)) is None:
            choices = sorted(self.kinds)
            text = CodedMessage("Not a kind of notifications.", "not_one_of", choices=choices)
            raise Invalid.about(f"{parent}kind", text)
        return kind

    def check_channels(
        self, kind: NotificationKind, channels: Iterable[str], parent: str = ""
    ) -> None:
        """Raise Invalid for channels that notifications of this kind cannot have."""
        if kind.channels is not None and (excluded := kind.excluded(channels)):
            text = f"Not a channel of this kind: {', '.join(excluded)}"
            message = CodedMessage(text, "not_one_of", choices=list(kind.channels))
            raise Invalid.about(f"{parent}channels", message)

    def check_exist(self, channels: Iterable[str], parent: str = "") -> None:
        """Raise Invalid for channels that neither the API nor the application has."""
        known = {*CHANNELS, *self.outbox.channels.handlers}
        if unknown := sorted({*channels} - known):
            text = f"Not a channel: {', '.join(unknown)}"
            message = CodedMessage(text, "not_one_of", choices=sorted(known))
            raise Invalid.about(f"{parent}channels", message)

    def _find_or_add_key(
        self, draft: Draft, key: str, names: list[str], to: Audience | list[object] | None
    ) -> Notification | NotificationKey:
        content = {name: getattr(draft, name) for name in _KEYED}
        fingerprint = make_fingerprint({**content, "channels": sorted(names)}, to)
        return self.keys.find_or_add(draft.sender_id, key, fingerprint)

    def _lock_workspace(self, workspace_id: int) -> None:
        """Raise UnknownWorkspace, or keep the workspace until the end of the transaction."""
        found = select(Workspace.id).where(Workspace.id == workspace_id)
        # The lock of a foreign key: without it, the workspace could be deleted before the row is
        # stored.
        if self.session.scalar(found.with_for_update(read=True, key_share=True)) is None:
            raise UnknownWorkspace

    def _receivers(self, to: Audience | Iterable[object] | None) -> Receivers:
        receivers = Receivers.of(self.session, self.accounts, to)
        if self.hooks.registered("receivers"):
            return receivers.apply_hook(self.hooks.receivers)
        return receivers

    def _record(self, draft: Draft, names: list[str], stored: Notification | None) -> None:
        report_action(
            self.session,
            NOTIFICATION_SENT,
            account_id=draft.sender_id,
            target=Target(SUBJECT, stored.id) if stored else None,
            channels=names,
            notification_type=draft.notification_type,
            scope=draft.scope,
            receivers=stored.receivers if stored else None,
        )

    def _send(self, draft: Draft, names: list[str], receivers: Receivers) -> SendResult:
        message = NewMessage(
            title=draft.title,
            message=draft.message,
            template_file=draft.template_file,
            context=draft.context,
            is_personal=draft.is_personal,
            url=draft.url,
            kind=draft.kind,
            data=draft.data,
            email_if_unread_at=self._email_if_unread_at(draft, names),
        )
        count = receivers.count()
        channels = [name for name in names if name != INAPP]
        if INAPP not in names:
            # Without a stored notification, a worker has nothing to expand.
            targets = receivers.targets(None)
            return SendResult(None, self.outbox.put(message, targets, channels, None, count))
        notification = self._store(draft, names, count)
        if count > self.inline_receivers:
            deliveries = self._expand_later(notification, receivers, message, channels)
        else:
            notification.receivers = receivers.fill_inbox(notification.id)
            targets, subject = receivers.targets(notification.id), Subject(SUBJECT, notification.id)
            deliveries = self.outbox.put(message, targets, channels, subject, count)
        return SendResult(notification, deliveries)

    def _email_if_unread_at(self, draft: Draft, names: list[str]) -> datetime | None:
        """Return when emails are sent to accounts that have not read the notification in their
        inbox; None for emails at once."""
        minutes, kind = draft.email_if_unread, self.kinds.get(draft.kind or "")
        if minutes is None and kind is not None:
            minutes = kind.email_if_unread
        if minutes is None or INAPP not in names:
            return None
        return self.clock.now() + timedelta(minutes=minutes)

    def _expand_later(
        self,
        notification: Notification,
        receivers: Receivers,
        message: NewMessage,
        channels: Iterable[str],
    ) -> CountsByChannel:
        """Have a worker store the receivers' rows; return the counts of the future deliveries."""
        subject = Subject(SUBJECT, notification.id)
        outgoing_id, names = self.outbox.put_message(message, channels, subject) or (None, [])
        has_ordered_ids = isinstance(self.outbox.ids, IntegerIds)
        newest = select(func.max(self.accounts.model.id))
        self.session.add(
            Expansion(
                notification_id=notification.id,
                audience=receivers.audience.to_json(),
                channels=names,
                outgoing_id=outgoing_id,
                last_id=self.session.scalar(newest) if has_ordered_ids else None,
                last_created_at=receivers.last_created_at(),
                due_at=notification.created_at,
                created_at=notification.created_at,
            )
        )
        self.session.flush()
        after_commit(self.session, lambda: self.outbox.workers.wake([EXPAND_BROADCASTS]))
        zeros = dict.fromkeys(STATES, 0)
        return {name: zeros | {PENDING: notification.receivers} for name in names}

    def _store(self, draft: Draft, names: list[str], receivers: int) -> Notification:
        notification = Notification(
            title=draft.title,
            message=draft.message,
            channels=names,
            sender_id=draft.sender_id,
            notification_type=draft.notification_type,
            scope=draft.scope,
            receivers=receivers,
            is_personal=draft.is_personal,
            url=draft.url,
            kind=draft.kind,
            data=draft.data,
            workspace_id=draft.workspace_id,
            created_at=self.clock.now(),
        )
        self.session.add(notification)
        self.session.flush()
        return notification

    def _channel_reach(
        self, name: str, targets: Any, receivers: int, kind: str | None
    ) -> JsonObject:
        if name == INAPP:
            return _reach(receivers, {})
        channel = self.outbox.channels.get(name)
        if channel is None:
            return _reach(0, {"No handler is registered for this channel": receivers})
        if (reason := channel.disabled_reason()) is not None:
            return _reach(0, {reason: receivers})
        entries, skip_reason = self.outbox.recipients(channel, targets, kind)
        rows = self.session.execute(
            entries.with_only_columns(skip_reason.label("reason"), func.count()).group_by("reason")
        )
        counts = {reason: int(count) for reason, count in rows}
        return _reach(counts.pop(None, 0), counts)


def _reach(count: int, left_out: dict[str | None, int]) -> JsonObject:
    reasons = [{"reason": why, "receivers": n} for why, n in sorted(left_out.items()) if n]
    return {"reached": count, "left_out": reasons}


def send_from_code(
    channels: Sequence[str] | None,
    to: Audience | Iterable[object] | None,
    context: Values,
    values: JsonObject,
) -> SendResult:
    """Send a notification of the application's code, with these values of a draft."""
    frontdesk = find_context()
    draft = Draft.validate(frontdesk.get(NotificationKinds), channels, context, values)
    check_role(to, frontdesk.get(Accounts))
    return frontdesk.get(Notifications).send(draft, to)

"""Sends notifications, declares their kinds, and reads inboxes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..core.errors import SetupError
from ..core.types import JsonObject, Values
from ..notifications.kinds import NotificationKind

if TYPE_CHECKING:
    from ..notifications.receivers import Audience
    from ..notifications.service import SendResult
    from .inbox import AccountInbox


class Notifying:
    def __init__(self) -> None:
        super().__init__()
        # Shared by all applications of this extension, so a kind can be declared later.
        self._kinds: dict[str, NotificationKind] = {}

    def notify(
        self,
        title: str,
        message: str,
        *,
        channels: Sequence[str] | None = None,
        receivers: Audience | Iterable[object] | None = None,
        sender: object = None,
        notification_type: str = "system",
        scope: str = "account",
        context: Values | None = None,
        url: str | None = None,
        kind: str | None = None,
        data: JsonObject | None = None,
        workspace: object = None,
        key: str | None = None,
        email_if_unread: int | None = None,
    ) -> SendResult:
        """Send a notification from your code.

        It joins the open transaction, if there is one. Emails and SMS leave after the commit.

        Args:
            title: Title of the notification, on one line.
            message: Text of the notification.
            channels: `inapp`, `email`, `sms` or your own. Default: those of the kind, or `inapp`.
            receivers: Accounts or their ids, or an `Audience`. Without receivers, all accounts.
            sender: The sending account or its id.
            notification_type: `system` or `admin`. The type `admin` requires a sender.
            scope: Scope of the notification, to keep notifications of other features apart.
            context: Values for the template of the email. `template_file` names another template.
            url: Page that the notification opens: an http(s) URL, or a path of your web client.
            kind: Key of a declared kind. Accounts cannot turn off a notification without one.
            data: JSON object for clients and for the template of the email, of at most 4 KiB.
            workspace: The workspace that the notification is about, or its id.
            key: Key of the call: a call that is repeated within seven days sends nothing.
            email_if_unread: Minutes after which those who have not read it get the email.

        Returns:
            The result, with the id of the stored notification.

        Raises:
            Problem: The key belongs to another notification, or to a deleted one.
            BadRequest: `channels` is empty, or the type is `admin` and there is no sender.
            Invalid: A receiver, the role of the audience or the workspace does not exist.
            SetupError: A channel or the kind is not declared, or they do not fit.
            ValueError: A text, the URL or the data is not valid.

        Example::

            frontdesk.notify("Pinned", "Note 7", kind="notes", url="/notes/7", receivers=[ada])
        """
        from ..notifications.service import send_from_code

        sender_id, workspace_id = (getattr(each, "id", each) for each in (sender, workspace))
        content = {"title": title, "message": message, "url": url, "kind": kind, "data": data}
        ids = {"sender_id": sender_id, "workspace_id": workspace_id}
        kept = {"key": key, "notification_type": notification_type, "scope": scope}
        values = {**content, **ids, **kept, "email_if_unread": email_if_unread}
        return send_from_code(channels, receivers, context or {}, values)

    def notification_kind(
        self,
        key: str,
        *,
        name: str,
        description: str = "",
        channels: Sequence[str] = ("inapp", "email"),
        mandatory: bool = False,
        email_if_unread: int | None = None,
    ) -> str:
        """Declare a kind of notifications, which accounts can turn off in their preferences.

        Args:
            key: Key of the kind, such as `note-pinned`.
            name: Name of the kind in preferences.
            description: What the notifications are about.
            channels: Channels that notifications of this kind can have, and have by default.
            mandatory: Whether accounts cannot turn the notifications off.
            email_if_unread: Minutes after which the email is sent to accounts that have not read
                the notification. Default: at once, and to all.

        Returns:
            The key.

        Raises:
            SetupError: A value is not valid, or the kind is built in.

        Example::

            PINNED = frontdesk.notification_kind("note-pinned", name="Pinned notes")
        """
        try:
            self._kinds[key] = NotificationKind.declare(
                key,
                name=name,
                description=description,
                channels=channels,
                mandatory=mandatory,
                email_if_unread=email_if_unread,
            )
        except ValueError as error:
            raise SetupError(f"frontdesk.notification_kind: {error}.") from None
        return key

    @property
    def inbox(self) -> AccountInbox:
        """The inbox of an account: read, mark and delete its items.

        Example::

            items = frontdesk.inbox.page(account, limit=20)
        """
        from .inbox import AccountInbox

        return AccountInbox()

from collections.abc import Iterable

from ..core.coded_messages import CodedMessage
from ..core.errors import BadRequest, Conflict, Fault, Invalid, NotFound, Problem


class NotificationNotFound(NotFound):
    code = "notification_not_found"
    detail = "Notification not found"
    title = "The notification does not exist"
    cause = "The caller has no notification with this id."
    fix = "List the notifications, and use one of their ids."


class AlreadyRestored(Conflict):
    """The item was restored before, for example by a double click."""

    code = "notification_restored"
    detail = "The notification is in the inbox again"
    title = "The notification is already restored"
    cause = "The deleted notification was restored by an earlier request."
    fix = "Reload the inbox."


class NotRestorable(BadRequest):
    """The token of a deleted item is expired or invalid."""

    code = "notification_not_restorable"
    detail = "This can no longer be undone"
    title = "The notification can no longer be restored"
    cause = "The token that restores the deleted notification is expired or invalid."
    fix = "The notification cannot be restored."


class InvalidUnsubscribeLink(NotFound):
    code = "unsubscribe_link_not_found"
    detail = "This link is not valid"
    title = "The unsubscribe link is not valid"
    cause = "The token is incomplete, the account is deleted, or the secret key was replaced."
    fix = "Open the link of a newer email, or change the preferences of the account."


class NoChannels(BadRequest):
    """The list of channels is empty."""

    code = "no_channels"
    detail = "No channels specified"
    title = "The notification has no channels"
    cause = "`channels` is empty."
    fix = "Send at least the channel `inapp`."


class SenderRequired(BadRequest):
    """A notification of the type `admin` has no sender."""

    code = "sender_required"
    detail = "A notification of type admin needs a sender"
    title = "The notification requires a sender"
    cause = "A notification of type `admin` was sent without a sender."
    fix = "Pass the sending account."


class KeyReused(Conflict):
    """Another notification was sent with the key."""

    code = "key_reused"
    detail = "Another notification was sent with this key"
    title = "The key belongs to another notification"
    cause = (
        "`key` was sent within the last seven days with another title, text, kind, URL, data,"
        " workspace, or with other channels or recipients."
    )
    fix = "Use a new key for a new notification. Repeat a request without a change."


class NotificationDeleted(Problem):
    """The notification that was sent with the key is deleted, and is not sent again."""

    status = 410
    code = "notification_deleted"
    detail = "The notification that was sent with this key is deleted"
    title = "The notification is deleted"
    cause = "The notification was sent with this `key` within the last seven days, and deleted."
    fix = "Use another key to send the notification again."


class UnknownWorkspace(Invalid):
    """The workspace that a notification is about does not exist. Nothing is sent."""

    cause = "`workspace_id` is the ID of no workspace. Nothing was sent."
    fix = "Send the ID of a workspace, or no `workspace_id`."

    def __init__(self) -> None:
        message = CodedMessage("No workspace has this ID.", "not_found")
        super().__init__(faults=[Fault.of("", "data.workspace_id", message)])


class MandatoryKind(Conflict):
    """Preferences turn kinds off that are mandatory; `errors` names each. Nothing is changed."""

    code = "mandatory_kind"
    detail = "Mandatory notifications cannot be turned off"
    title = "The notifications are mandatory"
    cause = (
        "The preferences turn off a kind of notifications that is mandatory. Nothing was changed."
    )
    fix = "Remove the kinds that `errors` lists, then send the request again."

    def __init__(self, keys: Iterable[str]) -> None:
        message = CodedMessage("Cannot be turned off.", self.code)
        super().__init__(faults=[Fault.of("", f"kinds.{key}", message) for key in keys])


class UnknownReceivers(Invalid):
    """Some recipients do not exist; the message names some of their ids. Nothing is sent."""

    cause = "`account_receiver_ids` contains ids that no account has. Nothing was sent."
    fix = "Remove the ids that `errors` lists, then send the request again."

    def __init__(self, ids: Iterable[int]) -> None:
        named = ", ".join(str(each) for each in ids)
        message = CodedMessage(f"No account has the id: {named}", "not_found")
        fault = Fault.of("", "account_receiver_ids", message)
        super().__init__(faults=[fault])

"""Routes of the notifications that admins send."""

from functools import wraps

from flask import Response, after_this_request

from ..accounts.errors import AccountModelMissing
from ..auth.caller import caller
from ..auth.decorators import active_account_required, roles_required
from ..auth.scopes import NOTIFICATIONS_SEND, scope
from ..core.context import find_context, service
from ..core.types import JsonObject
from ..core.web.blueprint import Blueprint
from ..core.web.fields import Message, Page
from ..core.web.operation import View, example, raises
from ..core.web.paging import Slice
from ..core.web.replicas import reads_replica
from ..core.web.request_data import takes
from ..core.web.responses import answers
from ..notifications.errors import KeyReused, NoChannels, NotificationDeleted, NotificationNotFound
from ..notifications.receivers import Audience
from ..notifications.service import Notifications
from .schemas import (
    BROADCAST,
    FAILED_DELIVERY,
    QUESTION,
    REACH,
    RETRIED,
    SENT,
    Broadcast,
    BroadcastQuery,
    NotificationRead,
    OutcomeQuery,
    OutcomeRead,
    ReachQuestion,
    ReachRead,
)
from .sent import SentItem, SentNotifications

_SEND_BROADCAST = """\
# `token` is of an account with the role `admin` or `root`.
# All accounts receive it; add "account_receiver_ids" to the body for some.
curl "$server{send_notification}" \\
  -H "Authorization: Bearer $token" -H "Content-Type: application/json" \\
  -d '{"data": {"title": "Closed", "message": "Until Monday.", "channels": ["inapp"]}}'
# The response has `id`, and the number of messages for each channel.
curl "$server{list_sent_notifications}" -H "Authorization: Bearer $token"
"""
blueprint = Blueprint(
    "admin_notifications",
    __name__,
    about="Notifications from admins to accounts",
    flow=("Send a broadcast", _SEND_BROADCAST),
)


def admins_only(view: View) -> View:
    return active_account_required(roles_required("admin", "root")(view))


def account_model_required(view: View) -> View:
    """Report the missing account model before authentication, which needs it."""

    @wraps(view)
    def check_then_view(*args: object, **kwargs: object) -> object:
        if find_context().tables.account_model is None:
            raise AccountModelMissing
        return view(*args, **kwargs)

    return check_then_view


@blueprint.post("/")
@account_model_required
@admins_only
@scope(NOTIFICATIONS_SEND)
@example(json=BROADCAST, answer=SENT)
@raises(NoChannels, AccountModelMissing, KeyReused, NotificationDeleted)
@takes(query=BroadcastQuery, json=Broadcast)
@answers(201, NotificationRead, ready=True)
def send_notification(
    query: BroadcastQuery.Input,
    json: Broadcast.Input,
    *,
    audience: Audience | None = None,
    is_personal: bool = False,
) -> SentItem:
    """Send a notification

    Sends to the accounts in `account_receiver_ids`, or to all accounts. Repeat the parameter for
    several accounts, or send a long list in the body next to `data`. Include `inapp` in the
    channels.
    """
    chosen = [*query.get("account_receiver_ids", ()), *json.get("account_receiver_ids", ())]
    # Without ids in both places, the notification is sent to all accounts. A page passes an
    # audience, which no request can select.
    item, is_replay = service(SentNotifications).send(
        caller().account.id, json["data"], chosen or audience, is_personal=is_personal
    )
    if is_replay:
        after_this_request(_mark_replay)
    return item


def _mark_replay(response: Response) -> Response:
    response.headers["Idempotent-Replayed"] = "true"
    return response


@blueprint.post("/reach")
@account_model_required
@admins_only
@scope(NOTIFICATIONS_SEND)
@example(json=QUESTION, answer=REACH)
@raises(AccountModelMissing)
@takes(json=ReachQuestion)
@answers(200, ReachRead, ready=True)
def tell_reach(json: ReachQuestion.Input) -> JsonObject:
    """Count the recipients that each channel reaches, and the unreachable ones by reason"""
    return service(Notifications).count_reach(
        json["channels"], json.get("account_receiver_ids"), json.get("kind")
    )


@blueprint.get("/all")
@admins_only
@scope(NOTIFICATIONS_SEND)
@example(answer=[SENT])
@takes(query=Page)
@reads_replica
@answers(200, NotificationRead, paged=True, ready=True)
def list_sent_notifications(query: Page.Input) -> list[SentItem]:
    """List the notifications that the caller has sent, the newest first

    The counts of large broadcasts can be outdated. A request for one notification updates its
    counts.
    """
    return service(SentNotifications).page(caller().account.id, **query)


@blueprint.get("/<row_id:notification_id>")
@admins_only
@scope(NOTIFICATIONS_SEND)
@example(answer=SENT)
@raises(NotificationNotFound)
@answers(200, NotificationRead, ready=True)
def get_sent_notification(notification_id: int) -> SentItem:
    """Get a sent notification"""
    return service(SentNotifications).get(notification_id, caller().account.id, is_exact=True)


@blueprint.delete("/<row_id:notification_id>")
@admins_only
@scope(NOTIFICATIONS_SEND)
@example(answer=SENT)
@raises(NotificationNotFound)
@answers(200, NotificationRead, ready=True)
def delete_sent_notification(notification_id: int) -> SentItem:
    """Delete a sent notification

    Deletes the notification from all inboxes.
    """
    return service(SentNotifications).delete(caller().account.id, notification_id)


@blueprint.get("/<row_id:notification_id>/deliveries")
@admins_only
@scope(NOTIFICATIONS_SEND)
@example(answer=[FAILED_DELIVERY])
@raises(NotificationNotFound)
@takes(query=OutcomeQuery)
@answers(200, OutcomeRead, sliced=True)
def list_notification_deliveries(notification_id: int, query: OutcomeQuery.Input) -> Slice:
    """List the deliveries of a notification that the caller has sent, by default the failed ones"""
    found = service(SentNotifications).deliveries(caller().account.id, notification_id, **query)
    # Only the console has a parameter for the previous page.
    return found._replace(before=None)


@blueprint.post("/<row_id:notification_id>/retry")
@admins_only
@scope(NOTIFICATIONS_SEND)
@example(answer=RETRIED)
@raises(NotificationNotFound)
@answers(200, Message)
def retry_notification(notification_id: int) -> dict[str, str]:
    """Retry the failed deliveries of a notification"""
    count = service(SentNotifications).retry(caller().account.id, notification_id)
    return {"message": f"{count} failed deliveries will be tried again"}


@blueprint.post("/<row_id:notification_id>/stop")
@admins_only
@scope(NOTIFICATIONS_SEND)
@example(answer=SENT)
@raises(NotificationNotFound)
@answers(200, NotificationRead, ready=True)
def stop_notification(notification_id: int) -> SentItem:
    """Stop sending a notification

    Skips the pending deliveries. Accounts that do not have the notification in their inbox yet do
    not get it. Messages that a worker has claimed are still sent. A notification that is completely
    sent does not change.
    """
    return service(SentNotifications).stop(caller().account.id, notification_id)

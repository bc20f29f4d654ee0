from __future__ import annotations

from ..accounts.service import Accounts
from ..auth.proofs import Proofs
from ..core.context import Context
from ..delivery.outbox.enqueue import Outbox
from .counts import NotificationCounter
from .inbox import Inbox
from .outcome import Outcome
from .reach import Reach
from .restoring import Restoring
from .retention import Retention
from .sent import SentNotifications
from .service import Notifications


def assemble(context: Context) -> None:
    if not context.has(Accounts):
        return
    context.commands.append("notifications")
    session, clock = context.session, context.clock
    model, outbox = context.get(Accounts).model, context.get(Outbox)
    inbox = Inbox(session)
    context.add(inbox)
    context.add(Restoring(session, inbox, context.get(Proofs)))
    context.add(Retention(session, clock))
    notifications = Notifications(session, model, outbox, context.hooks, clock)
    context.add(notifications)
    counter = NotificationCounter(session, clock)
    sent = SentNotifications(session, notifications, counter)
    context.add(sent)
    context.add(Reach(notifications))
    context.add(Outcome(sent, outbox, model, context.account_ids))

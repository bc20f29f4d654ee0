"""A service with more than a thousand accounts, and a broadcast that reached some of them."""

from __future__ import annotations

from sqlalchemy import insert, update

from app.accounts.account import Account
from app.core.context import current_frontdesk
from app.delivery.outbox.models import Delivery

from ..rigs.console.world import World

PEOPLE = 1_337
# The state of each delivery by the remainder of its number.
_ANSWERS = (
    ("sent", None),
    ("sent", None),
    ("failed", "550 5.1.1 <anais.simone167@harbour.example>: unknown in virtual mailbox table"),
    ("failed", "400 Unable to create record: The 'To' number +15005550009 is not a mobile number"),
    ("pending", "451 4.3.0 mailbox busy, try again later"),
)


def crowd(world: World) -> World:
    """Add accounts and a broadcast to all with deliveries in each state."""
    with world.site.app.app_context():
        session = current_frontdesk.session
        rows = [_person(number) for number in range(PEOPLE)]
        session.execute(insert(Account), rows)
        session.commit()
    world.last_sent = world.send("Storm warning for the harbour", "Stay home.", "email", "sms")
    with world.site.app.app_context():
        session, now = current_frontdesk.session, current_frontdesk.clock.now()
        for number, (state, reason) in enumerate(_ANSWERS):
            values = {"state": state, "reason": reason, "attempts": 1 + number}
            ended = {} if state == "pending" else {"finished_at": now}
            chosen = (Delivery.id % len(_ANSWERS) == number) & (Delivery.state != "skipped")
            session.execute(update(Delivery).where(chosen).values(**values, **ended))
        session.commit()
    return world


def _person(number: int) -> dict[str, object]:
    return {
        "email": f"anais.simone{number}@northern-harbour.acme.example",
        "phone": f"+1500555{number:04}" if number % 3 else None,
    }

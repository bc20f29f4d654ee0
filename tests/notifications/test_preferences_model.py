"""Random kinds, choices and notifications: what is delivered equals a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pytest
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, func, select

from app.core.context import Context, current_frontdesk, service
from app.core.db.transaction import transaction
from app.delivery.message import Receiver, StoredMessage
from app.delivery.outbox.models import Delivery, OutgoingMessage
from app.frontdesk import Frontdesk
from app.notifications.kinds import NotificationKind, NotificationKinds
from app.notifications.models import Notification
from app.notifications.optouts import OptOut
from app.notifications.preferences import Preferences
from app.notifications.unsubscribe import Subscription, UnsubscribeTokens, Unsubscribing

from ..conftest import MakeApp, MakePerson
from ..rigs.manual_engine import ManualEngine

PEOPLE, INLINE = 4, 2
KEYS, CHANNELS = ("a", "b"), ("email", "sms")
# A person, a channel, and the title of a notification.
Got = tuple[int, str, str]


@dataclass(frozen=True)
class Choose:
    person: int
    kind: str
    channel: str
    is_on: bool


@dataclass(frozen=True)
class Send:
    kind: str | None
    channels: Sequence[str]
    people: Sequence[int]
    title: str


class Deliver:
    pass


Step = Choose | Send | Deliver

people = st.integers(0, PEOPLE - 1)
channels = st.lists(st.sampled_from(CHANNELS), min_size=1, unique=True)
kinds = st.fixed_dictionaries({key: st.booleans() for key in KEYS})
choose = st.builds(Choose, people, st.sampled_from(KEYS), st.sampled_from(CHANNELS), st.booleans())
send = st.builds(
    Send,
    st.sampled_from((*KEYS, None)),
    channels,
    st.lists(people, min_size=1, unique=True),
    st.uuids().map(str),
)
# Choices before, between and after the notifications of each delivery.
rounds = st.tuples(
    st.lists(choose, max_size=4),
    st.lists(send, min_size=1, max_size=2),
    st.lists(choose, max_size=4),
)


def model(is_mandatory: dict[str, bool], steps: Sequence[Step]) -> Counter[Got]:
    off: set[tuple[int, str, str | None]] = set()
    queue: list[tuple[Got, str | None]] = []
    got: Counter[Got] = Counter()
    for step in steps:
        if isinstance(step, Choose):
            (off.discard if step.is_on else off.add)((step.person, step.channel, step.kind))
        elif isinstance(step, Send):
            pairs = [(person, channel) for person in step.people for channel in step.channels]
            # The rows of a large broadcast are stored when it is delivered.
            is_large, is_kept = len(step.people) > INLINE, is_mandatory.get(step.kind or "")
            queue += [
                ((*each, step.title), step.kind)
                for each in pairs
                if is_large or is_kept or (*each, step.kind) not in off
            ]
        else:
            got.update(
                each
                for each, kind in queue
                if is_mandatory.get(kind or "") or (*each[:2], kind) not in off
            )
            queue.clear()
    return got


class World:
    def __init__(self, app: Flask, ids: list[int], engine: ManualEngine) -> None:
        self.app, self.ids, self.engine = app, ids, engine
        self.got: Counter[Got] = Counter()
        self.context: Context = app.extensions["frontdesk"]
        for name in CHANNELS:
            self.context.hooks.add("channel", self._receive_by(name), name)

    def run(self, is_mandatory: dict[str, bool], steps: Sequence[Step]) -> Counter[Got]:
        """Take the steps in an empty application, and return what was delivered."""
        self.got.clear()
        declared = self.context.get(NotificationKinds).maps[1]
        for key, mandatory in is_mandatory.items():
            declared[key] = NotificationKind(key, key, "", ("inapp", *CHANNELS), mandatory)
        with self.app.app_context(), transaction(current_frontdesk.session) as session:
            for table in (OptOut, OutgoingMessage, Notification):
                session.execute(delete(table))
        for step in steps:
            with self.app.app_context():
                self._take(step)
        return Counter(self.got)

    def _take(self, step: Step) -> None:
        match step:
            case Choose():
                self._choose(step)
            case Send():
                sent = Frontdesk().notify(
                    step.title,
                    "A message.",
                    kind=step.kind,
                    channels=["inapp", *step.channels],
                    receivers=[self.ids[each] for each in step.people],
                )
                assert all(
                    sum(states.values()) == len(step.people) for states in sent.deliveries.values()
                )
            case Deliver():
                self.engine.deliver()

    def _choose(self, step: Choose) -> None:
        account_id = self.ids[step.person]
        if service(NotificationKinds).is_mandatory(step.kind):
            # An unsubscribe link is older than the kind's declaration.
            subscription = Subscription(account_id, step.kind, step.channel)
            token, links = service(UnsubscribeTokens).write(subscription), service(Unsubscribing)
            (links.turn_on if step.is_on else links.turn_off)(token, is_all=False)
        else:
            choices = {step.kind: {step.channel: step.is_on}}
            service(Preferences).change(account_id, choices)

    def _receive_by(self, channel: str) -> Any:
        def receive(message: StoredMessage, receiver: Receiver) -> None:
            self.got[self.ids.index(int(str(receiver.id))), channel, message.title] += 1

        return receive


@pytest.fixture
def world(make_app: MakeApp, person: MakePerson, engine: ManualEngine) -> World:
    app = make_app(NOTIFICATIONS__INLINE_RECEIVERS=str(INLINE))
    ids = [person(f"p{number}", into=app).id for number in range(PEOPLE)]
    return World(app, ids, engine)


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(is_mandatory=kinds, parts=st.lists(rounds, min_size=1, max_size=3))
def test_delivered_notifications_equal_the_model(
    world: World, is_mandatory: dict[str, bool], parts: list[tuple[list[Step], ...]]
) -> None:
    steps = [step for part in parts for step in (*chain(*part), Deliver())]
    assert world.run(is_mandatory, steps) == model(is_mandatory, steps)
    with world.app.app_context():
        pending = select(func.count()).where(Delivery.state == "pending")
        assert current_frontdesk.session.scalar(pending) == 0

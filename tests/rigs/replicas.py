"""The service with a primary and a streaming replica of its database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from flask import Flask

from app.accounts.service import Accounts
from app.auth.proof_names import PASSWORD as BY_PASSWORD
from app.auth.sign_in.policy import SignInPolicy, SignInResult
from app.broadcasts.sent import SentNotifications
from app.core.context import Context, find_context, service
from app.core.replica import Replica
from app.testing.client import Api
from app.testing.people import Person, make_person

from ..conftest import migrate
from .clusters import Cluster, postgres_cluster


@dataclass
class Pair:
    primary: Cluster
    replica: Cluster

    def catch_up(self) -> None:
        self.primary.wait_for_replay(self.replica)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause the replay of the replica, which has all changes until now."""
        self.catch_up()
        self.replica.pause_replay()
        try:
            yield
        finally:
            self.replica.resume_replay()
            self.catch_up()

    @contextmanager
    def delayed(self, delay: str) -> Iterator[None]:
        self.catch_up()
        self.replica.delay_replay(delay)
        self.primary.wait_for_delay(self.replica)
        try:
            yield
        finally:
            self.replica.delay_replay("0")
            self.catch_up()


@contextmanager
def replicated_database() -> Iterator[Pair]:
    with postgres_cluster() as primary:
        migrate(primary.url)
        with postgres_cluster(of=primary) as replica:
            yield Pair(primary, replica)


@dataclass
class ReplicatedApp:
    """An application with a replica, which counts how its lists were read."""

    app: Flask
    # Why lists were read from the primary.
    reasons: list[str] = field(default_factory=list)
    failovers: list[None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.replica.when_read_from_primary.append(self.reasons.append)
        self.replica.when_failed_over.append(lambda: self.failovers.append(None))

    @property
    def context(self) -> Context:
        with self.app.app_context():
            return find_context()

    @property
    def replica(self) -> Replica:
        found = self.context.replica
        assert found is not None
        return found

    def person(self, name: str, **fields: Any) -> Person:
        return make_person(self.app, name, prefix="/api/v1", **fields)

    def client(self, person: Person) -> Api:
        """Sign in without a request, which would have the caller read from the primary."""
        with self.app.app_context():
            outcome = service(SignInPolicy).admit(
                service(Accounts).get(person.email), by=(BY_PASSWORD,)
            )
            assert isinstance(outcome, SignInResult)
            return Api(self.app, token=outcome.payload["access_token"])

    def broadcast(self, sender: Person, title: str) -> None:
        """Send a broadcast to all accounts without a request."""
        with self.app.app_context():
            data: Any = {"title": title, "message": "Until Monday.", "channels": ["inapp"]}
            service(SentNotifications).send(sender.id, data, None)

    def close(self) -> None:
        self.replica.engine.dispose()

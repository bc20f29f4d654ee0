"""Changes of an account that overlap a sign-in to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

import pytest
from flask import Flask

from app.auth.sign_in.gate import SignIn
from app.testing.client import Api

from ..rigs.stages import added_stages
from .door_guests import Guest
from .factors import Phone
from .test_email_change import mailed

NEW_PASSWORD = "a password never seen before"
# Longer than a change takes that meets no lock.
PAUSE_SECONDS = 0.3

Change = Callable[[], object]


@dataclass
class InTheMiddle:
    """A stage of the sign-in policy, during which a change begins in another thread."""

    app: Flask
    change: Change
    # So many proofs must have been given.
    proofs: int = 1
    thread: Thread | None = None
    problems: list[BaseException] = field(default_factory=list)

    def __enter__(self) -> InTheMiddle:
        added_stages(self.app).append(self)
        return self

    def __exit__(self, *_: object) -> None:
        added_stages(self.app).remove(self)
        assert self.thread is not None, "no sign-in came this far"
        self.thread.join()
        assert self.problems == []

    def __call__(self, sign_in: SignIn) -> None:
        if self.thread is None and len(sign_in.by) == self.proofs:
            done = Event()
            self.thread = Thread(target=self._run, args=[done])
            self.thread.start()
            done.wait(PAUSE_SECONDS)

    def _run(self, done: Event) -> None:
        try:
            self.change()
        except BaseException as problem:
            self.problems.append(problem)
        done.set()


def overtake(patch: pytest.MonkeyPatch, owner: type[Any], name: str, change: Change) -> None:
    """The change is complete, once, after this method has returned its result."""
    original, changes = getattr(owner, name), [change]

    def call(*args: Any, **options: Any) -> Any:
        result = original(*args, **options)
        if changes:
            thread = Thread(target=changes.pop())
            thread.start()
            thread.join()
        return result

    patch.setattr(owner, name, call)


def by_operator(guest: Guest) -> Change:
    return lambda: guest.person.change(password=NEW_PASSWORD)


def by_owner(guest: Guest) -> Change:
    body = {"current_password": guest.person.password, "new_password": NEW_PASSWORD}
    return _sent(guest.api, "put", "/account/password", 200, body)


def by_reset(guest: Guest) -> Change:
    guest.post("/password-recovery", email=guest.email)
    body = {"token": mailed(guest.house.mails, guest.email)[0], "new_password": NEW_PASSWORD}
    return _sent(Api(guest.house.now), "post", "/reset-password", 200, body)


def by_factor(guest: Guest) -> Change:
    made = guest.api.post("/authenticators/totp", 201).json
    body = {"otp": Phone(made["secret"], guest.house.clock).code()}
    return _sent(guest.api, "post", f"/authenticators/{made['id']}/confirm", 200, body)


def by_suspension(guest: Guest) -> Change:
    return lambda: guest.person.change(status="suspended")


def by_deletion(guest: Guest) -> Change:
    return _sent(guest.api, "delete", "/account", 202, None)


def _sent(api: Api, method: str, path: str, status: int, body: Any) -> Change:
    return lambda: getattr(api, method)(path, status, json=body)


CHANGES: dict[str, Callable[[Guest], Change]] = {
    "operator": by_operator,
    "change": by_owner,
    "reset": by_reset,
    "second factor": by_factor,
    "suspension": by_suspension,
    "deletion": by_deletion,
}

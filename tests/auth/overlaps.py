"""Changes to an account that run while a sign-in to the same account is in progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

import pytest
from flask import Flask

from app.auth.sign_in.policy import SignIn
from app.testing.client import Api

from ..rigs.stages import added_stages
from .factors import Phone
from .sign_in_users import User
from .test_email_change import mailed

NEW_PASSWORD = "a password never seen before"
# Longer than an account change takes when no lock blocks it.
PAUSE_SECONDS = 0.3

Change = Callable[[], object]


@dataclass
class ConcurrentChange:
    """A stage of the sign-in policy that starts the change in another thread."""

    app: Flask
    change: Change
    # Start the change only once this many proofs were given.
    proofs: int = 1
    thread: Thread | None = None
    problems: list[BaseException] = field(default_factory=list)

    def __enter__(self) -> ConcurrentChange:
        added_stages(self.app).append(self)
        return self

    def __exit__(self, *_: object) -> None:
        added_stages(self.app).remove(self)
        assert self.thread is not None, "no sign-in reached this stage"
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


def change_during(patch: pytest.MonkeyPatch, owner: type[Any], name: str, change: Change) -> None:
    """Complete the change, once, right after the patched method has returned its result."""
    original, changes = getattr(owner, name), [change]

    def call(*args: Any, **options: Any) -> Any:
        result = original(*args, **options)
        if changes:
            thread = Thread(target=changes.pop())
            thread.start()
            thread.join()
        return result

    patch.setattr(owner, name, call)


def by_operator(user: User) -> Change:
    return lambda: user.person.change(password=NEW_PASSWORD)


def by_owner(user: User) -> Change:
    body = {"current_password": user.person.password, "new_password": NEW_PASSWORD}
    return _request(user.api, "put", "/account/password", 200, body)


def by_reset(user: User) -> Change:
    user.post("/password-recovery", email=user.email)
    body = {"token": mailed(user.deployment.mails, user.email)[0], "new_password": NEW_PASSWORD}
    return _request(Api(user.deployment.now), "post", "/reset-password", 200, body)


def by_factor(user: User) -> Change:
    app = user.api.post("/authenticators/totp", 201).json
    body = {"otp": Phone(app["secret"], user.deployment.clock).code()}
    return _request(user.api, "post", f"/authenticators/{app['id']}/confirm", 200, body)


def by_suspension(user: User) -> Change:
    return lambda: user.person.change(status="suspended")


def by_deletion(user: User) -> Change:
    return _request(user.api, "delete", "/account", 202, None)


def _request(api: Api, method: str, path: str, status: int, body: Any) -> Change:
    return lambda: getattr(api, method)(path, status, json=body)


CHANGES: dict[str, Callable[[User], Change]] = {
    "operator": by_operator,
    "change": by_owner,
    "reset": by_reset,
    "second factor": by_factor,
    "suspension": by_suspension,
    "deletion": by_deletion,
}

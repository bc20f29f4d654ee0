"""The mixed load: each visitor repeats one action, and records what was acknowledged."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from ...conftest import PASSWORD
from .client import Client, address_of
from .ledger import GUESSES, RESETS, Attempts, Broadcast, Ledger

ADMIN = "boss@example.com"
# Attempts beyond the limit, and how many accounts later an account is tried again.
MORE_ATTEMPTS = 3
RETURN_AFTER = 8
BROADCAST_RECEIVERS = 20


@dataclass
class Visitors:
    port: int
    receivers: dict[str, int]
    ledger: Ledger = field(default_factory=Ledger)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _tokens: dict[str, str] = field(default_factory=dict)

    def sign_in_all(self, count: int) -> None:
        """Sign in the admin and some of the accounts that receive broadcasts."""
        for email in (ADMIN, *list(self.receivers)[:count]):
            status, body = self._sign_in(email)
            assert status == 200, body
            self._tokens[email] = body["access_token"]

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run all visitors, each in a thread, until the block ends."""
        over = threading.Event()
        errors: list[BaseException] = []

        def repeat(act: Callable[[], object], pause: float) -> None:
            while not over.wait(pause * random.uniform(0.5, 1.5)):
                try:
                    act()
                except BaseException as error:
                    errors.append(error)
                    raise

        threads = [
            threading.Thread(target=repeat, args=each, daemon=True)
            for each in (
                (self.read_account, 0.25),
                (self.read_inbox, 0.5),
                (self.create_task, 0.3),
                (self.register, 1.0),
                (self.sign_in, 1.0),
                (self.broadcast, 4.0),
                (self.guess, 4.0),
                (self.request_resets, 6.0),
                (self.use_revoked_token, 0.7),
            )
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            over.set()
            for thread in threads:
                thread.join()
        if errors:
            raise errors[0]

    def read_account(self) -> None:
        self._receiver()[1].ask("account read", "GET", "/account")

    def read_inbox(self) -> None:
        """Read the newest page, and mark one item of it as read."""
        number, client = self._receiver()
        status, page = client.ask("inbox page", "GET", "/notifications/?limit=50")
        if status == 200 and page:
            notification = random.choice(page)["notification_id"]
            path = f"/notifications/{notification}/mark?status=true"
            if client.ask("mark as read", "PATCH", path)[0] == 200:
                self.ledger.marks.add((notification, number))

    def create_task(self) -> None:
        number = next(self._numbers)
        title = f"task {number}"
        client = self._client(number)
        if client.ask("task", "POST", "/tasks/", {"title": title})[0] == 201:
            self.ledger.tasks.append(title)

    def register(self) -> None:
        """Register, store a phone number, and sign out, one visitor in two."""
        number = next(self._numbers)
        email, phone = f"new{number}@example.com", f"+1202{5550000 + number}"
        body = {"email": email, "password": PASSWORD}
        status, answer = self._client(number).ask("registration", "POST", "/registration", body)
        if status != 201:
            return
        self.ledger.accounts.append(email)
        self.ledger.promised.append((email, time.monotonic()))
        client = self._client(number).with_token(answer["access_token"])
        if client.ask("account update", "PATCH", "/account", {"phone": phone})[0] == 200:
            self.ledger.phones[email] = phone
        if random.random() < 0.5 and client.ask("sign-out", "DELETE", "/logout")[0] == 200:
            self.ledger.revoked.append(client.token)

    def sign_in(self) -> None:
        self._sign_in(random.choice(list(self.receivers)))

    def broadcast(self, count: int = BROADCAST_RECEIVERS) -> None:
        chosen = random.sample(sorted(self.receivers.values()), count)
        title = f"Broadcast {next(self._numbers)}"
        body = {
            "data": {"title": title, "message": "A message.", "channels": ["inapp", "email"]},
            "account_receiver_ids": chosen,
        }
        client = self._client(0).with_token(self._tokens[ADMIN])
        status, _ = client.ask("broadcast", "POST", "/admin/notifications/", body)
        self.ledger.broadcasts.append(Broadcast(title, frozenset(chosen), status))

    def guess(self) -> None:
        """Guess the password of an account, several clients at once, and that of an earlier one."""
        number = next(self._numbers)
        self._attempt(self.ledger.guesses, f"guessed{number}@example.com", GUESSES, self._guess)

    def request_resets(self) -> None:
        number = next(self._numbers)
        email = f"forgetful{number}@example.com"
        body = {"email": email, "password": PASSWORD}
        status, _ = self._client(number).ask("registration", "POST", "/registration", body)
        if status == 201:
            self.ledger.accounts.append(email)
            self.ledger.promised.append((email, time.monotonic()))
            self._attempt(self.ledger.resets, email, RESETS, self._request_reset)

    def use_revoked_token(self) -> None:
        if self.ledger.revoked:
            token = random.choice(self.ledger.revoked)
            self._client(0).with_token(token).ask("revoked token", "GET", "/account")

    def read_with_all_revoked_tokens(self) -> Iterator[int]:
        """Read the account with each revoked token, and yield the statuses."""
        for token in self.ledger.revoked:
            client = self._client(0).with_token(token)
            yield client.ask("revoked token", "GET", "/account")[0]

    def _attempt(
        self, found: dict[str, Attempts], email: str, limit: int, attempt: Callable[[str], int]
    ) -> None:
        found[email] = Attempts(time.monotonic())
        earlier = list(found)[-1 - RETURN_AFTER :][:1] if len(found) > RETURN_AFTER else []
        emails: Sequence[str] = [email] * (limit + MORE_ATTEMPTS) + earlier * 2

        def record(tried: str) -> None:
            found[tried].statuses.append(attempt(tried))

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(record, emails))

    def _guess(self, email: str) -> int:
        form = {"username": email, "password": "wrong"}
        client = self._client(int(email.removeprefix("guessed").partition("@")[0]))
        return client.ask("wrong password", "POST", "/login", form=form)[0]

    def _request_reset(self, email: str) -> int:
        client = self._client(int(email.removeprefix("forgetful").partition("@")[0]))
        status, _ = client.ask("password reset", "POST", "/password-recovery", {"email": email})
        if status == 200:
            self.ledger.promised.append((email, time.monotonic()))
        return status

    def _sign_in(self, email: str) -> tuple[int, dict[str, str]]:
        form = {"username": email, "password": PASSWORD}
        return self._client(0).ask("sign-in", "POST", "/login", form=form)

    def _receiver(self) -> tuple[int, Client]:
        email = random.choice([each for each in self._tokens if each != ADMIN])
        return self.receivers[email], self._client(0).with_token(self._tokens[email])

    def _client(self, number: int) -> Client:
        return Client(self.port, self.ledger, address=address_of(number))

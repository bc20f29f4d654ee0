"""The listener of docs/limitations.md, which calls another system after the commit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Flask

from app import Frontdesk, after_commit
from app.accounts.account import Account

from ..rigs.hosts import plain_app


def host_that_announces(post: Callable[[dict[str, Any]], object]) -> tuple[Flask, Frontdesk]:
    app, db = plain_app(SECRET_KEY="a key of the application, long enough for it")
    frontdesk = Frontdesk()
    frontdesk.init_app(app, db, account_model=Account)

    # [webhook]
    @frontdesk.on("account-registered")
    def announce(account: Account, options: dict[str, Any]) -> None:
        event = {"event": "account-registered", "account_id": account.id}
        after_commit(options["session"], lambda: post(event))

    # [end]
    with app.app_context():
        db.create_all()
    return app, frontdesk


def test_event_is_sent_after_the_commit_and_not_before() -> None:
    posted: list[dict[str, Any]] = []
    app, frontdesk = host_that_announces(posted.append)
    with app.app_context():
        with frontdesk.transaction():
            ada = frontdesk.accounts.create("ada@example.com", None)
            assert posted == []
        assert posted == [{"event": "account-registered", "account_id": ada.id}]


def test_event_of_a_rolled_back_account_is_not_sent() -> None:
    posted: list[dict[str, Any]] = []
    app, frontdesk = host_that_announces(posted.append)
    with app.app_context():
        try:
            with frontdesk.transaction():
                frontdesk.accounts.create("ada@example.com", None)
                raise LookupError
        except LookupError:
            assert frontdesk.accounts.find("ada@example.com") is None
    assert posted == []

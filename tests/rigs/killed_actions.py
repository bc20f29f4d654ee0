"""Kills processes that change accounts: `python -m tests.rigs.killed_actions URL 100`.

Each process is forked from a warm process and killed a few milliseconds after its first action,
during a later action.
"""

from __future__ import annotations

import os
import random
import secrets
import signal
import sys
import time
from typing import Any

from flask import Flask

from app import create_app
from app.accounts.service import Accounts
from app.core.context import service
from config import Settings

MAX_SECONDS = 0.015
PASSWORD = "a password never seen before"


def main(url: str, times: int) -> None:
    settings: Any = Settings(
        SECRET_KEY="the key of the killed processes, long enough",
        CORE={"DATABASE_URL": url, "LOG_LEVEL": "ERROR"},
        AUTH={"BCRYPT_ROUNDS": 4},
    )
    app = create_app(settings)
    _change_accounts(app, report=lambda: None)
    with app.app_context():
        app.extensions["sqlalchemy"].engine.dispose()
    for _ in range(times):
        _kill_one(app)


def _kill_one(app: Flask) -> None:
    ready, report_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            while True:
                _change_accounts(app, report=lambda: os.write(report_end, b"."))
        finally:
            os._exit(1)
    os.close(report_end)
    assert os.read(ready, 1) == b"."
    time.sleep(random.uniform(0, MAX_SECONDS))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(ready)
    assert os.WTERMSIG(status) == signal.SIGKILL


def _change_accounts(app: Flask, report: Any) -> None:
    with app.app_context():
        accounts = service(Accounts)
        account: Any = accounts.create(f"{secrets.token_hex(8)}@example.com", PASSWORD)
        report()
        for number in range(1, random.randint(2, 6)):
            accounts.change(account, phone=f"+1202555{number:04d}")
        if random.random() < 0.5:
            accounts.delete(account)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

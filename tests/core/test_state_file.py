"""The shared state store of `CORE__KEYSTORE=database` on SQLite: a separate file next to the
database."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import make_url

from app.core.context import EXTENSION
from app.core.keystore import Keystore, KeystoreUnavailable
from app.core.web.operation import find_operation
from app.testing.client import Answer, Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox
from app.testing.people import PASSWORD

from ..auth.factors import challenge, enrolled, finish
from ..auth.passkey_holder import Holder
from ..auth.test_login_codes import ask as ask_for_code
from ..auth.test_login_codes import mailed_code
from ..auth.test_login_codes import verify as verify_code
from ..auth.test_recovery import ask as ask_for_reset
from ..auth.test_recovery import reset
from ..conftest import Backend, MakeApp, MakePerson, only_on
from ..registration.visitors import Visitor
from ..rigs.routes import api_rules

pytestmark = only_on("sqlite")

# Every feature that counts, emails a code or stores a challenge.
FEATURES = {
    "CORE__KEYSTORE": "database",
    "AUTH__REGISTRATION": "open",
    "AUTH__EMAIL_VERIFICATION": "optional",
    "AUTH__ACCOUNT_DELETION": "on",
    "AUTH__ACCOUNT_EXPORTS": "on",
    "AUTH__COOKIE_SESSIONS": "on",
    "AUTH__SESSIONS": "on",
    "AUTH__REFRESH_TOKEN_DAYS": "14",
    "AUTH__LOGIN_BY_CODE": "on",
    "AUTH__MFA": "optional",
    "AUTH__MFA_TRUST_DAYS": "30",
    "AUTH__PERSONAL_TOKENS": "on",
    # A sign-in through GitHub starts without a request to it.
    "AUTH__PROVIDERS": '{"github": {"kind": "github", "client_id": "a", "client_secret": "a"}}',
}


def state_path(backend: Backend) -> Path:
    return Path(f"{make_url(backend.database_url).database}-state")


def store_of(app: Flask) -> Keystore:
    keystore: Keystore = app.extensions[EXTENSION].keystore
    return keystore


def count(path: Path | str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        [found] = connection.execute("SELECT count(*) FROM frontdesk_keystore_entries").fetchone()
    return int(found)


def test_entries_are_in_a_private_file_next_to_the_database(
    make_app: MakeApp, backend: Backend
) -> None:
    app = make_app(CORE__KEYSTORE="database")
    path = state_path(backend)
    assert not path.exists(), "created when it is first opened"
    with app.app_context():
        store_of(app).put("key", "value", 60)
    files = [path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))]
    assert {stat.S_IMODE(each.stat().st_mode) for each in files} == {0o600}
    assert (count(path), count(str(make_url(backend.database_url).database))) == (1, 0)


def test_writes_do_not_wait_for_the_database(make_app: MakeApp, backend: Backend) -> None:
    app = make_app(CORE__KEYSTORE="database")
    path = str(make_url(backend.database_url).database)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer, app.app_context():
        writer.execute("BEGIN IMMEDIATE")
        assert [store_of(app).count("key", 60) for _ in range(3)] == [1, 2, 3]


def test_two_processes_share_the_file(make_app: MakeApp) -> None:
    one, other = (make_app(CORE__KEYSTORE="database") for _ in range(2))
    with one.app_context():
        store_of(one).put("key", "value", 60)
    with other.app_context():
        assert store_of(other).take("key") == "value"


def test_store_of_an_in_memory_database_is_in_memory(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    app = make_app(CORE__KEYSTORE="database", CORE__DATABASE_URL="sqlite://")
    store = store_of(app)

    def add(_: int) -> int:
        with app.app_context():
            return store.count("key", 60)

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(add, range(80))) == list(range(1, 81))
    assert not list(tmp_path.rglob("*-state"))


@pytest.mark.parametrize("query", ["", "&mode=rwc"])
def test_database_can_be_given_as_a_uri(make_app: MakeApp, tmp_path: Path, query: str) -> None:
    url = f"sqlite:///file:{tmp_path}/my%20data.db?uri=true{query}"
    app = make_app(CORE__KEYSTORE="database", CORE__DATABASE_URL=url)
    with app.app_context():
        store_of(app).put("key", "value", 60)
    [path] = tmp_path.glob("my*-state")
    assert count(path) == 1


def test_deleted_file_is_created_again(make_app: MakeApp, backend: Backend) -> None:
    app, path = make_app(CORE__KEYSTORE="database"), state_path(backend)
    with app.app_context():
        store_of(app).put("key", "value", 60)
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink()
    later = make_app(CORE__KEYSTORE="database")
    with later.app_context():
        assert store_of(later).get("key") is None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.fixture
def unusable(make_app: MakeApp, backend: Backend) -> Iterator[Flask]:
    """Put a folder in place of the file: root can write to any file."""
    state_path(backend).mkdir()
    yield make_app(CORE__KEYSTORE="database")
    state_path(backend).rmdir()


def test_unusable_file_is_reported(unusable: Flask, backend: Backend) -> None:
    with unusable.app_context(), pytest.raises(KeystoreUnavailable):
        store_of(unusable).get("key")
    api = Api(unusable)
    assert api.get("/health/ready", 503).json["checks"] == {"database": "ok", "keystore": "down"}
    answer = api.post("/login", 503, data={"username": "ada@example.com", "password": PASSWORD})
    assert answer.json["code"] == "keystore_unavailable"
    result = unusable.test_cli_runner().invoke(args=["frontdesk", "doctor"])
    assert str(state_path(backend)) in result.output


def test_doctor_warns_about_a_file_that_others_can_read(
    make_app: MakeApp, backend: Backend
) -> None:
    app, path = make_app(CORE__KEYSTORE="database"), state_path(backend)
    warning = f"Other users of this machine can read {path}"
    doctor = app.test_cli_runner()
    assert warning not in doctor.invoke(args=["frontdesk", "doctor"]).output
    os.chmod(path, 0o644)
    assert warning in doctor.invoke(args=["frontdesk", "doctor"]).output


def test_prune_empties_file_and_table(
    make_app: MakeApp, backend: Backend, clock: SteppingClock
) -> None:
    """Earlier versions stored entries in the database and did not delete them."""
    database = str(make_url(backend.database_url).database)
    with closing(sqlite3.connect(database)) as connection:
        row = ("from an earlier version", "value", "2020-01-01 00:00:00.000000")
        connection.execute("INSERT INTO frontdesk_keystore_entries VALUES (?, ?, ?)", row)
        connection.commit()
    app = make_app(CORE__KEYSTORE="database")
    with app.app_context():
        store_of(app).put("key", "value", 60)
        store_of(app).put("lasting", "value", 3600)
    clock.step(minutes=5)
    result = app.test_cli_runner().invoke(args=["frontdesk", "prune"])
    assert '"keystore_entries":2' in result.output
    assert (count(state_path(backend)), count(database)) == (1, 0)


def test_no_route_waits_for_its_own_write(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    """Send the documented request to each route, without a token and as root."""
    app = make_app(**FEATURES)
    root = person("grace", into=app, role="root")
    asked = set()
    for rule in api_rules(app):
        operation = find_operation(app.view_functions[rule.endpoint])
        if operation is None:
            continue
        # The documented passwords are wrong and count as failed attempts.
        clock.step(minutes=10)
        values: dict[str, Any] = dict.fromkeys(rule.arguments, 1) | {"workspace_slug": "current"}
        known = {name: values[name] for name in rule.arguments}
        sent = {
            name: operation.examples[name]
            for name in ("json", "form")
            if operation.examples.get(name) is not None
        }
        if "form" in sent:
            sent["data"] = sent.pop("form")
        urls = app.url_map.bind("localhost")
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            path = urls.build(rule.endpoint, known, method=method)
            for headers in ({}, {"Authorization": f"Bearer {root.api().token}"}):
                answer = Answer(
                    app.test_client().open(path, method=method, headers=headers, **sent)
                )
                assert answer.status != 503, (method, path, answer.json)
                asked.add((method, rule.rule))
    assert len(asked) > 100


def test_no_feature_waits_for_its_own_write(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox, clock: SteppingClock
) -> None:
    """Use each feature that stores a code or challenge in one request and reads it in the next. A
    response of 503 fails the test."""
    app = make_app(**FEATURES)
    visitor = Visitor(app, mails)
    visitor.register(201)
    visitor.verify(visitor.mailed()[0])
    visitor.log_in()
    eve, api = person("eve", into=app), Api(app)
    has = enrolled(eve, clock)
    finish(api, challenge(api, eve), otp=has.phone.next_code())
    finish(api, challenge(api, eve), recovery_code=has.recovery_codes[0])
    has.api.delete("/logout")
    finish(api, challenge(api, eve), 400, otp="000000")
    holder = Holder(person("hedy", into=app).api())
    holder.add(status=200)
    holder.sign_in()
    bob = person("bob", into=app)
    login_id = ask_for_code(api, bob.email)["login_id"]
    token = verify_code(api, login_id, mailed_code(mails, bob.email)).json["access_token"]
    api.as_token(token).post("/account/email", 202, json={"email": "robert@example.com"})
    token, _ = ask_for_reset(api, mails, bob.email)
    reset(api, token, email=bob.email)

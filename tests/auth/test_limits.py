from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask

from app.testing.client import Answer, Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import PASSWORD, Backend, MakeApp, MakePerson, Person
from .test_login import log_in
from .test_recovery import NEW, ask, other, reset, verify


def fail(api: Api, times: int, status: int = 400, email: str = "ada@example.com") -> None:
    for _ in range(times):
        log_in(api, email, "wrong", status)


def from_address(app: Flask, address: str) -> Api:
    api = Api(app)
    api.client.environ_base["REMOTE_ADDR"] = address
    return api


@pytest.mark.parametrize("email", ["ada@example.com", "unknown@example.com"])
def test_sixth_attempt_after_five_wrong_passwords_is_rejected(
    api: Api, ada: Person, email: str
) -> None:
    fail(api, 5, email=email)
    answer = log_in(api, email, PASSWORD, 429)
    assert 0 < int(answer.headers["Retry-After"]) <= 300
    assert answer.json["code"] == "too_many_attempts"


def test_limit_is_exact_under_concurrency(app: Flask, ada: Person) -> None:
    def attempt(_: int) -> int:
        form = {"username": ada.email, "password": "wrong"}
        return app.test_client().post("/api/v1/login", data=form).status_code

    with ThreadPoolExecutor(8) as threads:
        assert Counter(threads.map(attempt, range(24))) == {400: 5, 429: 19}


def test_other_ip_address_is_not_limited(app: Flask, api: Api, ada: Person) -> None:
    fail(api, 5)
    log_in(from_address(app, "198.51.100.7"), ada.email, PASSWORD)


def test_ipv6_network_counts_as_one_ip_address(app: Flask, ada: Person) -> None:
    for host in range(5):
        fail(from_address(app, f"2001:db8::{host}"), 1)
    log_in(from_address(app, "2001:db8::ff"), ada.email, PASSWORD, 429)
    log_in(from_address(app, "2001:db8:0:1::1"), ada.email, PASSWORD)


def test_ipv4_mapped_address_counts_as_the_ipv4_address(app: Flask, ada: Person) -> None:
    fail(from_address(app, "::ffff:198.51.100.7"), 5)
    log_in(from_address(app, "198.51.100.7"), ada.email, PASSWORD, 429)
    log_in(from_address(app, "::ffff:203.0.113.9"), ada.email, PASSWORD)


def test_limit_expires(make_app: MakeApp, person: MakePerson, clock: SteppingClock) -> None:
    app = make_app(CORE__KEYSTORE="memory")
    person("ada", into=app)
    fail(Api(app), 5)
    clock.step(minutes=4)
    log_in(Api(app), "ada@example.com", PASSWORD, 429)
    clock.step(minutes=2)
    log_in(Api(app), "ada@example.com", PASSWORD)


def test_successful_sign_ins_are_not_limited(api: Api, ada: Person) -> None:
    for _ in range(60):
        log_in(api, ada.email, PASSWORD)


def test_guesses_from_one_ip_address_at_many_accounts_are_limited(
    make_app: MakeApp, person: MakePerson
) -> None:
    app = make_app(AUTH__LOGIN_ADDRESS_LIMIT="10/minute")
    person("ada", into=app)
    for number in range(10):
        fail(Api(app), 1, email=f"unknown{number}@example.com")
    log_in(Api(app), "ada@example.com", PASSWORD, 429)


def test_guesses_from_many_ip_addresses_at_one_account_are_limited(
    make_app: MakeApp, person: MakePerson
) -> None:
    app = make_app(AUTH__LOGIN_ACCOUNT_LIMIT="10/hour")
    person("ada", into=app)
    log_in(from_address(app, "192.0.2.1"), "ada@example.com", PASSWORD)
    for number in range(10):
        fail(from_address(app, f"198.51.100.{number}"), 1)
    log_in(from_address(app, "203.0.113.9"), "ada@example.com", PASSWORD, 429)
    log_in(from_address(app, "192.0.2.1"), "ada@example.com", PASSWORD)


def guess_from_many_ip_addresses(app: Flask, times: int, net: str = "198.51.100") -> None:
    for number in range(times):
        fail(from_address(app, f"{net}.{number}"), 1)


def test_password_reset_lets_the_owner_in_while_guessing_continues(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox
) -> None:
    app = make_app(AUTH__LOGIN_ACCOUNT_LIMIT="10/hour")
    person("ada", into=app)
    owner = from_address(app, "203.0.113.9")
    guess_from_many_ip_addresses(app, 10)
    log_in(owner, "ada@example.com", PASSWORD, 429)
    reset(owner, ask(owner, mails)[0])
    guess_from_many_ip_addresses(app, 10, net="192.0.2")
    log_in(owner, "ada@example.com", NEW)


def test_requesting_a_reset_unlocks_nothing(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox
) -> None:
    app = make_app(AUTH__LOGIN_ACCOUNT_LIMIT="10/hour", AUTH__RECOVERY_LIMIT="100/minute")
    person("ada", into=app)
    attacker, owner = (from_address(app, host) for host in ("203.0.113.66", "203.0.113.9"))
    guess_from_many_ip_addresses(app, 10)
    token, code = ask(attacker, mails)
    verify(attacker, token)
    verify(attacker, other(code), 400)
    reset(attacker, other(code), 400)
    reset(attacker, token, 422, new_password="short")
    log_in(attacker, "ada@example.com", "wrong", 429)
    reset(owner, ask(owner, mails)[0])
    guess_from_many_ip_addresses(app, 10, net="192.0.2")
    log_in(attacker, "ada@example.com", NEW, 429)
    reset(attacker, token, 400)
    log_in(attacker, "ada@example.com", NEW, 429)


def test_owner_after_a_reset_is_limited_like_others_from_one_ip_address(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox
) -> None:
    app = make_app(AUTH__LOGIN_ACCOUNT_LIMIT="10/hour")
    person("ada", into=app)
    owner = from_address(app, "203.0.113.9")
    reset(owner, ask(owner, mails)[0])
    fail(owner, 5)
    log_in(owner, "ada@example.com", NEW, 429)


@pytest.mark.parametrize("email", ["ada@example.com", "unknown@example.com"])
def test_recovery_is_limited_for_known_and_unknown_accounts(
    api: Api, ada: Person, email: str
) -> None:
    status = 200 if email == ada.email else 404
    for _ in range(5):
        api.post("/password-recovery", status, json={"email": email})
    api.post("/password-recovery", 429, json={"email": email})


EMAILS: dict[str, Callable[[Api, str, int], Answer]] = {
    "reset": lambda api, email, status: api.post(
        "/password-recovery", status, json={"email": email}
    ),
    "code": lambda api, email, status: api.post("/login/code", status, json={"email": email}),
}


@pytest.mark.parametrize("kind", EMAILS)
def test_stranger_does_not_use_up_emails_of_known_networks(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox, kind: str
) -> None:
    app = make_app(AUTH__LOGIN_BY_CODE="on", AUTH__HIDE_ACCOUNTS="true")
    ada, request = person("ada", into=app), EMAILS[kind]
    accepted = 202 if kind == "code" else 200
    owner, second, stranger, other = (
        from_address(app, address)
        for address in ("203.0.113.9", "192.0.2.1", "198.51.100.66", "198.51.100.77")
    )
    for api in (owner, second):
        log_in(api, ada.email, PASSWORD)
    refused = []
    for email in (ada.email, "unknown@example.com"):
        for _ in range(5):
            request(stranger, email, accepted)
        refused += [request(api, email, 429) for api in (stranger, other)]
    bodies = {str(each.json) for each in refused}
    assert len(bodies) == 1, "an account and no account get the same response"
    mails.clear()
    for api in (owner, second, owner, second, owner):
        request(api, ada.email, accepted)
    # Known networks share a counter: the owner gets at most twice the emails.
    for api in (owner, second):
        refused.append(request(api, ada.email, 429))
    assert len({str(each.json) for each in refused}) == 1
    assert len(mails.to(ada.email)) == 5


def test_recovery_is_limited_by_ip_address(api: Api) -> None:
    for number in range(20):
        api.post("/password-recovery", 404, json={"email": f"unknown{number}@example.com"})
    answer = api.post("/password-recovery", 429, json={"email": "one.more@example.com"})
    assert int(answer.headers["Retry-After"]) <= 60


def test_setting_disables_all_rate_limits(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(AUTH__RATE_LIMITS_ENABLED="false")
    person("ada", into=app)
    fail(Api(app), 60)
    for _ in range(25):
        Api(app).post("/password-recovery", json={"email": "ada@example.com"})


def test_unlock_resets_the_counters(
    backend: Backend, make_app: MakeApp, person: MakePerson
) -> None:
    app = make_app(**({} if backend.redis_url else {"CORE__KEYSTORE": "database"}))
    person("ada", into=app)
    fail(Api(app), 5)
    log_in(Api(app), "ada@example.com", PASSWORD, 429)
    result = app.test_cli_runner().invoke(args=["accounts", "unlock", "ada@example.com"])
    assert result.exit_code == 0, result.output
    log_in(Api(app), "ada@example.com", PASSWORD)


def test_password_reset_resets_the_counters(api: Api, ada: Person, mails: Any) -> None:
    fail(api, 5)
    reset(api, ask(api, mails)[0])
    log_in(api, ada.email, NEW)


def test_forwarded_ip_address_is_used_only_from_trusted_proxies(
    make_app: MakeApp, person: MakePerson
) -> None:
    direct = make_app()
    person("ada", into=direct)
    for number in range(5):
        spoofed = {"X-Forwarded-For": f"198.51.100.{number}"}
        log_in(Api(direct), "ada@example.com", "wrong", 400, headers=spoofed)
    log_in(Api(direct), "ada@example.com", PASSWORD, 429)

    behind = make_app(CORE__TRUSTED_PROXIES="1", CORE__KEYSTORE="memory")
    for number in range(6):
        sent = {"X-Forwarded-For": f"6.6.6.6, 203.0.113.{number}"}
        log_in(Api(behind), "ada@example.com", "wrong", 400, headers=sent)


def test_sign_ins_over_the_concurrency_limit_get_a_503(
    make_app: MakeApp, person: MakePerson
) -> None:
    app = make_app(AUTH__LOGINS_AT_ONCE="1", AUTH__BCRYPT_ROUNDS="10")
    person("ada", into=app)

    def attempt(_: int) -> tuple[int, str | None]:
        form = {"username": "ada@example.com", "password": PASSWORD}
        answer = app.test_client().post("/api/v1/login", data=form)
        return answer.status_code, answer.headers.get("Retry-After")

    with ThreadPoolExecutor(8) as threads:
        outcomes = Counter(threads.map(attempt, range(8)))
    assert set(outcomes) == {(200, None), (503, "1")}

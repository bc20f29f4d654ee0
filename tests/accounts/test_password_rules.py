from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator

import pytest
from flask import Flask

from app.accounts.breaches import _has
from app.accounts.password_rules import DOCUMENTED, CommonPassword, PasswordRules, _common
from app.accounts.service import Accounts
from app.auth.recovery import Recovery
from app.core.context import service
from app.testing.client import Answer, Api
from app.testing.people import Person

from ..cli.test_command_line import run
from ..conftest import PASSWORD, MakeApp
from ..rigs.backends import free_port
from ..rigs.breaches import Breached, breached_passwords
from ..rigs.servers import ROOT, checkout_environment

COMMON = "Sunshine"
UNUSUAL = "seven quiet otters"


@pytest.fixture
def breached() -> Iterator[Breached]:
    with breached_passwords(UNUSUAL) as server:
        yield server


def make_ada(app: Flask) -> str:
    """Create Ada's account and return a password-reset token."""
    with app.app_context():
        account = service(Accounts).create("ada@example.com", PASSWORD)
        token, _ = service(Recovery).proofs.issue(account)
        return str(token)


def reset(app: Flask, password: str, status: int) -> Answer:
    body = {"token": make_ada(app), "new_password": password}
    return Api(app).post("/reset-password", status, json=body)


def register(app: Flask, password: str, status: int) -> Answer:
    body = {"email": "bob@example.com", "password": password}
    return Api(app).post("/registration", status, json=body)


def test_common_password_has_its_own_error_code(app: Flask) -> None:
    answer = reset(app, COMMON, 422)
    assert answer.json["code"] == "common_password"
    assert answer.faults == ["json:new_password"]


def test_common_password_is_rejected_at_registration(make_app: MakeApp) -> None:
    app = make_app(AUTH__REGISTRATION="open")
    answer = register(app, COMMON, 422)
    assert (answer.json["code"], answer.faults) == ("common_password", ["json:password"])
    register(app, UNUSUAL, 202)


def test_common_passwords_can_be_allowed(make_app: MakeApp) -> None:
    reset(make_app(AUTH__COMMON_PASSWORDS="allow"), COMMON, 200)


@pytest.mark.parametrize("password", sorted(DOCUMENTED))
def test_documented_password_is_rejected(app: Flask, password: str) -> None:
    for given in (password, password.upper()):
        with app.app_context(), pytest.raises(CommonPassword):
            service(Accounts).passwords.rules.check_new_password(
                given, "ada@example.com", "password"
            )


def test_account_with_a_documented_password_can_sign_in_and_change_it(app: Flask) -> None:
    with app.app_context():
        service(Accounts).create("ada@example.com", "correct horse")
    ada = Person(app, 1, "ada@example.com", "correct horse", prefix="/api/v1")
    body = {"current_password": "correct horse", "new_password": "battery staple"}
    refused = ada.api().put("/account/password", 422, json=body)
    assert (refused.json["code"], refused.faults) == ("common_password", ["json:new_password"])
    ada.api().put("/account/password", 200, json={**body, "new_password": UNUSUAL})


@pytest.mark.parametrize(
    "password",
    ["seven otters", "SevenOtters2026!", "Lighthouse-77", "ada-12345678", "example.1234"],
)
def test_words_of_the_service_and_the_email_are_common_passwords(
    make_app: MakeApp, password: str
) -> None:
    app = make_app(CORE__PROJECT_NAME="Seven Otters", AUTH__PASSWORD_WORDS='["lighthouse"]')
    assert reset(app, password, 422).json["code"] == "common_password"


@pytest.mark.parametrize("password", ["otters eat fish", "adalovelace", "19384756201"])
def test_password_can_contain_words_of_the_service(make_app: MakeApp, password: str) -> None:
    reset(make_app(CORE__PROJECT_NAME="Otters"), password, 200)


def test_operator_is_warned_and_can_set_a_common_password(app: Flask) -> None:
    command = ["accounts", "create", "ada@example.com", "--password", COMMON]
    result = app.test_cli_runner().invoke(args=command)
    assert result.exit_code == 0
    assert "Warning: This password is too common" in result.stderr
    assert "tried first" not in run(
        app, "accounts", "set", "ada@example.com", "--password", UNUSUAL
    )


def test_minimum_length_is_configurable(make_app: MakeApp) -> None:
    app = make_app(AUTH__PASSWORD_MIN_LENGTH="19")
    answer = reset(app, UNUSUAL, 422)
    assert answer.faults == ["json:new_password"]
    assert "19 characters" in answer.json["errors"][0]["message"]


def test_list_has_three_thousand_passwords_of_the_minimum_length() -> None:
    words = _common()
    assert len(words) == 3000
    assert {"password", "12345678", "sunshine", "qwertyuiop"} <= words
    assert all(len(word) >= 8 and word == word.lower() for word in words)
    assert (ROOT / "app" / "accounts" / "common" / "LICENSE").read_text()


def test_list_is_loaded_lazily() -> None:
    script = """
import sys
from app.accounts.password_rules import DOCUMENTED, CommonPassword, PasswordRules, _common
from app.accounts.passwords import Passwords
passwords = Passwords(4, 4)
passwords.matches("wrong", passwords.hash("right"))
assert _common.cache_info().currsize == 0
assert "urllib.request" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], env=checkout_environment(), check=True)


def test_breached_password_has_its_own_error_code(make_app: MakeApp, breached: Breached) -> None:
    app = make_app(AUTH__BREACHED_PASSWORDS="refuse", AUTH__BREACHED_PASSWORDS_URL=breached.url)
    answer = reset(app, UNUSUAL, 422)
    assert (answer.json["code"], answer.faults) == ("breached_password", ["json:new_password"])


def test_only_five_digits_of_the_hash_are_sent(make_app: MakeApp, breached: Breached) -> None:
    app = make_app(AUTH__BREACHED_PASSWORDS="refuse", AUTH__BREACHED_PASSWORDS_URL=breached.url)
    reset(app, "another quiet otter", 200)
    prefix = hashlib.sha1(b"another quiet otter").hexdigest().upper()[:5]
    assert breached.asked == [(f"/range/{prefix}", "true")]


def test_breach_service_is_off_by_default(make_app: MakeApp, breached: Breached) -> None:
    reset(make_app(AUTH__BREACHED_PASSWORDS_URL=breached.url), UNUSUAL, 200)
    assert breached.asked == []


@pytest.mark.parametrize("failure", ["away", "slow", "trickling", "broken", "elsewhere"])
def test_unavailable_breach_service_accepts_the_password_and_is_logged(
    make_app: MakeApp, breached: Breached, failure: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if failure == "slow":
        breached.seconds = 1.5
    breached.trickles = failure == "trickling"
    breached.status = {"broken": 503, "elsewhere": 302}.get(failure, 200)
    url = f"http://127.0.0.1:{free_port()}" if failure == "away" else breached.url
    app = make_app(
        AUTH__BREACHED_PASSWORDS="refuse",
        AUTH__BREACHED_PASSWORDS_URL=url,
        CORE__METRICS_ENABLED="1",
    )
    reset(app, UNUSUAL, 200)
    logged = capsys.readouterr().err
    assert "Breached passwords cannot be checked" in logged
    assert UNUSUAL not in logged
    metrics = app.test_client().get("/metrics").get_data(as_text=True)
    assert "frontdesk_unasked_breaches_total 1.0" in metrics


def test_padding_of_a_response_is_ignored() -> None:
    assert not _has("A" * 35 + ":0", "A" * 35)
    assert _has("B" * 35 + ":0\r\n" + "a" * 35 + ":12", "A" * 35)
    assert not _has("", "A" * 35)


def test_rules_work_without_an_application() -> None:
    rules = PasswordRules(refuses_common=False)
    rules.check_new_password(COMMON, "ada@example.com", "password")
    assert rules.warnings("short") == ["At least 8 characters are needed."]

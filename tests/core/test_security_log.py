"""The security log: one structured line for each security-relevant action and rejection."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask

from app.auth.errors import IncorrectCredentials, InvalidCredentials
from app.core import security_log
from app.core.security_log import MAX_NAMED_SOURCES, MAX_PER_SOURCE, MAX_TOTAL, RejectionLog
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..auth.test_limits import from_address
from ..auth.test_login import listen_to, log_in
from ..auth.test_recovery import NEW, ask, reset, verify
from ..conftest import PASSWORD, MakeApp, MakePerson, Person
from ..registration.visitors import Visitor

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)

Entry = dict[str, Any]
FindEntries = Callable[..., list[Entry]]


class LogEntries(logging.Handler):
    """Collects the entries of its logger, since applications reset the root logger."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: list[Entry] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.fields.append(record.__dict__["fields"])


@pytest.fixture
def find_entries() -> Iterator[FindEntries]:
    """Return a function that finds the entries of an event and checks their fields."""
    log, lines = logging.getLogger("frontdesk.security"), LogEntries()
    log.addHandler(lines)
    log.setLevel(logging.INFO)

    def find(event: str, **facts: Any) -> list[Entry]:
        found = [line for line in lines.fields if line["event"] == event]
        assert found or not facts, f"no {event} entry is logged"
        for line in found:
            assert {name: line.get(name) for name in facts} == facts
        return found

    yield find
    log.removeHandler(lines)
    log.setLevel(logging.NOTSET)


def run(app: Flask, *args: str, typed: str | None = None) -> None:
    result = app.test_cli_runner().invoke(args=["accounts", *args], input=typed)
    assert result.exit_code == 0, result.output


def test_sign_in_is_logged_with_account_and_ip_address(
    app: Flask, ada: Person, find_entries: FindEntries
) -> None:
    api = from_address(app, "203.0.113.9")
    log_in(api, ada.email, PASSWORD, headers={"X-Request-ID": "call-7"})
    [line] = find_entries("sign_in")
    assert line == {
        "event": "sign_in",
        "outcome": "succeeded",
        "by": "request",
        "account_id": ada.id,
        "address": "203.0.113.9",
        "request_id": "call-7",
        "proofs": ("password",),
    }


def test_wrong_password_is_logged_with_the_account(
    api: Api, ada: Person, find_entries: FindEntries
) -> None:
    log_in(api, ada.email, "not her password", 400)
    [line] = find_entries(
        "sign_in", outcome="refused", reason="incorrect_credentials", account_id=ada.id
    )
    assert (line["method"], line["route"]) == ("POST", "/api/v1/login")
    assert line["request_id"]


def test_unknown_email_is_not_logged(
    api: Api, find_entries: FindEntries, caplog: pytest.LogCaptureFixture
) -> None:
    log_in(api, "unknown@example.com", PASSWORD, 400)
    api.post("/password-recovery", 404, json={"email": "unknown@example.com"})
    assert "account_id" not in find_entries("sign_in", outcome="refused")[0]
    assert find_entries("recovery_request", outcome="refused", reason="account_not_found")
    assert "unknown@" not in caplog.text


def test_rejected_sign_in_of_an_inactive_account_is_logged_with_its_id(
    api: Api, person: MakePerson, find_entries: FindEntries
) -> None:
    bob = person("bob", status="suspended")
    log_in(api, bob.email, PASSWORD, 400)
    find_entries("sign_in", outcome="refused", reason="inactive_account", account_id=bob.id)


def test_rate_limit_is_logged_with_its_name(
    api: Api, ada: Person, find_entries: FindEntries
) -> None:
    for status in (400, 400, 400, 400, 400, 429):
        log_in(api, ada.email, "wrong", status)
    assert (
        len(find_entries("limit", outcome="refused", reason="too_many_attempts", limit="login-300"))
        == 1
    )


def test_password_recovery_is_logged_from_request_to_reset(
    api: Api, ada: Person, mails: MailOutbox, find_entries: FindEntries
) -> None:
    token, _ = ask(api, mails)
    verify(api, "00000000", 400)
    reset(api, token)
    reset(api, token, 400)
    known = {"account_id": ada.id, "outcome": "succeeded"}
    assert (
        len(find_entries("recovery_request", **known))
        == len(find_entries("password_reset", **known))
        == 1
    )
    proofs = find_entries("proof", outcome="refused", reason="invalid_token")
    assert [line["route"] for line in proofs] == ["/api/v1/verify-token", "/api/v1/reset-password"]


def test_registration_is_logged_from_request_to_first_sign_in(
    make_app: MakeApp, mails: MailOutbox, find_entries: FindEntries
) -> None:
    Visitor(make_app(AUTH__REGISTRATION="invited"), mails).register(403)
    find_entries("account_creation", outcome="refused", reason="registration_closed")
    ada = Visitor(make_app(AUTH__REGISTRATION="open"), mails)
    ada.register()
    ada.log_in(400)
    find_entries("sign_in", outcome="refused", reason="email_not_verified")
    ada.verify(ada.mailed()[0])
    ada.log_in()
    made, entered = find_entries("account_creation")[-1], find_entries("sign_in")[-1]
    [proof] = find_entries("address_proof", outcome="succeeded")
    assert made["account_id"] == proof["account_id"] == entered["account_id"]
    assert (made["status_after"], entered["outcome"]) == ("pending", "succeeded")


def test_logout_and_actions_of_operators_are_logged(
    app: Flask, ada: Person, find_entries: FindEntries
) -> None:
    ada.api().delete("/logout")
    find_entries("logout", outcome="succeeded", account_id=ada.id, by="request")
    run(app, "sign-out", ada.email)
    run(app, "sign-out", "--all")
    run(app, "set", ada.email, "--role", "admin", "--status", "online", "--phone", "")
    run(app, "set", ada.email, "--password-file", "-", typed=NEW)
    run(app, "delete", ada.email)
    ended, everybody = find_entries("tokens_ended", outcome="succeeded", by="command")
    assert (ended["account_id"], everybody["accounts"]) == (ada.id, 1)
    roles, password = find_entries("account_change", account_id=ada.id, by="command")
    assert (roles["role_before"], roles["role_after"]) == ("user", "admin")
    assert (roles["status_before"], roles["status_after"]) == ("active", "online")
    assert roles["changed"] == ["role", "status", "phone"]
    assert password["changed"] == ["password"]
    assert find_entries("account_deletion", account_id=ada.id)


def test_membership_changes_are_logged_with_old_and_new_roles(
    app: Flask, person: MakePerson, find_entries: FindEntries
) -> None:
    olga, bob = person("olga"), person("bob")
    olga.api().post("/workspaces", json={"name": "Secret", "slug": "secret"})
    invoke = app.test_cli_runner().invoke
    for kind in ("member", "admin"):
        invoke(args=["workspaces", "add", "secret", bob.email, "--type", kind])
    olga.api().patch(f"/workspaces/secret/members/{bob.id}", json={"type": "guest"})
    olga.api().delete(f"/workspaces/secret/members/{bob.id}")
    lines = [line for line in find_entries("membership") if line["account_id"] == bob.id]
    types = [(line["change"], line.get("type_before"), line.get("type_after")) for line in lines]
    assert types[-4:] == [
        ("added", None, "member"),
        ("changed", "member", "admin"),
        ("changed", "admin", "guest"),
        ("removed", "guest", None),
    ]
    assert {line["by"] for line in lines[:-2]} == {"command"}
    assert {line["actor_id"] for line in lines[-2:]} == {olga.id}
    assert all(line["workspace_id"] for line in lines)


def test_denied_access_is_logged(api: Api, ada: Person, find_entries: FindEntries) -> None:
    ada.api().get("/admin/notifications/all", 403)
    [line] = find_entries("entry", outcome="refused", reason="not_authorized", account_id=ada.id)
    assert line["route"] == "/api/v1/admin/notifications/all"
    api.get("/account", 401)
    api.as_token("a.b.c").get("/account", 401)
    mine = ada.api()
    mine.delete("/logout")
    mine.get("/account", 401)
    reasons = [line["reason"] for line in find_entries("credential", outcome="refused")]
    assert reasons == ["no_credential", "invalid_credentials", "token_expired"]


def test_invalid_input_is_logged_without_its_value(
    api: Api, find_entries: FindEntries, caplog: pytest.LogCaptureFixture
) -> None:
    api.post("/login", 422, data={"username": "hunter2"})
    api.post("/verify-token", 400, data=b"{hunter2", content_type="application/json")
    reasons = [line["reason"] for line in find_entries("input", outcome="refused")]
    assert reasons == ["validation_error", "malformed_json"]
    assert "hunter2" not in caplog.text


def test_rolled_back_action_is_not_logged(
    app: Flask, ada: Person, find_entries: FindEntries
) -> None:
    def reject(*_: object) -> None:
        raise IncorrectCredentials

    listen_to(app, "account-logged-in", reject)
    log_in(Api(app), ada.email, PASSWORD, 400)
    assert [line["outcome"] for line in find_entries("sign_in")] == ["refused"]


def test_no_line_contains_a_secret(
    app: Flask, ada: Person, mails: MailOutbox, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    api = Api(app)
    bearer = ada.token()
    log_in(api, ada.email, "a wrong password", 400)
    api.as_token(bearer + "x").get("/account", 401)
    token, code = ask(api, mails)
    reset(api, token, 422, new_password="short")
    reset(api, code)
    secrets = [PASSWORD, NEW, "a wrong password", bearer, token, code, "short", ada.email]
    written = "\n".join(str(record.__dict__) for record in caplog.records)
    assert "password_reset" in written
    assert [secret for secret in secrets if secret in written] == []


def test_production_logs_json_lines(make_app: MakeApp, capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    api = Api(make_app(CORE__LOG_LEVEL="INFO"))
    log_in(api, "x@example.com\n", "wrong", 400, headers={"X-Request-ID": "call-7"})
    root.handlers[:], root.level = before
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    [line] = [line for line in lines if line["logger"] == "frontdesk.security"]
    assert (line["event"], line["outcome"], line["request_id"]) == ("sign_in", "refused", "call-7")
    assert line["message"] == "sign_in refused"
    assert line["time"].endswith("+00:00")


def test_development_logs_the_fields_in_the_message(
    api: Api, find_entries: FindEntries, caplog: pytest.LogCaptureFixture
) -> None:
    log_in(api, "x@example.com", "wrong", 400)
    assert "sign_in refused by=request address=127.0.0.1 request_id=" in caplog.text
    assert "reason=incorrect_credentials" in caplog.text


@pytest.fixture
def log_rejection(app: Flask) -> Callable[[str], None]:
    """Return a function that logs a rejection of a request from an IP address."""
    rejections = RejectionLog(SteppingClock())

    def reject(address: str) -> None:
        with app.test_request_context("/", environ_base={"REMOTE_ADDR": address}):
            rejections.log(InvalidCredentials())

    reject.clock = rejections._clock  # type: ignore[attr-defined]
    return reject


def test_flood_is_sampled_and_counted(log_rejection: Any, find_entries: FindEntries) -> None:
    for _ in range(MAX_PER_SOURCE + 25):
        log_rejection("203.0.113.66")
    log_rejection("203.0.113.9")
    assert len(find_entries("credential")) == MAX_PER_SOURCE + 1
    log_rejection.clock.step(minutes=2)
    log_rejection("203.0.113.9")
    *_, counted, again = find_entries("credential", outcome="refused")
    assert (counted["address"], counted["left_out"]) == ("203.0.113.66", 25)
    assert again["address"] == "203.0.113.9"


def test_flood_from_many_ip_addresses_is_bounded(
    log_rejection: Any, find_entries: FindEntries
) -> None:
    for number in range(4 * MAX_TOTAL):
        log_rejection(f"10.0.{number % 1000 // 250}.{number % 250}")
    assert len(find_entries("credential")) == MAX_TOTAL
    log_rejection.clock.step(minutes=2)
    log_rejection("203.0.113.9")
    counted = [line["left_out"] for line in find_entries("credential") if "left_out" in line]
    assert sum(counted) == 3 * MAX_TOTAL
    assert len(counted) == MAX_NAMED_SOURCES + 1


def test_many_ip_addresses_use_bounded_memory(
    log_rejection: Any, monkeypatch: pytest.MonkeyPatch, find_entries: FindEntries
) -> None:
    monkeypatch.setattr(security_log, "MAX_SOURCES", 5)
    for number in range(30):
        log_rejection(f"203.0.113.{number}")
    log_rejection.clock.step(minutes=2)
    log_rejection("198.51.100.1")
    counted = [line for line in find_entries("credential") if "left_out" in line]
    assert [(line.get("address"), line["left_out"]) for line in counted] == [(None, 15)]

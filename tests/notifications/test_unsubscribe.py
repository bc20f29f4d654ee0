"""One-click unsubscribe: the headers of emails, and the routes of their links."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask

from app.accounts.service import Accounts
from app.core.context import service
from app.notifications.unsubscribe import Subscription, UnsubscribeTokens
from app.testing.client import Api

from ..conftest import SECRET, MakeApp, MakePerson, Person
from ..rigs.manual_engine import ManualEngine
from ..rigs.smtp import Sink, smtp_sink
from .conftest import Notify
from .test_preferences import KINDS, switches

HOST = "https://api.example.com"
PREFIX = "/api/v1/unsubscribe/"
SETTINGS = {"CORE__PUBLIC_URL": HOST, "NOTIFICATIONS__KINDS": json.dumps(KINDS)}


@pytest.fixture
def sink() -> Iterator[Sink]:
    with smtp_sink() as sink:
        yield sink


@pytest.fixture
def app(make_app: MakeApp, sink: Sink) -> Flask:
    return make_app(MAIL_SERVER="127.0.0.1", MAIL_PORT=str(sink.port), **SETTINGS)


def token_for(app: Flask, person: Person, kind: str = "orders") -> str:
    with app.app_context():
        return service(UnsubscribeTokens).write(Subscription(person.id, kind, "email"))


@pytest.fixture
def token(app: Flask, ada: Person) -> str:
    return token_for(app, ada)


def test_emails_of_optional_kinds_have_the_headers_of_their_recipient(
    app: Flask, ada: Person, bob: Person, notify: Notify, engine: ManualEngine, sink: Sink
) -> None:
    for kind in ("orders", "alarms", None):
        notify(f"About {kind}", kind=kind, channels=["inapp", "email"])
    engine.deliver()
    by_title = {(mail.to, mail.message["subject"]): mail for mail in sink.received}
    for person in (ada, bob):
        message = by_title[person.email, "About orders"].message
        assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        link = message["List-Unsubscribe"].strip("<>")
        assert link == f"{HOST}{PREFIX}{token_for(app, person)}"
        response = app.test_client().post(
            urlsplit(link).path, data={"List-Unsubscribe": "One-Click"}
        )
        assert response.status_code == 200
        assert "Set-Cookie" not in response.headers
        assert switches(person.api())["orders"] == {"email": False}
        for title in ("About alarms", "About None"):
            assert by_title[person.email, title].message["List-Unsubscribe"] is None
            assert "/account/notifications" not in by_title[person.email, title].part("html")
        for part in ("html", "plain"):
            assert f"{HOST}/account/notifications" in by_title[person.email, "About orders"].part(
                part
            )


@pytest.mark.parametrize("url", [None, "http://api.example.com"])
def test_headers_need_a_public_https_url(
    make_app: MakeApp, person: MakePerson, sink: Sink, engine: ManualEngine, url: str | None
) -> None:
    settings = {} if url is None else {"CORE__PUBLIC_URL": url}
    app = make_app(MAIL_SERVER="127.0.0.1", MAIL_PORT=str(sink.port), **settings)
    admin = person("root", role="admin", into=app).api()
    data = {"title": "News", "message": "Some.", "channels": ["inapp", "email"]}
    admin.post("/admin/notifications/", 201, json={"data": data})
    engine.deliver()
    assert sink.received[0].message["List-Unsubscribe"] is None


def test_doctor_says_why_headers_are_missing_and_what_dkim_must_cover(
    make_app: MakeApp, sink: Sink
) -> None:
    def found(**settings: str) -> list[str]:
        client = {"CORE__CLIENT_HOST": "https://app.example.com"}
        mail = {"MAIL_SERVER": "127.0.0.1", "MAIL_PORT": str(sink.port)}
        app = make_app(**{**client, **mail, **settings})
        result = app.test_cli_runner().invoke(args=["frontdesk", "doctor", "--json"])
        findings = json.loads(result.output)["findings"]
        return [each["message"] for each in findings if each["check"] == "unsubscribe"]

    for settings in ({}, {"CORE__PUBLIC_URL": "http://api.example.com"}):
        [message] = found(**settings)
        assert "CORE__PUBLIC_URL" in message
        assert "cover List-Unsubscribe and List-Unsubscribe-Post" in message
    for settings in ({"CORE__PUBLIC_URL": HOST}, {"MAIL_SERVER": ""}):
        assert found(**settings) == []


def test_unsubscribing_can_be_repeated_and_undone(app: Flask, ada: Person, token: str) -> None:
    api, anyone, path = ada.api(), Api(app), f"/unsubscribe/{token}"
    for _ in range(2):
        assert anyone.post(path).json == {
            "kind": "orders",
            "name": "Orders",
            "mandatory": False,
            "subscribed": False,
            "others_subscribed": True,
        }
        assert switches(api)["orders"] == {"email": False}
    for _ in range(2):
        assert anyone.delete(path).json["subscribed"]
        assert switches(api)["orders"] == {"email": True}
    for _ in range(2):
        state = anyone.post(f"{path}?all=true").json
        assert not (state["subscribed"])
        assert not (state["others_subscribed"])
    assert switches(api)["announcements"]["email"] is switches(api)["orders"]["email"] is False
    assert switches(api)["alarms"] == {"email": True, "sms": True}
    assert anyone.delete(f"{path}?all=true").json["others_subscribed"]
    assert switches(api)["announcements"]["email"]
    assert switches(api)["orders"]["email"]


def test_unsubscribe_needs_neither_a_body_nor_an_origin(app: Flask, token: str) -> None:
    client, path = app.test_client(), PREFIX + token
    for options in (
        {"data": b"\xff", "content_type": "application/json"},
        {"data": "x" * 100_000, "content_type": "text/plain"},
        {"headers": {"Origin": "https://mail.example", "Sec-Fetch-Site": "cross-site"}},
        {"headers": {"Authorization": "Bearer expired"}},
    ):
        response = client.post(path, **options)
        assert response.status_code == 200
        assert "Set-Cookie" not in response.headers
    assert client.post(f"{path}?all=perhaps").status_code == 422


def test_opening_the_link_changes_nothing(app: Flask, ada: Person, token: str) -> None:
    response = app.test_client().get(PREFIX + token)
    page = urlsplit(response.headers["Location"])
    assert (response.status_code, page.path) == (303, "/unsubscribe")
    assert parse_qs(page.query) == {"token": [token], "kind": ["orders"]}
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert "ada" not in response.headers["Location"]
    assert switches(ada.api())["orders"] == {"email": True}


def test_wrong_tokens_and_those_of_deleted_accounts_are_not_found(
    app: Flask, ada: Person, token: str
) -> None:
    api = Api(app)
    body, _, signature = token.rpartition(".")
    wrong = [
        "x",
        body,
        f"{body}.",
        f"{body}.{signature[::-1]}",
        token[:-1],
        f"x{token}",
        "é",
        "%00",
    ]
    with app.app_context():
        service(Accounts).create("eve@example.com", "a password never seen before")
        other = service(UnsubscribeTokens).write(Subscription(2**40, "orders", "email"))
    for method in (api.get, api.post, api.delete):
        for each in (*wrong, other):
            assert method(f"/unsubscribe/{each}", 404).json["code"] == "unsubscribe_link_not_found"
    with app.app_context():
        service(Accounts).delete(service(Accounts).get(ada.email))
    for method in (api.get, api.post, api.delete):
        method(f"/unsubscribe/{token}", 404)


def test_token_outlives_its_key_while_that_is_a_fallback(
    make_app: MakeApp, ada: Person, token: str
) -> None:
    new = "another secret key for the tests, long enough for HS256"
    for fallbacks, status in ((json.dumps(["a" * 40, SECRET]), 200), ("[]", 404)):
        app = make_app(SECRET_KEY=new, CORE__SECRET_KEY_FALLBACKS=fallbacks, **SETTINGS)
        Api(app).post(f"/unsubscribe/{token}", status)


def test_kind_that_becomes_mandatory_or_undeclared_keeps_its_link(
    make_app: MakeApp, ada: Person, token: str
) -> None:
    Api(ada.app).post(f"/unsubscribe/{token}")
    mandatory = {"orders": {"name": "Orders", "mandatory": True}}
    app = make_app(NOTIFICATIONS__KINDS=json.dumps(mandatory))
    assert Api(app).post(f"/unsubscribe/{token}").json["subscribed"] is True
    app = make_app()
    state = Api(app).post(f"/unsubscribe/{token}").json
    assert (state["name"], state["subscribed"]) == ("orders", False)
    assert Api(app).delete(f"/unsubscribe/{token}").json["subscribed"] is True

"""Listing and ending the sessions of an account, effective immediately on every worker."""

from __future__ import annotations

from typing import Any

import jwt
import pytest
from flask import Flask

from app.accounts.service import Accounts
from app.auth.proof_names import PASSWORD as PASSWORD_PROOF
from app.auth.sign_in.policy import SignInPolicy, SignInResult
from app.core.context import service
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.database import noted_queries

from ..conftest import PASSWORD, MakeApp, MakePerson, Person
from ..rigs.cases import for_each

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15"
    " (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1"
)


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__SESSIONS="on")


def sign_in(api: Api, user_agent: str | None = None, **form: str) -> Api:
    """Sign in as a separate client."""
    headers = {"User-Agent": user_agent} if user_agent else {}
    form = {"username": "ada@example.com", "password": PASSWORD, **form}
    token = api.as_token(None).post("/login", data=form, headers=headers).json["access_token"]
    return api.as_token(token)


def sid(api: Api) -> str:
    return str(claims(api)["sid"])


def claims(api: Api) -> dict[str, Any]:
    found: dict[str, Any] = jwt.decode(api.token or "", options={"verify_signature": False})
    return found


def is_in(api: Api) -> bool:
    return bool(api.client.get(f"{api.prefix}/account", headers=bearer(api)).status_code == 200)


def bearer(api: Api) -> dict[str, str]:
    return {"Authorization": f"Bearer {api.token}"}


def listed(api: Api) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get("/sessions").json
    return found


@pytest.fixture
def laptop(api: Api, ada: Person) -> Api:
    return sign_in(api, FIREFOX)


@pytest.fixture
def phone(api: Api, laptop: Api, clock: SteppingClock) -> Api:
    clock.step(minutes=1)
    return sign_in(api, IPHONE)


def test_sessions_are_listed_newest_first(laptop: Api, phone: Api) -> None:
    newest, oldest = listed(laptop)
    assert [newest["id"], oldest["id"]] == [sid(phone), sid(laptop)]
    assert [newest["current"], oldest["current"]] == [False, True]
    assert [newest["label"], oldest["label"]] == ["Safari on iPhone", "Firefox on Linux"]
    assert oldest["user_agent"] == FIREFOX
    assert oldest["kind"] == "token"
    assert oldest["amr"] == ["pwd"]
    assert oldest["ip"] == "127.0.0.0/24"
    assert oldest["created_at"] == oldest["used_at"] < oldest["expires_at"]
    assert newest.keys() == {
        *("id", "current", "kind", "created_at", "used_at", "expires_at"),
        *("ip", "user_agent", "label", "amr"),
    }


def test_list_is_paginated(laptop: Api, phone: Api) -> None:
    page = laptop.get("/sessions?limit=1")
    assert [each["id"] for each in page.json] == [sid(phone)]
    next_page = page.headers["Link"].partition(">")[0].removeprefix("</api/v1")
    assert [each["id"] for each in laptop.get(next_page).json] == [sid(laptop)]


def test_sessions_of_other_accounts_are_not_accessible(laptop: Api, person: MakePerson) -> None:
    bob = person("bob").api()
    assert [each["current"] for each in listed(bob)] == [True]
    refused = bob.delete(f"/sessions/{sid(laptop)}", 404)
    assert (refused.json["code"], refused.detail) == ("session_not_found", "Session not found")
    assert bob.delete("/sessions").json == {"ended": 1}
    assert is_in(laptop)


def test_ending_a_session_keeps_the_others(laptop: Api, phone: Api) -> None:
    ended = laptop.delete(f"/sessions/{sid(phone)}").json
    assert (ended["id"], ended["current"]) == (sid(phone), False)
    refused = phone.get("/account", 401)
    assert refused.detail == "Could not validate credentials"
    assert refused.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'
    assert [each["id"] for each in listed(laptop)] == [sid(laptop)]


def test_ended_session_is_not_found(laptop: Api, phone: Api) -> None:
    laptop.delete(f"/sessions/{sid(phone)}")
    laptop.delete(f"/sessions/{sid(phone)}", 404)


def test_current_session_can_be_ended(laptop: Api, phone: Api) -> None:
    assert laptop.delete(f"/sessions/{sid(laptop)}").json["current"] is True
    assert not is_in(laptop)
    assert is_in(phone)


@for_each(
    "name",
    ["1", "0", "x", "00000000-0000-0000-0000-000000000000", "%00", "%F0%9F%98%80", "a" * 3000]
    + ["6F9D1C0E7B3A4F52A8C46B1D9E0F7A35", "{6f9d1c0e-7b3a-4f52-a8c4-6b1d9e0f7a35}", "..%2f"],
)
def test_malformed_session_id_is_not_found(laptop: Api, name: str) -> None:
    laptop.delete(f"/sessions/{name}", 404)
    assert is_in(laptop)


def test_all_other_sessions_are_ended(api: Api, laptop: Api, phone: Api) -> None:
    tablet = sign_in(api)
    assert laptop.delete("/sessions?others=true").json == {"ended": 2}
    assert [is_in(each) for each in (laptop, phone, tablet)] == [True, False, False]
    assert laptop.delete("/sessions?others=true").json == {"ended": 0}


def test_all_sessions_are_ended(laptop: Api, phone: Api) -> None:
    assert laptop.delete("/sessions").json == {"ended": 2}
    assert not is_in(laptop)
    assert not is_in(phone)


@for_each("query", ["others=perhaps", "others=true&others=false", "others="])
def test_invalid_query_ends_no_session(laptop: Api, query: str) -> None:
    assert laptop.delete(f"/sessions?{query}", 422).faults == ["query:others"]
    assert is_in(laptop)


def test_ended_sessions_are_in_the_audit_log(
    laptop: Api, phone: Api, person: MakePerson, clock: SteppingClock
) -> None:
    laptop.delete(f"/sessions/{sid(phone)}")
    laptop.delete("/sessions")
    admin = person("boss", role="admin").api()
    several, one = admin.get("/admin/events?type=session.ended").json
    assert (one["target_kind"], one["target_id"]) == ("session", sid(phone))
    assert one["data"] == {"reason": "owner"}
    assert several["data"] == {"reason": "owner", "sessions": 1}


def test_ended_session_is_rejected_by_other_workers(
    make_app: MakeApp, laptop: Api, phone: Api
) -> None:
    elsewhere = Api(make_app(AUTH__SESSIONS="on"))
    there = elsewhere.as_token(phone.token)
    # The worker has already verified the token and cached its signature.
    assert is_in(there)
    laptop.delete(f"/sessions/{sid(phone)}")
    assert not is_in(there)
    assert is_in(elsewhere.as_token(laptop.token))


def test_reading_the_account_needs_one_query(app: Flask, laptop: Api) -> None:
    with noted_queries(app) as queries:
        laptop.get("/account")
    assert len(queries) == 1
    assert "frontdesk_sessions" in queries[0]


def test_disabled_sessions_have_no_routes(make_app: MakeApp, person: MakePerson) -> None:
    api = person("bob", into=make_app()).api()
    api.get("/sessions", 404)
    api.delete("/sessions", 404)
    api.post("/token", 404)
    assert claims(api).keys().isdisjoint({"sid", "amr", "auth_time"})


def test_idle_session_ends(make_app: MakeApp, person: MakePerson, clock: SteppingClock) -> None:
    app = make_app(
        AUTH__SESSIONS="on", AUTH__SESSION_IDLE_DAYS="2", AUTH__ACCESS_TOKEN_EXPIRE_MINUTES="14400"
    )
    api = person("bob", into=app).api()
    for _ in range(3):
        clock.step(days=1.9)
        assert is_in(api)
    clock.step(days=2.1)
    assert not is_in(api)


def test_session_ends_with_its_token(api: Api, laptop: Api, clock: SteppingClock) -> None:
    clock.step(minutes=31)
    assert not is_in(laptop)
    assert len(listed(sign_in(api))) == 1


def test_last_use_is_stored_to_the_hour(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(AUTH__SESSIONS="on", AUTH__ACCESS_TOKEN_EXPIRE_MINUTES="600")
    api = person("bob", into=app).api()
    first_use = listed(api)[0]["used_at"]
    clock.step(minutes=59)
    assert listed(api)[0]["used_at"] == first_use
    clock.step(minutes=2)
    is_in(api)
    assert listed(api)[0]["used_at"] > first_use


STORED_ADDRESSES = {"full": "127.0.0.1", "network": "127.0.0.0/24", "none": None}


@pytest.mark.parametrize(("setting", "expected"), STORED_ADDRESSES.items())
def test_ip_address_is_stored_as_configured(
    make_app: MakeApp, person: MakePerson, setting: str, expected: str | None
) -> None:
    app = make_app(AUTH__SESSIONS="on", AUTH__SESSION_ADDRESSES=setting)
    assert listed(person("bob", into=app).api())[0]["ip"] == expected


def test_admin_lists_the_sessions_of_an_account(
    laptop: Api, ada: Person, person: MakePerson
) -> None:
    admin = person("grace", role="admin").api()
    path = f"/admin/accounts/{ada.id}/sessions"
    [session] = admin.get(path).json
    assert (session["id"], session["current"]) == (sid(laptop), False)
    assert admin.get(path, query_string={"offset": 1}).json == []
    laptop.get(path, 403)
    admin.get("/admin/accounts/999999/sessions", 404)
    admin.post(f"/admin/accounts/{ada.id}/sign-out")
    assert admin.get(path).json == []


def test_admin_ends_one_session_of_an_account(
    laptop: Api, phone: Api, ada: Person, person: MakePerson
) -> None:
    grace, root = (person(role, role=role) for role in ("admin", "root"))
    admin = grace.api()
    path = f"/admin/accounts/{ada.id}/sessions/"
    laptop.delete(path + sid(phone), 403)
    for unknown in (sid(admin), "x", "00000000-0000-0000-0000-000000000000"):
        assert admin.delete(path + unknown, 404).json["code"] == "session_not_found"
    shown = admin.get(path[:-1]).json[0]
    assert admin.delete(path + sid(phone)).json == shown
    assert [is_in(each) for each in (laptop, phone, admin)] == [True, False, True]
    assert admin.delete(path + sid(phone), 404).json["code"] == "session_not_found"
    [entry] = admin.get("/admin/events?type=session.ended").json
    assert (entry["actor_id"], entry["account_id"]) == (grace.id, ada.id)
    assert (entry["target_id"], entry["data"]) == (sid(phone), {"reason": "operator"})
    # The rules of all actions of admins.
    for other, code in ((root, "not_authorized"), (grace, "own_account")):
        refused = admin.delete(f"/admin/accounts/{other.id}/sessions/{sid(admin)}", 403)
        assert refused.json["code"] == code
    admin.delete(f"/admin/accounts/999999/sessions/{sid(laptop)}", 404)
    root.api().delete(f"/admin/accounts/{grace.id}/sessions/{sid(admin)}")
    assert not is_in(admin)


def test_unknown_proof_names_are_kept_in_amr(app: Flask, ada: Person) -> None:
    with app.app_context():
        account = service(Accounts).get(ada.email)
        sign_in_result = service(SignInPolicy).admit(
            account, by=(PASSWORD_PROOF, "a-very-long-name-" * 5, "badge")
        )
        assert isinstance(sign_in_result, SignInResult)
        token = sign_in_result.payload["access_token"]
    [session] = listed(Api(app, token=token))
    assert session["amr"] == ["pwd", "badge"]

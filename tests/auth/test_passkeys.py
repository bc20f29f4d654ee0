"""Passkeys: added by who has just signed in, and enough by themselves to sign in again."""

from __future__ import annotations

from typing import Any

import jwt
import pytest
from flask import Flask
from sqlalchemy import delete, select, update

from app.accounts.models import PENDING
from app.auth.mfa.models import Authenticator
from app.core.context import current_frontdesk
from app.testing.client import Api
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import SECRET, MakeApp, MakePerson, Person, only_on
from ..core.test_security_log import Told
from ..core.test_security_log import told as told
from ..rigs.authenticator import (
    SoftAuthenticator,
    from_base64url,
)
from ..rigs.cases import for_each
from .passkey_holder import Holder

ADA = "ada@example.com"


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__PASSKEYS="on")


@pytest.fixture
def holder(ada: Person) -> Holder:
    return Holder(ada.api())


def stored(app: Flask) -> list[Authenticator]:
    with app.app_context():
        session = current_frontdesk.session
        return list(session.scalars(select(Authenticator).order_by(Authenticator.id)))


def change_stored(app: Flask, **values: Any) -> None:
    with app.app_context():
        current_frontdesk.session.execute(update(Authenticator).values(**values))
        current_frontdesk.session.commit()


@only_on("sqlite")
def test_they_are_off_unless_they_are_switched_on(make_app: MakeApp) -> None:
    Api(make_app()).post("/login/passkey/options", 404)


def test_one_that_is_added_signs_in_without_a_name(holder: Holder, api: Api) -> None:
    added = holder.add("Laptop").json
    assert (added["kind"], added["name"], added["last_used_at"]) == ("passkey", "Laptop", None)
    answer = holder.sign_in()
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.json["account"]["email"] == ADA
    token = answer.json["access_token"]
    assert api.as_token(token).get("/account").json["email"] == ADA


def test_it_is_two_factors_and_says_so(holder: Holder, told: Told) -> None:
    holder.add()
    token = holder.sign_in().json["access_token"]
    assert jwt_claims(token)["amr"] == ["hwk", "user", "mfa"]
    assert told("sign_in")[-1]["proofs"] == ("passkey",)


def jwt_claims(token: str) -> dict[str, Any]:
    claims: dict[str, Any] = jwt.decode(token, SECRET, algorithms=["HS256"])
    return claims


def test_its_owner_is_told_and_it_is_recorded(
    holder: Holder, mails: MailOutbox, told: Told
) -> None:
    holder.add("Laptop & <phone>")
    mails.assert_sent(ADA, "a passkey was added", "Laptop & <phone>")
    told("factor_change", outcome="succeeded", change="added", kind="passkey")


def test_it_signs_in_after_a_logout(holder: Holder) -> None:
    holder.add()
    holder.api.delete("/logout")
    holder.sign_in()


def test_each_account_has_its_own(person: MakePerson) -> None:
    device = SoftAuthenticator()
    ada, grace = (Holder(person(name).api(), device) for name in ("ada", "grace"))
    ada.add()
    grace.add()
    first, second = device.kept
    assert ada.sign_in(id=first).json["account"]["email"] == ADA
    assert ada.sign_in(id=second).json["account"]["email"] == "grace@example.com"
    ada.sign_in(400, id=first, handle=device.kept[second].handle)


def test_what_a_browser_is_asked_for_names_nobody(holder: Holder) -> None:
    holder.add()
    options = holder.nobody.post("/login/passkey/options").json
    assert (options["rpId"], options["allowCredentials"]) == ("localhost", [])
    assert options["userVerification"] == "required"


def test_an_authenticator_is_asked_for_one_that_needs_no_name_and_no_second(
    holder: Holder,
) -> None:
    holder.add()
    options = holder.api.post("/authenticators/passkey/options").json
    assert options["authenticatorSelection"]["residentKey"] == "required"
    assert options["authenticatorSelection"]["userVerification"] == "required"
    assert options["attestation"] == "none"
    [excluded] = options["excludeCredentials"]
    assert from_base64url(excluded["id"]) in holder.authenticator.kept
    with pytest.raises(LookupError, match="InvalidStateError"):
        holder.make()


def test_all_of_an_account_have_one_handle_that_tells_nothing_of_it(
    holder: Holder, person: MakePerson, app: Flask
) -> None:
    holder.add()
    Holder(holder.api).add()
    Holder(person("grace").api()).add()
    first, second, others = (each.user_handle for each in stored(app))
    assert first is not None
    assert (len(first), first == second, first == others) == (64, True, False)


def test_a_second_first_one_is_refused_where_it_would_have_another_handle(
    holder: Holder,
) -> None:
    slow = holder.make()
    Holder(holder.api).add()
    body = {"name": "Slow", "credential": slow}
    refused = holder.api.post("/authenticators/passkey", 400, json=body)
    assert refused.json["code"] == "passkey_refused"


def test_there_are_ten_at_the_most(holder: Holder) -> None:
    for number in range(10):
        Holder(holder.api).add(f"Number {number}")
    assert holder.api.post("/authenticators/passkey/options", 409).json["code"] == "quota_reached"


def test_one_is_registered_once(holder: Holder, person: MakePerson) -> None:
    holder.add()
    [credential_id] = holder.authenticator.kept
    assert holder.add(status=409, id=credential_id).json["code"] == "passkey_exists"
    thief = Holder(person("grace").api())
    assert thief.add(status=409, id=credential_id).json["code"] == "passkey_exists"


@only_on("sqlite")
@for_each("name", ["", "   ", "x" * 65, 7, None, "a\x00b"])
def test_it_has_a_name_that_can_be_read(holder: Holder, name: Any) -> None:
    body = {"name": name, "credential": holder.make()}
    faults = holder.api.post("/authenticators/passkey", 422, json=body).faults
    assert faults == ["json:name"]


def test_a_sign_in_of_long_ago_adds_none(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(AUTH__PASSKEYS="on", AUTH__ACCESS_TOKEN_EXPIRE_MINUTES="60")
    holder = Holder(Api(app, token=person("ada", into=app).token()))
    clock.step(minutes=13)
    made = holder.make()
    clock.step(minutes=3)
    for path, body in (("/options", None), ("", {"name": "Late", "credential": made})):
        refused = holder.api.post(f"/authenticators/passkey{path}", 401, json=body)
        assert refused.json["code"] == "reauthentication_required"
    assert stored(app) == []


@only_on("sqlite")
def test_an_account_whose_address_is_not_proven_adds_none(
    app: Flask, person: MakePerson, clock: SteppingClock
) -> None:
    here = person("ada", email_unverified_since=clock.now()).api()
    refused = here.post("/authenticators/passkey/options", 403)
    assert refused.json["code"] == "email_not_verified"


def test_nobody_adds_one_or_is_asked_for_theirs_once_more(holder: Holder, api: Api) -> None:
    api.post("/authenticators/passkey/options", 401)
    api.post("/authenticators/passkey", 401, json={"name": "x", "credential": holder.make()})
    api.post("/reauthenticate/passkey/options", 401)


def test_an_inactive_account_stays_out(holder: Holder, ada: Person) -> None:
    holder.add()
    ada.change(status="suspended")
    assert holder.sign_in(400).json["code"] == "inactive_account"
    ada.change(status=PENDING)
    assert holder.sign_in(400).json["code"] == "email_not_verified"
    ada.change(status="active")
    holder.sign_in()


def test_one_that_is_removed_opens_nothing(holder: Holder, app: Flask, told: Told) -> None:
    holder.add()
    with app.app_context():
        current_frontdesk.session.execute(delete(Authenticator))
        current_frontdesk.session.commit()
    assert holder.sign_in(400).json["code"] == "passkey_refused"
    assert told("sign_in")[-1]["why"] == "unknown"


def test_an_account_that_is_deleted_takes_its_passkeys_along(
    make_app: MakeApp, person: MakePerson
) -> None:
    app = make_app(
        AUTH__PASSKEYS="on", AUTH__ACCOUNT_DELETION="on", AUTH__ACCOUNT_DELETION_DAYS="0"
    )
    holder = Holder(Api(app, token=person("ada", into=app).token()))
    holder.add()
    holder.api.delete("/account")
    assert stored(app) == []
    holder.sign_in(400)


@only_on("sqlite")
def test_a_host_name_of_its_own_and_more_than_one_page(
    make_app: MakeApp, person: MakePerson
) -> None:
    app = make_app(
        AUTH__PASSKEYS="on",
        AUTH__WEBAUTHN_RP_ID="example.com",
        AUTH__WEBAUTHN_ORIGINS='["https://App.example.com/", "https://example.com:8443"]',
    )
    holder = Holder(Api(app, token=person("ada", into=app).token()))
    holder.authenticator.origin = "https://app.example.com"
    holder.add()
    holder.sign_in()
    holder.sign_in(origin="https://example.com:8443")
    holder.sign_in(400, origin="https://example.com")
    assert stored(app)[0].aaguid == "00000000-0000-0000-0000-000000000000"

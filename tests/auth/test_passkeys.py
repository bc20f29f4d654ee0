"""Passkeys: added after a recent sign-in, and sufficient to sign in."""

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
from ..core.test_security_log import FindEntries
from ..core.test_security_log import find_entries as find_entries
from ..rigs.authenticator import SoftAuthenticator, from_base64url
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
def test_passkeys_are_off_by_default(make_app: MakeApp) -> None:
    Api(make_app()).post("/login/passkey/options", 404)


def test_added_passkey_signs_in_without_a_username(holder: Holder, api: Api) -> None:
    added = holder.add("Laptop").json
    assert (added["kind"], added["name"], added["last_used_at"]) == ("passkey", "Laptop", None)
    answer = holder.sign_in()
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.json["account"]["email"] == ADA
    token = answer.json["access_token"]
    assert api.as_token(token).get("/account").json["email"] == ADA


def test_passkey_sign_in_has_mfa_claims(holder: Holder, find_entries: FindEntries) -> None:
    holder.add()
    token = holder.sign_in().json["access_token"]
    assert jwt_claims(token)["amr"] == ["hwk", "user", "mfa"]
    assert find_entries("sign_in")[-1]["proofs"] == ("passkey",)


def jwt_claims(token: str) -> dict[str, Any]:
    # A token that follows a change is dated ahead, beyond the clock difference of two machines.
    claims: dict[str, Any] = jwt.decode(token, SECRET, algorithms=["HS256"], leeway=4)
    return claims


def test_owner_is_notified_and_the_change_is_logged(
    holder: Holder, mails: MailOutbox, find_entries: FindEntries
) -> None:
    holder.add("Laptop & <phone>")
    mails.assert_sent(ADA, "a passkey was added", "Laptop & <phone>")
    find_entries("factor_change", outcome="succeeded", change="added", kind="passkey")


def test_passkey_signs_in_after_logout(holder: Holder) -> None:
    holder.add()
    holder.api.delete("/logout")
    holder.sign_in()


def test_each_account_has_its_own_passkeys(person: MakePerson) -> None:
    device = SoftAuthenticator()
    ada, grace = (Holder(person(name).api(), device) for name in ("ada", "grace"))
    ada.add()
    grace.add()
    first, second = device.credentials
    assert ada.sign_in(id=first).json["account"]["email"] == ADA
    assert ada.sign_in(id=second).json["account"]["email"] == "grace@example.com"
    ada.sign_in(400, id=first, handle=device.credentials[second].handle)


def test_sign_in_options_name_no_account(holder: Holder) -> None:
    holder.add()
    options = holder.anonymous.post("/login/passkey/options").json
    assert (options["rpId"], options["allowCredentials"]) == ("localhost", [])
    assert options["userVerification"] == "required"


def test_enrollment_options_require_a_new_discoverable_credential(holder: Holder) -> None:
    holder.add()
    options = holder.api.post("/authenticators/passkey/options").json
    assert options["authenticatorSelection"]["residentKey"] == "required"
    assert options["authenticatorSelection"]["userVerification"] == "required"
    assert options["attestation"] == "none"
    [excluded] = options["excludeCredentials"]
    assert from_base64url(excluded["id"]) in holder.authenticator.credentials
    with pytest.raises(LookupError, match="InvalidStateError"):
        holder.make()


def test_passkeys_of_an_account_share_a_random_user_handle(
    holder: Holder, person: MakePerson, app: Flask
) -> None:
    holder.add()
    Holder(holder.api).add()
    Holder(person("grace").api()).add()
    first, second, others = (each.user_handle for each in stored(app))
    assert first is not None
    assert (len(first), first == second, first == others) == (64, True, False)


def test_concurrent_first_passkey_with_another_user_handle_is_rejected(holder: Holder) -> None:
    slow = holder.make()
    Holder(holder.api).add()
    body = {"name": "Slow", "credential": slow}
    refused = holder.api.post("/authenticators/passkey", 400, json=body)
    assert refused.json["code"] == "passkey_refused"


def test_account_has_at_most_ten_passkeys(holder: Holder) -> None:
    for number in range(10):
        Holder(holder.api).add(f"Number {number}")
    assert holder.api.post("/authenticators/passkey/options", 409).json["code"] == "quota_reached"


def test_passkey_is_registered_once(holder: Holder, person: MakePerson) -> None:
    holder.add()
    [credential_id] = holder.authenticator.credentials
    assert holder.add(status=409, id=credential_id).json["code"] == "passkey_exists"
    attacker = Holder(person("grace").api())
    assert attacker.add(status=409, id=credential_id).json["code"] == "passkey_exists"


@only_on("sqlite")
@for_each("name", ["", "   ", "x" * 65, 7, None, "a\x00b"])
def test_name_is_validated(holder: Holder, name: Any) -> None:
    body = {"name": name, "credential": holder.make()}
    faults = holder.api.post("/authenticators/passkey", 422, json=body).faults
    assert faults == ["json:name"]


def test_adding_a_passkey_requires_a_recent_sign_in(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(AUTH__PASSKEYS="on", AUTH__ACCESS_TOKEN_EXPIRE_MINUTES="60")
    holder = Holder(Api(app, token=person("ada", into=app).token()))
    clock.step(minutes=13)
    credential = holder.make()
    clock.step(minutes=3)
    for path, body in (("/options", None), ("", {"name": "Late", "credential": credential})):
        refused = holder.api.post(f"/authenticators/passkey{path}", 401, json=body)
        assert refused.json["code"] == "reauthentication_required"
    assert stored(app) == []


@only_on("sqlite")
def test_unverified_account_cannot_add_a_passkey(
    app: Flask, person: MakePerson, clock: SteppingClock
) -> None:
    here = person("ada", email_unverified_since=clock.now()).api()
    refused = here.post("/authenticators/passkey/options", 403)
    assert refused.json["code"] == "email_not_verified"


def test_unauthenticated_requests_are_rejected(holder: Holder, api: Api) -> None:
    api.post("/authenticators/passkey/options", 401)
    api.post("/authenticators/passkey", 401, json={"name": "x", "credential": holder.make()})
    api.post("/reauthenticate/passkey/options", 401)


def test_inactive_account_cannot_sign_in(holder: Holder, ada: Person) -> None:
    holder.add()
    ada.change(status="suspended")
    assert holder.sign_in(400).json["code"] == "inactive_account"
    ada.change(status=PENDING)
    assert holder.sign_in(400).json["code"] == "email_not_verified"
    ada.change(status="active")
    holder.sign_in()


def test_removed_passkey_is_rejected(holder: Holder, app: Flask, find_entries: FindEntries) -> None:
    holder.add()
    with app.app_context():
        current_frontdesk.session.execute(delete(Authenticator))
        current_frontdesk.session.commit()
    assert holder.sign_in(400).json["code"] == "passkey_refused"
    assert find_entries("sign_in")[-1]["why"] == "unknown"


def test_deleting_the_account_deletes_its_passkeys(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(
        AUTH__PASSKEYS="on", AUTH__ACCOUNT_DELETION="on", AUTH__ACCOUNT_DELETION_DAYS="0"
    )
    holder = Holder(Api(app, token=person("ada", into=app).token()))
    holder.add()
    holder.api.delete("/account")
    assert stored(app) == []
    holder.sign_in(400)


@only_on("sqlite")
def test_custom_rp_id_and_origins(make_app: MakeApp, person: MakePerson) -> None:
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

"""Passkeys: added by who has just signed in, and enough by themselves to sign in again."""

from __future__ import annotations

from typing import Any

import cbor2
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

from ..conftest import PASSWORD, SECRET, MakeApp, MakePerson, Person, only_on
from ..core.test_security_log import Told
from ..core.test_security_log import told as told
from ..rigs.authenticator import (
    BACKED_UP,
    CAN_BE_BACKED_UP,
    HAS_CREDENTIAL,
    PRESENT,
    VERIFIED,
    SoftAuthenticator,
    base64url,
    from_base64url,
)
from .passkey_holder import Holder
from .test_login import log_in

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
@pytest.mark.parametrize("name", ["", "   ", "x" * 65, 7, None, "a\x00b"])
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


LIES: dict[str, tuple[dict[str, Any], str]] = {
    "another site's page": ({"origin": "https://evil.example"}, "not_verified"),
    "a page that only begins like ours": (
        {"origin": "http://localhost:3000.evil.example"},
        "not_verified",
    ),
    "an origin that is no text": ({"origin": ["http://localhost:3000"]}, "not_verified"),
    "a passkey for another site": ({"rp_id": "evil.example"}, "not_verified"),
    "nobody verified": ({"flags": PRESENT}, "not_verified"),
    "nobody present": ({"flags": VERIFIED}, "not_verified"),
    "backed up, and yet it cannot be": ({"flags": PRESENT | VERIFIED | BACKED_UP}, "not_verified"),
    "the other ceremony": ({"type": "webauthn.other"}, "another_ceremony"),
    "in a frame of another's page": ({"more": {"crossOrigin": True}}, "in_a_frame"),
    "under another's page": ({"more": {"topOrigin": "https://evil.example"}}, "in_a_frame"),
    "a challenge that is not ours": ({"challenge": base64url(bytes(56))}, "challenge_unknown"),
    "a short challenge": ({"challenge": "AAAA"}, "challenge_unknown"),
    "no challenge": ({"challenge": None}, "challenge_unknown"),
    "told in no JSON": ({"told": b"{"}, "client_data_malformed"),
    "told in a list": ({"told": b"[]"}, "client_data_malformed"),
    "told in a nest": ({"told": b"[" * 4000}, "client_data_malformed"),
    "told in UTF-16": (
        {"told": '{"type": "webauthn.get"}'.encode("utf-16")},
        "client_data_malformed",
    ),
}


@only_on("sqlite")
@pytest.mark.parametrize(("lies", "why"), LIES.values(), ids=LIES)
def test_what_is_not_as_it_should_be_signs_nobody_in(
    holder: Holder, lies: dict[str, Any], why: str, told: Told
) -> None:
    holder.add()
    refused = holder.sign_in(400, **lies)
    assert (refused.json["code"], refused.detail) == (
        "passkey_refused",
        "The passkey was refused",
    )
    assert told("sign_in")[-1]["why"] == why


@only_on("sqlite")
@pytest.mark.parametrize(("lies", "why"), LIES.values(), ids=LIES)
def test_what_is_not_as_it_should_be_is_not_added(
    holder: Holder, app: Flask, lies: dict[str, Any], why: str, told: Told
) -> None:
    if "flags" in lies:
        lies = {"flags": lies["flags"] | HAS_CREDENTIAL}
    assert holder.add(status=400, **lies).json["code"] == "passkey_refused"
    assert told("factor_change")[-1]["why"] == why
    assert stored(app) == []


@only_on("sqlite")
def test_the_log_says_what_the_library_found(holder: Holder, told: Told) -> None:
    holder.add()
    holder.sign_in(400, rp_id="evil.example")
    holder.sign_in(400, origin='http://evil.example" and its words')
    rp, origin = (line["error"] for line in told("sign_in") if line["outcome"] == "refused")
    assert (rp, origin) == ("Unexpected RP ID hash", "Unexpected client data origin")


@only_on("sqlite")
def test_another_keys_signature_is_refused(holder: Holder) -> None:
    holder.add()
    [credential_id] = holder.authenticator.kept
    holder.add(id=credential_id, status=409)
    holder.sign_in(400)


@only_on("sqlite")
@pytest.mark.parametrize(
    "cose",
    [
        cbor2.dumps({1: 2, 3: -7, -1: 1, -2: bytes(32), -3: bytes(32)}, canonical=True),
        cbor2.dumps({1: 2, 3: -36, -1: 1, -2: b"x" * 32, -3: b"y" * 32}, canonical=True),
        cbor2.dumps({1: 1, 3: -8, -1: 6, -2: b"short"}, canonical=True),
        cbor2.dumps({1: 3, 3: -257, -1: b"\x01", -2: b"\x01"}, canonical=True),
        cbor2.dumps({1: 9, 3: -7}, canonical=True),
        cbor2.dumps({1: [2], 3: -7}, canonical=True),
        cbor2.dumps({}),
        cbor2.dumps([1]),
        cbor2.dumps(5),
    ],
    ids=["no point", "alg", "short", "rsa", "kind", "nested", "empty", "list", "number"],
)
def test_a_key_that_is_none_is_not_added(holder: Holder, app: Flask, cose: bytes) -> None:
    holder.add(status=400, cose=cose)
    assert stored(app) == []


@only_on("sqlite")
def test_what_an_authenticator_says_of_its_kind_is_passed_over(holder: Holder) -> None:
    """As a browser leaves it out; some do not, and what nobody asked for is no reason to refuse."""
    holder.add(statement={"fmt": "packed", "attStmt": {"alg": -7, "sig": b"", "x5c": [b"no"]}})
    holder.sign_in()


@only_on("sqlite")
def test_the_ways_to_an_authenticator_are_kept_as_far_as_they_are_known(
    holder: Holder, app: Flask
) -> None:
    holder.add(transports=["usb", "telepathy", "nfc", "usb"])
    assert stored(app)[0].transports == ["nfc", "usb"]
    options = holder.api.post("/reauthenticate/passkey/options").json
    assert options["allowCredentials"][0]["transports"] == ["nfc", "usb"]


def test_a_challenge_is_good_for_five_minutes(
    holder: Holder, clock: SteppingClock, told: Told
) -> None:
    holder.add()
    slow, late = holder.show(), holder.show()
    clock.step(minutes=4, seconds=58)
    holder.send(slow)
    clock.step(seconds=3)
    holder.send(late, 400)
    assert told("sign_in")[-1]["why"] == "challenge_expired"


def test_a_challenge_is_good_once(holder: Holder, told: Told) -> None:
    holder.add()
    shown = holder.show()
    holder.send(shown)
    holder.send(shown, 400)
    assert told("sign_in")[-1]["why"] == "challenge_used"
    made = Holder(holder.api).make()
    body = {"name": "Second", "credential": made}
    holder.api.post("/authenticators/passkey", 201, json=body)
    holder.api.post("/authenticators/passkey", 400, json=body)


@only_on("sqlite")
def test_a_challenge_of_one_purpose_serves_no_other(holder: Holder, person: MakePerson) -> None:
    holder.add()
    once_more = holder.api.post("/reauthenticate/passkey/options").json
    holder.send(holder.authenticator.get(once_more), 400)
    new = Holder(holder.api)
    other = Holder(person("grace").api())
    for options in (other.api.post("/authenticators/passkey/options").json, None):
        challenge = (options or holder.nobody.post("/login/passkey/options").json)["challenge"]
        new.add(status=400, challenge=challenge)


@only_on("sqlite")
def test_a_challenge_made_with_the_former_secret_key_is_still_known(
    make_app: MakeApp, person: MakePerson
) -> None:
    before = make_app(AUTH__PASSKEYS="on")
    holder = Holder(Api(before, token=person("ada", into=before).token()))
    made = holder.make()
    after = make_app(
        AUTH__PASSKEYS="on",
        SECRET_KEY="another secret key, just as long as the one that came before it",
        CORE__SECRET_KEY_FALLBACKS=f'["{SECRET}"]',
    )
    api = Api(after)
    token = log_in(api, ADA, PASSWORD).json["access_token"]
    body = {"name": "Laptop", "credential": made}
    api.as_token(token).post("/authenticators/passkey", 201, json=body)
    Holder(api, holder.authenticator).sign_in()


def test_a_count_that_goes_up_is_kept_and_one_that_goes_back_is_a_copys(
    holder: Holder, app: Flask, mails: MailOutbox, told: Told
) -> None:
    holder.authenticator.count = 7
    holder.add("Key ring")
    holder.sign_in()
    assert stored(app)[0].sign_count == 9
    mails.clear()
    for count in (9, 3, 0):
        holder.sign_in(400, count=count)
    assert told("sign_in")[-1]["why"] == "count_went_back"
    mails.assert_sent(ADA, "a passkey was refused", "Key ring")
    assert len(mails) == 1
    assert len(told("passkey_suspicion")) == 3
    assert stored(app)[0].sign_count == 9
    holder.sign_in(count=4_294_967_295)


def test_what_is_not_signed_rightly_alarms_nobody(holder: Holder, mails: MailOutbox) -> None:
    holder.authenticator.count = 7
    holder.add()
    mails.clear()
    shown = holder.show(count=1)
    shown["response"]["signature"] = base64url(b"\x30\x06\x02\x01\x01\x02\x01\x01")
    holder.send(shown, 400)
    holder.send(holder.show(count=1, origin="https://evil.example"), 400)
    mails.assert_empty()


def test_whether_its_keeper_has_a_copy_is_known_as_of_its_last_use(
    holder: Holder, app: Flask, clock: SteppingClock
) -> None:
    holder.add(flags=PRESENT | VERIFIED | CAN_BE_BACKED_UP | HAS_CREDENTIAL)
    assert stored(app)[0].backed_up is False
    clock.step(minutes=1)
    before = clock.now()
    holder.sign_in(flags=PRESENT | VERIFIED | CAN_BE_BACKED_UP | BACKED_UP)
    [passkey] = stored(app)
    assert passkey.backed_up is True
    assert passkey.last_used_at is not None
    assert before <= passkey.last_used_at <= clock.now()


@only_on("sqlite")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", None),
        ("id", "a=="),
        ("id", "AAB"),
        ("id", "a b"),
        ("id", "ä" * 8),
        ("id", "A" * 1368),
        ("type", "private-key"),
        ("response", []),
        ("response.clientDataJSON", 5),
        ("response.clientDataJSON", "A" * 5464),
        ("response.authenticatorData", "A" * 5464),
        ("response.signature", ""),
        ("response.signature", "A" * 1368),
        ("response.userHandle", "A" * 88),
    ],
)
def test_what_is_no_credential_at_all_is_invalid(holder: Holder, field: str, value: Any) -> None:
    holder.add()
    shown = holder.show()
    inner, _, last = field.rpartition(".")
    (shown[inner] if inner else shown)[last] = value
    assert holder.send(shown, 422).faults == [f"json:credential.{field}"]


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

"""Passkeys that are not as they should be: none is added, and nobody is signed in by one."""

from __future__ import annotations

from typing import Any

import cbor2
import pytest
from flask import Flask

from ..conftest import MakeApp, Person, only_on
from ..core.test_security_log import Told
from ..core.test_security_log import told as told
from ..rigs.authenticator import (
    BACKED_UP,
    HAS_CREDENTIAL,
    PRESENT,
    VERIFIED,
    base64url,
)
from .passkey_holder import Holder
from .test_passkeys import stored


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__PASSKEYS="on")


@pytest.fixture
def holder(ada: Person) -> Holder:
    return Holder(ada.api())


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

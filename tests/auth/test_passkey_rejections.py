"""Invalid passkeys: enrollment and sign-in are rejected."""

from __future__ import annotations

from typing import Any

import cbor2
import pytest
from flask import Flask

from ..conftest import MakeApp, Person, only_on
from ..core.test_security_log import FindEntries
from ..core.test_security_log import find_entries as find_entries
from ..rigs.authenticator import BACKED_UP, HAS_CREDENTIAL, PRESENT, VERIFIED, base64url
from .passkey_holder import Holder
from .test_passkeys import stored


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__PASSKEYS="on")


@pytest.fixture
def holder(ada: Person) -> Holder:
    return Holder(ada.api())


FORGED: dict[str, tuple[dict[str, Any], str]] = {
    "another origin": ({"origin": "https://evil.example"}, "not_verified"),
    "an origin with the same prefix": (
        {"origin": "http://localhost:3000.evil.example"},
        "not_verified",
    ),
    "an origin that is not a string": ({"origin": ["http://localhost:3000"]}, "not_verified"),
    "a passkey for another site": ({"rp_id": "evil.example"}, "not_verified"),
    "user not verified": ({"flags": PRESENT}, "not_verified"),
    "user not present": ({"flags": VERIFIED}, "not_verified"),
    "backed up although not eligible": ({"flags": PRESENT | VERIFIED | BACKED_UP}, "not_verified"),
    "the other ceremony": ({"type": "webauthn.other"}, "another_ceremony"),
    "in a cross-origin frame": ({"more": {"crossOrigin": True}}, "in_a_frame"),
    "under another top origin": ({"more": {"topOrigin": "https://evil.example"}}, "in_a_frame"),
    "an unknown challenge": ({"challenge": base64url(bytes(56))}, "challenge_unknown"),
    "a short challenge": ({"challenge": "AAAA"}, "challenge_unknown"),
    "no challenge": ({"challenge": None}, "challenge_unknown"),
    "client data is not JSON": ({"client_data": b"{"}, "client_data_malformed"),
    "client data is a list": ({"client_data": b"[]"}, "client_data_malformed"),
    "client data is deeply nested": ({"client_data": b"[" * 4000}, "client_data_malformed"),
    "client data in UTF-16": (
        {"client_data": '{"type": "webauthn.get"}'.encode("utf-16")},
        "client_data_malformed",
    ),
}


@only_on("sqlite")
@pytest.mark.parametrize(("forged", "why"), FORGED.values(), ids=FORGED)
def test_invalid_assertion_is_rejected(
    holder: Holder, forged: dict[str, Any], why: str, find_entries: FindEntries
) -> None:
    holder.add()
    refused = holder.sign_in(400, **forged)
    assert (refused.json["code"], refused.detail) == ("passkey_refused", "The passkey was rejected")
    assert find_entries("sign_in")[-1]["why"] == why


@only_on("sqlite")
@pytest.mark.parametrize(("forged", "why"), FORGED.values(), ids=FORGED)
def test_invalid_attestation_is_rejected(
    holder: Holder, app: Flask, forged: dict[str, Any], why: str, find_entries: FindEntries
) -> None:
    if "flags" in forged:
        forged = {"flags": forged["flags"] | HAS_CREDENTIAL}
    assert holder.add(status=400, **forged).json["code"] == "passkey_refused"
    assert find_entries("factor_change")[-1]["why"] == why
    assert stored(app) == []


@only_on("sqlite")
def test_log_has_the_librarys_error(holder: Holder, find_entries: FindEntries) -> None:
    holder.add()
    holder.sign_in(400, rp_id="evil.example")
    holder.sign_in(400, origin='http://evil.example" and its words')
    rp, origin = (line["error"] for line in find_entries("sign_in") if line["outcome"] == "refused")
    assert (rp, origin) == ("Unexpected RP ID hash", "Unexpected client data origin")


@only_on("sqlite")
def test_signature_of_another_key_is_rejected(holder: Holder) -> None:
    holder.add()
    [credential_id] = holder.authenticator.credentials
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
def test_invalid_public_key_is_rejected(holder: Holder, app: Flask, cose: bytes) -> None:
    holder.add(status=400, cose=cose)
    assert stored(app) == []


@only_on("sqlite")
def test_attestation_statement_is_ignored(holder: Holder) -> None:
    """Browsers usually remove the statement; some send it although it was not requested."""
    holder.add(statement={"fmt": "packed", "attStmt": {"alg": -7, "sig": b"", "x5c": [b"no"]}})
    holder.sign_in()


@only_on("sqlite")
def test_known_transports_are_stored(holder: Holder, app: Flask) -> None:
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
def test_malformed_credential_is_invalid(holder: Holder, field: str, value: Any) -> None:
    holder.add()
    assertion = holder.show()
    parent, _, key = field.rpartition(".")
    (assertion[parent] if parent else assertion)[key] = value
    assert holder.send(assertion, 422).faults == [f"json:credential.{field}"]

"""Fuzzing: ten thousand malformed passkey bodies are all rejected, and none causes an error."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import cbor2
import pytest
from flask import Flask

from app.testing.client import Api

from ..conftest import MakeApp, MakePerson, only_on
from ..core.test_security_log import FindEntries
from ..core.test_security_log import find_entries as find_entries
from ..rigs.authenticator import (
    HAS_CREDENTIAL,
    HAS_EXTENSIONS,
    PRESENT,
    VERIFIED,
    SoftAuthenticator,
    base64url,
    from_base64url,
)
from ..rigs.hostile_cbor import COMPILED, HOSTILE_CBOR
from ..rigs.sending import send
from .passkey_holder import Holder

pytestmark = only_on("sqlite")

BODIES = 10_000
Body = dict[str, Any]

MALFORMED_VALUES: list[Any] = [
    None, True, 0, -1, 2**63, 10**400, 1.5, [], {}, [[]], [None] * 50, {"a": {"b": []}}, "", " ",
    "=", "====", "A", "AA==", "\x00", "ä", "🔑" * 40, "\u2028", "A" * 100_000, "public-key",
    "A\nA", "-_-_", "+/+/", "null", "' OR 1=1 --",
]  # fmt: skip


class Bodies:
    """Generates malformed bodies from a valid one."""

    def __init__(self, api: Api, seed: int) -> None:
        self.holder = Holder(api)
        self.random = random.Random(seed)
        self.valid: Body = {}

    def any_of(self, generators: list[Callable[[], Body]]) -> Body:
        """Return a body from a random generator, but never the valid body."""
        while (body := self.random.choice(generators)()) == self.valid:
            continue
        return body

    def with_replaced_value(self) -> Body:
        """Replace one value with a malformed one, or remove it."""
        body = deepcopy(self.valid)
        parent, name = self.random.choice(list(_members(body)))
        if self.random.random() < 0.2:
            del parent[name]
        else:
            parent[name] = deepcopy(self.random.choice(MALFORMED_VALUES))
        return body

    def with_flipped_bit(self) -> Body:
        return self._with_bytes(self._flip)

    def truncated(self) -> Body:
        return self._with_bytes(lambda data: data[: self.random.randrange(len(data))])

    def extended(self) -> Body:
        return self._with_bytes(lambda data: data + self.random.randbytes(9))

    def with_random_bytes(self) -> Body:
        return self._with_bytes(lambda data: self.random.randbytes(self.random.randrange(1, 400)))

    def hostile_cbor(self) -> bytes:
        return self.random.choice(HOSTILE_CBOR)

    def _flip(self, data: bytes) -> bytes:
        position = self.random.randrange(len(data))
        return (
            data[:position]
            + bytes([data[position] ^ 1 << self.random.randrange(8)])
            + data[position + 1 :]
        )

    def _with_bytes(self, change: Callable[[bytes], bytes]) -> Body:
        body = deepcopy(self.valid)
        members = [
            (parent, name)
            for parent, name in _members(body)
            if name in ("id", "clientDataJSON", "attestationObject", "authenticatorData")
            or name in ("signature", "userHandle")
        ]
        parent, name = self.random.choice(members)
        parent[name] = base64url(change(from_base64url(parent[name])))
        return body


def _members(value: Body) -> Iterator[tuple[Body, str]]:
    for name, parent in value.items():
        # These members do not affect the result.
        if name not in (
            "name",
            "rawId",
            "authenticatorAttachment",
            "clientExtensionResults",
            "transports",
        ):
            yield value, name
            if isinstance(parent, dict):
                yield from _members(parent)


class SignIns(Bodies):
    path = "/login/passkey"

    def __init__(self, api: Api, seed: int) -> None:
        super().__init__(api, seed)
        self.holder.add()
        self.options = self.holder.anonymous.post("/login/passkey/options").json
        self.valid = {"credential": self.holder.authenticator.get(self.options)}

    def forged(self) -> Body:
        lie: Body = self.random.choice(
            [
                {"rp_id": "evil.example"},
                {"origin": "https://evil.example"},
                {"flags": PRESENT},
                {"flags": VERIFIED},
                {"type": "webauthn.create"},
                {"handle": self.random.randbytes(64)},
                {"challenge": base64url(self.random.randbytes(56))},
                {"challenge": 7},
                {"more": {"crossOrigin": True}},
                {"more": {"tokenBinding": {"status": [{}]}}, "flags": PRESENT},
                {"client_data": self.random.randbytes(99)},
                {"client_data": b'{"type":' * 500},
                {"flags": PRESENT | VERIFIED | HAS_EXTENSIONS, "data": self.hostile_cbor()},
                {"flags": PRESENT | VERIFIED | HAS_CREDENTIAL, "data": self.hostile_cbor()},
                {"flags": 0xFF, "data": bytes(18) + self.hostile_cbor()},
                {"data": b"trailing"},
            ]
        )
        return {"credential": self.holder.authenticator.get(self.options, **lie)}

    def next(self) -> Body:
        return self.any_of(
            [
                self.with_replaced_value,
                self.with_flipped_bit,
                self.truncated,
                self.extended,
                self.with_random_bytes,
                self.forged,
                self.forged,
            ]
        )


class Additions(Bodies):
    path = "/authenticators/passkey"

    def __init__(self, api: Api, seed: int) -> None:
        super().__init__(api, seed)
        self.options = api.post("/authenticators/passkey/options").json
        self.valid = self._body()

    def _body(self, **forged: Any) -> Body:
        credential = SoftAuthenticator().create(self.options, **forged)
        return {"name": "Laptop", "credential": credential}

    def forged(self) -> Body:
        lie: Body = self.random.choice(
            [
                {"rp_id": "evil.example"},
                {"origin": "https://evil.example"},
                {"flags": PRESENT | HAS_CREDENTIAL},
                {"flags": PRESENT | VERIFIED},
                {"flags": 0xFF, "cose": self.hostile_cbor()},
                {"flags": 0xC5, "data": bytes(16) + b"\xff\xff" + self.hostile_cbor()},
                {"flags": 0x85, "data": self.hostile_cbor()},
                {"type": "webauthn.get"},
                {"cose": self.hostile_cbor() or b"\x00"},
                {"cose": cbor2.dumps({1: 3, 3: -257, -1: b"\xff" * 3000, -2: b"\xff" * 3000})},
                {"cose": cbor2.dumps({1: 2, 3: -7, -1: 1, -2: b"\xff" * 32, -3: b"\xff" * 32})},
                {"attestation": self.hostile_cbor() or b"\x00"},
                {"attestation": cbor2.dumps({"fmt": "none", "authData": [1] * 40})},
                {"statement": {"authData": self.hostile_cbor()}},
                {"client_data": self.random.randbytes(99)},
                {"challenge": base64url(self.random.randbytes(56))},
            ]
        )
        return self._body(**lie)

    def next(self) -> Body:
        return self.any_of(
            [
                self.with_replaced_value,
                self.truncated,
                self.with_random_bytes,
                self.forged,
                self.forged,
            ]
        )


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    # In debug or testing mode, a server error would raise or return a traceback.
    app = make_app(AUTH__PASSKEYS="on")
    app.testing = False
    return app


def send_malformed(app: Flask, bodies: SignIns | Additions, token: str | None) -> Counter[int]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    statuses: Counter[int] = Counter()
    for _ in range(BODIES // 2):
        body = bodies.next()
        answer = send(app, f"/api/v1{bodies.path}", method="POST", json=body, headers=headers)
        statuses[answer.status_code] += 1
        assert answer.status_code in (400, 422), (answer.status_code, json.dumps(body)[:2000])
    return statuses


def test_malformed_sign_ins_are_rejected(app: Flask, person: MakePerson) -> None:
    bodies = SignIns(person("ada").api(), seed=17)
    statuses = send_malformed(app, bodies, None)
    assert min(statuses[400], statuses[422]) > BODIES // 20
    # The valid assertion still signs in afterwards.
    bodies.holder.anonymous.post(bodies.path, json=bodies.valid)


def test_malformed_passkeys_are_rejected(app: Flask, person: MakePerson) -> None:
    api = person("ada").api()
    bodies = Additions(api, seed=18)
    statuses = send_malformed(app, bodies, api.token)
    assert min(statuses[400], statuses[422]) > BODIES // 20
    api.post(bodies.path, 201, json=bodies.valid)


def test_expensive_regular_expression_is_not_compiled(
    app: Flask, person: MakePerson, find_entries: FindEntries
) -> None:
    holder = Holder(person("ada").api())
    holder.add()
    flags = PRESENT | VERIFIED | HAS_EXTENSIONS
    holder.sign_in(400, flags=flags, data=COMPILED)
    assert find_entries("sign_in")[-1]["why"] == "authenticator_data_malformed"
    Holder(holder.api).add(status=400, attestation=COMPILED)
    assert find_entries("factor_change")[-1]["why"] == "attestation_malformed"

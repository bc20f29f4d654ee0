from __future__ import annotations

import base64
import json
import time
from typing import Any

import jwt
import pytest

from app.testing.client import Api
from app.testing.clock import SteppingClock

from ..conftest import SECRET, MakeApp, MakePerson, Person
from ..rigs.cases import for_each

REFUSED = "Could not validate credentials"


def signed(secret: str = SECRET, header: dict[str, Any] | None = None, **claims: Any) -> str:
    payload = {"sub": "ada@example.com", "exp": int(time.time()) + 60, **claims}
    payload = {name: value for name, value in payload.items() if value is not ...}
    return jwt.encode(payload, secret, "HS256", headers=header)


def unsigned(**claims: Any) -> str:
    parts = [{"alg": "none", "typ": "JWT"}, {"sub": "ada@example.com", "exp": 2**40, **claims}]
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts]
    return b".".join([*encoded, b""]).decode()


def test_token_with_sub_and_exp_is_accepted(api: Api, ada: Person) -> None:
    assert api.as_token(signed()).get("/account").json["email"] == ada.email


def test_sub_is_case_insensitive(api: Api, ada: Person) -> None:
    api.as_token(signed(sub="ADA@example.com")).get("/account")


def test_role_claim_is_ignored(api: Api, ada: Person) -> None:
    assert api.as_token(signed(role="root")).get("/account").json["role"] == "user"


@for_each(
    "token",
    [
        signed("another secret, also long enough for HS256"),
        signed(exp=...),
        signed(sub=...),
        signed(sub=7),
        signed(exp=int(time.time()) - 1),
        signed(exp="9999999999"),
        signed(exp=True),
        signed(exp=None),
        signed(exp=float("inf")),
        signed(exp=float("nan")),
        signed(exp=10**400),
        signed(nbf=int(time.time()) + 60),
        signed(iat=int(time.time()) + 60),
        signed(iat="now"),
        signed(iat=time.time() - 3600),
        signed(type="refresh"),
        signed(type="reset"),
        signed(aud="another-service"),
        signed(aud=["another-service", "third"]),
        signed(aud=7),
        signed(header={"kid": "1"}),
        signed(header={"jwk": {"kty": "oct", "k": "eA"}}),
        signed(header={"jku": "http://127.0.0.1/keys"}),
        signed(header={"crit": ["exp"], "exp": 1}),
        signed(header={"typ": "refresh+jwt"}),
        jwt.encode({"sub": "ada@example.com", "exp": 2**40}, SECRET, "HS384"),
        jwt.encode({"sub": "ada@example.com", "exp": 2**40}, SECRET, "HS512"),
        unsigned(),
        "a.b.c",
        "...",
        "x" * 5000,
    ],
)
def test_invalid_token_is_rejected(api: Api, ada: Person, token: str) -> None:
    answer = api.as_token(token).get("/account", 401)
    assert answer.detail == REFUSED
    assert answer.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'


@for_each(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic YTpi",
        "Token {0}",
        "{0}",
        "Bearer {0} x",
        "Bearer {0},Bearer {0}",
    ],
)
def test_malformed_header_is_rejected(api: Api, ada: Person, header: str) -> None:
    sent = {"Authorization": header.format(signed())}
    assert api.get("/account", 401, headers=sent).detail == REFUSED


def test_token_is_only_read_from_the_header(api: Api, ada: Person) -> None:
    assert api.get("/account", 401).detail == REFUSED
    api.get(f"/account?access_token={signed()}&jwt={signed()}", 401)
    api.client.set_cookie("access_token_cookie", signed())
    api.get("/account", 401)


@for_each("scheme", ["bearer", "BEARER", "bEaReR"])
def test_scheme_is_case_insensitive(api: Api, ada: Person, scheme: str) -> None:
    api.get("/account", headers={"Authorization": f"{scheme} {signed()}"})


def test_token_of_a_missing_account_is_a_404(api: Api) -> None:
    assert api.as_token(signed()).get("/account", 404).detail == "Account not found"


@for_each("sub", ["", "ada\0@example.com", "\ud800@example.com", "x" * 5000])
def test_impossible_sub_is_a_404(api: Api, ada: Person, sub: str) -> None:
    assert api.as_token(signed(sub=sub)).get("/account", 404).detail == "Account not found"


def test_change_of_email_revokes_tokens(api: Api, ada: Person) -> None:
    before = ada.api()
    ada.change(email="countess@example.com")
    assert before.get("/account", 404).detail == "Account not found"


def test_reused_email_does_not_restore_tokens(api: Api, ada: Person, person: Any) -> None:
    before = ada.api()
    ada.change(email="countess@example.com")
    person("ada")
    assert before.get("/account", 401).detail == REFUSED


def test_password_change_revokes_tokens(ada: Person) -> None:
    before = ada.api()
    ada.change(password="quite another one")
    assert before.get("/account", 401).detail == REFUSED
    assert before.as_token(signed()).get("/account", 401).detail == REFUSED
    ada.password = "quite another one"
    ada.api().get("/account")


def test_token_survives_a_secret_key_rotation(make_app: MakeApp, api: Api, ada: Person) -> None:
    before = ada.token()
    rotated = make_app(SECRET_KEY="b" * 40, CORE__SECRET_KEY_FALLBACKS=json.dumps([SECRET]))
    Api(rotated, token=before).get("/account")
    Api(make_app(SECRET_KEY="b" * 40), token=before).get("/account", 401)
    assert jwt.decode(Person(rotated, ada.id, ada.email).token(), "b" * 40, algorithms=["HS256"])


def test_expired_token_is_rejected(ada: Person, clock: SteppingClock) -> None:
    api = ada.api()
    clock.step(minutes=31)
    assert api.get("/account", 401).detail == REFUSED
    ada.api().get("/account")


SETTINGS = {"AUTH__AUDIENCE": "desk.example", "AUTH__ISSUER": "https://desk.example"}
EXPECTED: dict[str, Any] = {"aud": "desk.example", "iss": "https://desk.example"}


def test_audience_and_issuer_are_set_and_accepted(make_app: MakeApp, person: MakePerson) -> None:
    app = make_app(**SETTINGS)
    token = person("ada", into=app).token()
    claims = jwt.decode(token, options={"verify_signature": False})
    assert {name: claims[name] for name in EXPECTED} == EXPECTED
    Api(app, token=token).get("/account")
    Api(app, token=signed(**EXPECTED)).get("/account")
    Api(app, token=signed(**EXPECTED | {"aud": ["other", "desk.example"]})).get("/account")


def test_audience_and_issuer_are_absent_by_default(ada: Person) -> None:
    claims = jwt.decode(ada.token(), options={"verify_signature": False})
    assert claims.keys() & EXPECTED.keys() == set()


@pytest.fixture
def api_with_audience(make_app: MakeApp, person: MakePerson) -> Api:
    """Return a client of an application with audience and issuer set, and Ada's account."""
    app = make_app(**SETTINGS)
    person("ada", into=app)
    return Api(app)


def sign_unchecked(**claims: Any) -> str:
    """Sign arbitrary claims: PyJWT's `encode` rejects some of them."""
    payload = {"sub": "ada@example.com", "exp": int(time.time()) + 60, **claims}
    encoded = json.dumps({name: value for name, value in payload.items() if value is not ...})
    return jwt.api_jws.encode(encoded.encode(), SECRET, "HS256")


@for_each(
    "claims",
    [
        {},
        {"aud": ...},
        {"aud": None},
        {"aud": ""},
        {"aud": []},
        {"aud": "frontdesk"},
        {"aud": "DESK.example"},
        {"aud": "desk.example.org"},
        {"aud": "desk"},
        {"aud": ["frontdesk", "other"]},
        {"aud": [["desk.example"]]},
        {"aud": {"desk.example": 1}},
        {"aud": 7},
        {"aud": True},
        {"iss": ...},
        {"iss": None},
        {"iss": ""},
        {"iss": "https://desk.example/"},
        {"iss": "https://desk.example.org"},
        {"iss": "HTTPS://desk.example"},
        {"iss": ["https://desk.example"]},
        {"iss": {"https://desk.example": 1}},
        {"iss": 7},
    ],
)
def test_token_with_another_audience_or_issuer_is_rejected(
    api_with_audience: Api, claims: dict[str, Any]
) -> None:
    token = sign_unchecked(**(EXPECTED | claims if claims else {}))
    answer = api_with_audience.as_token(token).get("/account", 401)
    assert answer.detail == REFUSED
    assert answer.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'


@pytest.mark.parametrize(("setting", "claim"), [("AUTH__AUDIENCE", "aud"), ("AUTH__ISSUER", "iss")])
def test_audience_and_issuer_are_checked_independently(
    make_app: MakeApp, person: MakePerson, setting: str, claim: str
) -> None:
    app = make_app(**{setting: SETTINGS[setting]})
    api = person("ada", into=app).api()
    api.get("/account")
    api.as_token(signed()).get("/account", 401)
    api.as_token(signed(**{claim: EXPECTED[claim]})).get("/account")

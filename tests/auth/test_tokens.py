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


def test_a_token_of_sub_and_exp_alone_is_accepted(api: Api, ada: Person) -> None:
    assert api.as_token(signed()).get("/account").json["email"] == ada.email


def test_the_sub_is_read_without_regard_to_case(api: Api, ada: Person) -> None:
    api.as_token(signed(sub="ADA@example.com")).get("/account")


def test_claims_are_not_read_back(api: Api, ada: Person) -> None:
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
        signed(aud="somebody"),
        signed(aud=["somebody", "else"]),
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
def test_a_token_that_is_not_ours_is_refused(api: Api, ada: Person, token: str) -> None:
    answer = api.as_token(token).get("/account", 401)
    assert answer.detail == REFUSED
    assert answer.headers["WWW-Authenticate"] == "Bearer"


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
def test_a_malformed_header_is_refused(api: Api, ada: Person, header: str) -> None:
    sent = {"Authorization": header.format(signed())}
    assert api.get("/account", 401, headers=sent).detail == REFUSED


def test_no_header_is_refused_and_no_other_place_is_read(api: Api, ada: Person) -> None:
    assert api.get("/account", 401).detail == REFUSED
    api.get(f"/account?access_token={signed()}&jwt={signed()}", 401)
    api.client.set_cookie("access_token_cookie", signed())
    api.get("/account", 401)


@for_each("scheme", ["bearer", "BEARER", "bEaReR"])
def test_the_scheme_is_read_without_regard_to_case(api: Api, ada: Person, scheme: str) -> None:
    api.get("/account", headers={"Authorization": f"{scheme} {signed()}"})


def test_a_token_of_no_account_is_told_so(api: Api) -> None:
    assert api.as_token(signed()).get("/account", 404).detail == "Account not found"


@for_each("sub", ["", "ada\0@example.com", "\ud800@example.com", "x" * 5000])
def test_a_sub_that_no_account_can_have_is_no_accounts(api: Api, ada: Person, sub: str) -> None:
    assert api.as_token(signed(sub=sub)).get("/account", 404).detail == "Account not found"


def test_a_new_email_ends_the_tokens_of_the_old(api: Api, ada: Person) -> None:
    before = ada.api()
    ada.change(email="countess@example.com")
    assert before.get("/account", 404).detail == "Account not found"


def test_an_address_that_passes_on_brings_no_tokens_along(
    api: Api, ada: Person, person: Any
) -> None:
    before = ada.api()
    ada.change(email="countess@example.com")
    person("ada")
    assert before.get("/account", 401).detail == REFUSED


def test_a_new_password_ends_the_tokens_from_before(ada: Person) -> None:
    before = ada.api()
    ada.change(password="quite another one")
    assert before.get("/account", 401).detail == REFUSED
    assert before.as_token(signed()).get("/account", 401).detail == REFUSED
    ada.password = "quite another one"
    ada.api().get("/account")


def test_a_former_secret_key_is_accepted_while_it_is_listed(
    make_app: MakeApp, api: Api, ada: Person
) -> None:
    before = ada.token()
    rotated = make_app(SECRET_KEY="b" * 40, CORE__SECRET_KEY_FALLBACKS=json.dumps([SECRET]))
    Api(rotated, token=before).get("/account")
    Api(make_app(SECRET_KEY="b" * 40), token=before).get("/account", 401)
    assert jwt.decode(Person(rotated, ada.id, ada.email).token(), "b" * 40, algorithms=["HS256"])


def test_an_expired_token_means_logging_in_again(ada: Person, clock: SteppingClock) -> None:
    api = ada.api()
    clock.step(minutes=31)
    assert api.get("/account", 401).detail == REFUSED
    ada.api().get("/account")


NAMED = {"AUTH__AUDIENCE": "desk.example", "AUTH__ISSUER": "https://desk.example"}
OURS: dict[str, Any] = {"aud": "desk.example", "iss": "https://desk.example"}


def test_where_they_are_set_a_token_names_its_audience_and_its_issuer(
    make_app: MakeApp, person: MakePerson
) -> None:
    app = make_app(**NAMED)
    token = person("ada", into=app).token()
    claims = jwt.decode(token, options={"verify_signature": False})
    assert {name: claims[name] for name in OURS} == OURS
    Api(app, token=token).get("/account")
    Api(app, token=signed(**OURS)).get("/account")
    Api(app, token=signed(**OURS | {"aud": ["other", "desk.example"]})).get("/account")


def test_without_them_a_token_names_neither(ada: Person) -> None:
    claims = jwt.decode(ada.token(), options={"verify_signature": False})
    assert claims.keys() & OURS.keys() == set()


@pytest.fixture
def desk(make_app: MakeApp, person: MakePerson) -> Api:
    """Where both are set; with Ada's account."""
    app = make_app(**NAMED)
    person("ada", into=app)
    return Api(app)


def signed_as_it_is(**claims: Any) -> str:
    """The library that signs ours refuses to make some of these."""
    payload = {"sub": "ada@example.com", "exp": int(time.time()) + 60, **claims}
    written = json.dumps({name: value for name, value in payload.items() if value is not ...})
    return jwt.api_jws.encode(written.encode(), SECRET, "HS256")


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
def test_where_they_are_set_a_token_of_others_is_refused(desk: Api, claims: dict[str, Any]) -> None:
    token = signed_as_it_is(**(OURS | claims if claims else {}))
    answer = desk.as_token(token).get("/account", 401)
    assert answer.detail == REFUSED
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(("setting", "claim"), [("AUTH__AUDIENCE", "aud"), ("AUTH__ISSUER", "iss")])
def test_one_of_them_alone_is_asked_for_alone(
    make_app: MakeApp, person: MakePerson, setting: str, claim: str
) -> None:
    app = make_app(**{setting: NAMED[setting]})
    api = person("ada", into=app).api()
    api.get("/account")
    api.as_token(signed()).get("/account", 401)
    api.as_token(signed(**{claim: OURS[claim]})).get("/account")

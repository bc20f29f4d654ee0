"""Malformed and forged refresh tokens are rejected early."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from flask import Flask

from app.auth.sessions.refresh_token import RefreshTokens
from app.testing.client import Api
from app.testing.database import noted_queries

from ..conftest import SECRET, MakeApp, Person
from ..rigs.cases import for_each
from .test_refresh import ON, assert_rejected, refresh, sign_in
from .test_sessions import is_in, sid


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**ON)


@pytest.fixture
def token(api: Api, ada: Person) -> str:
    found: str = sign_in(api)["refresh_token"]
    return found


def flip_bit(token: str, position: int) -> str:
    raw = bytearray(base64.urlsafe_b64decode(token[4:]))
    raw[position] ^= 1
    return "fdr_" + base64.urlsafe_b64encode(raw).decode()


MALFORMED: dict[str, Callable[[str], str]] = {
    "nothing": lambda token: "",
    "blank": lambda token: " ",
    "truncated": lambda token: token[:-1],
    "with an extra character": lambda token: token + "A",
    "with a line break": lambda token: token + "\n",
    "without its prefix": lambda token: token[4:],
    "another prefix": lambda token: "fdx_" + token[4:],
    "upper case": lambda token: token.upper(),
    "padded": lambda token: token[:-1] + "=",
    "digits of other scripts": lambda token: "fdr_" + "٣" * 76,
    "with a null byte": lambda token: token[:-1] + "\x00",
    "one repeated character": lambda token: "fdr_" + "A" * 76,
    "over-long": lambda token: token * 100,
    "a megabyte": lambda token: "fdr_" + "A" * 900_000,
    "an access token": lambda token: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2ln",
    "random": lambda token: "fdr_" + secrets.token_urlsafe(57),
    **{f"byte {position} changed": partial(flip_bit, position=position) for position in range(57)},
}


@for_each("case", MALFORMED)
def test_malformed_token_is_rejected_without_a_query(
    app: Flask, api: Api, token: str, case: str
) -> None:
    with noted_queries(app) as queries:
        assert_rejected(api, MALFORMED[case](token))
    assert [query for query in queries if "frontdesk_events" not in query] == []
    refresh(api, token)


def test_secret_key_alone_forges_no_token(api: Api, ada: Person) -> None:
    answer = sign_in(api)
    session_id = UUID(sid(api.as_token(answer["access_token"])))
    assert_rejected(api, RefreshTokens(SECRET, []).write(session_id, 0, b"\0" * 32))
    assert is_in(api.as_token(answer["access_token"]))


@for_each("raw", [b"%ff%fe", b"%ed%a0%80", b"%00", b"+", b"%"])
def test_undecodable_bytes_are_rejected(api: Api, raw: bytes) -> None:
    body = b"grant_type=refresh_token&refresh_token=" + raw
    form = "application/x-www-form-urlencoded"
    assert api.post("/token", 400, data=body, content_type=form).json["code"] == "invalid_grant"


@for_each(
    "form",
    [
        {},
        {"grant_type": "refresh_token"},
        {"refresh_token": "x"},
        {"grant_type": "", "refresh_token": "x"},
        {"grant_type": "x" * 65, "refresh_token": "x"},
        {"grant_type": ["refresh_token"] * 2, "refresh_token": "x"},
        {"grant_type": "refresh_token", "refresh_token": ["x", "y"]},
    ],
)
def test_incomplete_form_is_a_422(api: Api, form: Any) -> None:
    api.post("/token", 422, data=form)


@for_each("grant", ["password", "authorization_code", "refresh_token "])
def test_other_grant_types_are_rejected(api: Api, token: str, grant: str) -> None:
    form = {"grant_type": grant, "refresh_token": token}
    assert api.post("/token", 400, data=form).json["code"] == "unsupported_grant_type"


def test_body_that_is_no_form_is_rejected(api: Api, token: str) -> None:
    api.post("/token", 415, json={"grant_type": "refresh_token", "refresh_token": token})
    api.get("/token", 405)

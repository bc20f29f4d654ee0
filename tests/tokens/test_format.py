"""The form of tokens, which is checked before any query."""

from __future__ import annotations

import random
import string
from zlib import crc32

import pytest
from flask import Flask

from app.testing.client import Api
from app.testing.database import noted_queries
from app.tokens.format import PERSONAL, WORKSPACE, find_token, new_token

from ..conftest import only_on

DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
TOKEN = "fdp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P28ylA4"


def test_checksum_is_the_crc_of_the_characters_before_it() -> None:
    for prefix in (PERSONAL, WORKSPACE):
        token = new_token(prefix)
        assert len(token) == 42
        assert token.startswith(prefix)
        assert set(token[4:]) <= {*DIGITS}
        value = 0
        for digit in token[36:]:
            value = value * 62 + DIGITS.index(digit)
        assert value == crc32(token[:36].encode())
        assert find_token(f"Bearer {token}") == token
    assert find_token(f"bearer  {TOKEN} ") == TOKEN


def malformed_tokens() -> list[str]:
    """Return tokens with another character at each place, and other near misses."""
    changed = [
        TOKEN[:index] + ("0" if digit != "0" else "1") + TOKEN[index + 1 :]
        for index, digit in enumerate(TOKEN)
    ]
    randomness = random.Random(51)
    made_up = ["fdp_" + "".join(randomness.choices(DIGITS, k=38)) for _ in range(200)]
    others = [TOKEN[:-1], f"{TOKEN}0", TOKEN.replace("fdp", "fdw"), TOKEN.upper(), "fdp_", "fdr_x"]
    return [
        *changed,
        *made_up,
        *others,
        f"fdp_{'٣' * 38}",
        f"{TOKEN} {TOKEN}",
        "fdp_" + "0" * 9_000,
    ]


@only_on("sqlite")
def test_malformed_tokens_are_rejected_without_a_query(app: Flask) -> None:
    api = Api(app)
    # The first request starts the worker.
    api.get("/account", 401)
    with noted_queries(app) as statements:
        for token in malformed_tokens():
            header = f"Bearer {token}".encode().decode("latin-1")
            answer = api.get("/account", 401, headers={"Authorization": header})
            assert answer.json["reason"] == "malformed"
    assert statements == []


@only_on("sqlite")
@pytest.mark.parametrize("prefix", [PERSONAL, WORKSPACE])
def test_unknown_token_is_rejected(app: Flask, prefix: str) -> None:
    Api(app).as_token(new_token(prefix)).get("/account", 401)

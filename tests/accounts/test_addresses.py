"""Parsing phone numbers, with and without the `phonenumbers` library."""

from __future__ import annotations

import sys

import pytest

from app.accounts.addresses import read_phone
from app.accounts.errors import InvalidPhone

VALID = [
    ("+1 500 555 0006", "+15005550006"),
    ("+44 (20) 7946-0000", "+442079460000"),
    ("+49.30.901820", "+4930901820"),
]
INVALID = ["", "12", "+", "020 7946 0000", "+12", "+1500555000612345"]


@pytest.fixture(params=["phonenumbers", "nothing"])
def installed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "nothing":
        monkeypatch.setitem(sys.modules, "phonenumbers", None)
    return str(request.param)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(("text", "number"), VALID)
def test_number_is_stored_in_e164_format(text: str, number: str) -> None:
    assert read_phone(text) == number


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("text", INVALID)
def test_invalid_number_is_rejected(text: str) -> None:
    with pytest.raises(InvalidPhone):
        read_phone(text)

"""Phone numbers as people write them, with the library that knows countries and without it."""

from __future__ import annotations

import sys

import pytest

from app.accounts.addresses import read_phone
from app.accounts.errors import InvalidPhone

WRITTEN = [
    ("+1 500 555 0006", "+15005550006"),
    ("+44 (20) 7946-0000", "+442079460000"),
    ("+49.30.901820", "+4930901820"),
]
WRONG = ["", "12", "+", "020 7946 0000", "+12", "+1500555000612345"]


@pytest.fixture(params=["phonenumbers", "nothing"])
def installed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "nothing":
        monkeypatch.setitem(sys.modules, "phonenumbers", None)
    return str(request.param)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(("written", "number"), WRITTEN)
def test_a_number_is_stored_as_plus_and_digits(written: str, number: str) -> None:
    assert read_phone(written) == number


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("written", WRONG)
def test_what_is_no_number_is_refused(written: str) -> None:
    with pytest.raises(InvalidPhone):
        read_phone(written)

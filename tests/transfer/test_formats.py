"""Readers of other formats. Each sample follows the documentation of its software:

- Flask-Security, "Models" (`fsqla_v3`); fastapi-users, "SQLAlchemy" (the columns of its table);
- Django, "Serializing Django objects" (the JSON of `dumpdata`) and its `auth.User`;
- GoTrue, the migrations of its table `auth.users`, as PostgreSQL's COPY … CSV HEADER writes it.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from app.accounts import foreign
from app.transfer.account import ImportedAccount, RowError, UnreadableRow
from app.transfer.formats import FORMATS
from app.transfer.formats.json_items import items
from app.transfer.formats.rows import read_accounts

SAMPLES = Path(__file__).with_name("samples")


def read(form: str) -> list[Any]:
    sample = next(SAMPLES.glob(f"{form.replace('-', '_')}.*"))
    with sample.open(newline="") as stream:
        return list(read_accounts(stream, FORMATS[form]))


def accounts(form: str) -> list[ImportedAccount]:
    return [row for row in read(form) if isinstance(row, ImportedAccount)]


OTHER_FORMATS = [form for form in FORMATS if form != "frontdesk"]


@pytest.mark.parametrize("form", OTHER_FORMATS)
def test_verified_active_account_is_read(form: str) -> None:
    ada = accounts(form)[0]
    assert ada.email.lower() == "ada@example.com"
    assert ada.email_verified
    assert ada.status == "active"
    assert ada.password_hash is not None
    if not ada.password_hash.startswith("$2"):
        foreign.read_hash(ada.password_hash)


@pytest.mark.parametrize(
    ("form", "verified", "status", "role"),
    [
        ("flask-security", False, "inactive", "user"),
        ("django", True, "inactive", "root"),
        ("fastapi-users", False, "inactive", "root"),
        ("gotrue", False, "suspended", "user"),
    ],
)
def test_status_and_role_are_read(form: str, verified: bool, status: str, role: str) -> None:
    bob = accounts(form)[1]
    assert bob.email == "bob@example.com"
    assert (bob.email_verified, bob.status, bob.role) == (verified, status, role)


@pytest.mark.parametrize(
    ("form", "key"),
    [
        ("flask-security", 7),
        ("django", 7),
        ("fastapi-users", "a6f9d3f2-6c7b-4e50-9b1d-1f0c2a3b4c5d"),
        ("gotrue", "a6f9d3f2-6c7b-4e50-9b1d-1f0c2a3b4c5d"),
    ],
)
def test_id_is_read(form: str, key: object) -> None:
    assert accounts(form)[0].id == key


@pytest.mark.parametrize("form", ["flask-security", "django"])
def test_known_role_is_read(form: str) -> None:
    assert accounts(form)[0].role == "admin"


@pytest.mark.parametrize("form", ["django", "gotrue"])
def test_item_that_is_no_account_is_unreadable(form: str) -> None:
    unreadable = [row for row in read(form) if isinstance(row, UnreadableRow)]
    assert [row.error.code for row in unreadable] == ["not_an_account"]


def test_unusable_password_of_django_is_dropped() -> None:
    assert accounts("django")[1].password_hash is None


class SlowStream(io.StringIO):
    """Returns a few characters at a time, so that reads end within values."""

    def read(self, size: int | None = -1, /) -> str:
        return super().read(min(size or 1, 3))


@pytest.mark.parametrize("stream", [io.StringIO, SlowStream])
def test_document_is_read_item_by_item(stream: type[io.StringIO]) -> None:
    assert list(items(stream('[{"x": "]\\"}"}, 12, [true]]'))) == [{"x": ']"}'}, 12, [True]]
    assert list(items(stream("[]"))) == []
    assert list(items(stream(" [ 1 , 234 ] "))) == [1, 234]


@pytest.mark.parametrize(
    "text", ["", "[", "[1", "[1,", "[1 2]", '{"x": [1]}', "[NaN]", "[" * 100_000]
)
def test_broken_document_is_an_error(text: str) -> None:
    with pytest.raises(RowError) as broken:
        list(items(io.StringIO(text)))
    assert broken.value.code == "broken_file"


def test_error_has_the_line() -> None:
    with pytest.raises(RowError, match="line 3"):
        list(items(io.StringIO('[\n{"a": 1},\n{"a": oh}]')))

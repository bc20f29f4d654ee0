"""Readers of other formats. Each sample follows the documentation of its software:

- Flask-Security, "Models" (`fsqla_v3`); fastapi-users, "SQLAlchemy" (the columns of its table);
- Django, "Serializing Django objects" (the JSON of `dumpdata`) and its `auth.User`;
- Auth0, "How to Use the Password Hashes Export" and "User Import/Export: user fields";
- GoTrue, the migrations of its table `auth.users`, as PostgreSQL's COPY … CSV HEADER writes it;
- Keycloak, "Importing and exporting realms" (`UserRepresentation`, `CredentialRepresentation`);
- Firebase, "CLI reference: auth:import and auth:export", and "Password hash parameters".
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from app.accounts import foreign
from app.accounts.passwords import Passwords
from app.transfer.account import ImportedAccount, RowError, UnreadableRow
from app.transfer.formats import READERS, firebase, firebase_reader
from app.transfer.formats.json_items import items

SAMPLES = Path(__file__).with_name("samples")


def read(form: str) -> list[Any]:
    sample = next(SAMPLES.glob(f"{form.replace('-', '_')}.*"))
    reader = READERS[form]
    if form == "firebase":
        config = firebase.hash_config((SAMPLES / "firebase_hash_config.txt").read_text())
        reader = firebase_reader(config)
    with sample.open(newline="") as stream:
        return list(reader(stream))


def accounts(form: str) -> list[ImportedAccount]:
    return [row for row in read(form) if isinstance(row, ImportedAccount)]


OTHER_FORMATS = [form for form in READERS if form != "frontdesk"]


@pytest.mark.parametrize("form", OTHER_FORMATS)
def test_verified_active_account_is_read(form: str) -> None:
    ada = accounts(form)[0]
    assert ada.email.lower() == "ada@example.com"
    assert ada.email_verified
    assert ada.status == "active"
    assert ada.password_hash is not None
    if not ada.password_hash.startswith("$2"):
        foreign.read(ada.password_hash)


@pytest.mark.parametrize(
    ("form", "verified", "status", "role"),
    [
        ("flask-security", False, "inactive", "user"),
        ("django", True, "inactive", "root"),
        ("fastapi-users", False, "inactive", "root"),
        ("auth0", False, "active", "user"),
        ("gotrue", False, "suspended", "user"),
        ("keycloak", False, "inactive", "user"),
        ("firebase", False, "suspended", "user"),
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
        ("auth0", "auth0|60425da93519d90068f82966"),
        ("gotrue", "a6f9d3f2-6c7b-4e50-9b1d-1f0c2a3b4c5d"),
        ("keycloak", "a6f9d3f2-6c7b-4e50-9b1d-1f0c2a3b4c5d"),
        ("firebase", "JVEyvAWYrPZvd1FpVVNTvxYgq3C2"),
    ],
)
def test_id_is_read(form: str, key: object) -> None:
    assert accounts(form)[0].id == key


@pytest.mark.parametrize("form", ["flask-security", "django"])
def test_known_role_is_read(form: str) -> None:
    assert accounts(form)[0].role == "admin"


@pytest.mark.parametrize("form", ["keycloak", "firebase"])
def test_google_identity_is_read(form: str) -> None:
    identity = accounts(form)[0].identities[0]
    assert (identity.issuer, identity.subject) == ("https://accounts.google.com", "1035479915")


def test_auth0_identities_and_ids_are_read() -> None:
    assert [each.subject for each in accounts("auth0")[2].identities] == ["103547991597142817347"]
    assert accounts("auth0")[1].id == "auth0|euclid"


def test_firebase_hash_can_be_verified() -> None:
    ada, bob = accounts("firebase")
    assert Passwords(rounds=4, at_once=1).matches("user1password", ada.password_hash)
    assert bob.password_hash is None


def test_keycloak_credentials_are_converted() -> None:
    ada, bob = accounts("keycloak")
    assert str(ada.password_hash).startswith("$pbkdf2-sha256$27500$c2FsdHNhbHRzYWx0c2FsdA$")
    assert str(bob.password_hash).startswith("$argon2id$v=19$m=7168,t=5,p=1$")
    foreign.read(str(bob.password_hash))


@pytest.mark.parametrize("form", ["django", "gotrue", "keycloak"])
def test_item_that_is_no_account_is_unreadable(form: str) -> None:
    unreadable = [row for row in read(form) if isinstance(row, UnreadableRow)]
    assert [row.error.code for row in unreadable] == ["not_an_account"]


def test_unusable_password_of_django_is_dropped() -> None:
    assert accounts("django")[1].password_hash is None


def test_missing_hash_parameters_are_named() -> None:
    with pytest.raises(RowError, match="base64_salt_separator, mem_cost"):
        firebase.hash_config("base64_signer_key: AAAA, rounds: 8")


class SlowStream(io.StringIO):
    """Returns a few characters at a time, so that reads end within values."""

    def read(self, size: int | None = -1, /) -> str:
        return super().read(min(size or 1, 3))


@pytest.mark.parametrize("stream", [io.StringIO, SlowStream])
def test_document_is_read_item_by_item(stream: type[io.StringIO]) -> None:
    text = '{"a": {"users": [0]}, "n": 1.5e3, "users": [{"x": "]\\"}"}, 12, [true]], "b": 1}'
    assert list(items(stream(text), "users")) == [{"x": ']"}'}, 12, [True]]
    assert list(items(stream("[]"))) == []
    assert list(items(stream(" [ 1 , 234 ] "), "users")) == [1, 234]


@pytest.mark.parametrize(
    "text", ["", "[", "[1", "[1,", "[1 2]", '{"users": 1}', '{"x": [1]}', "[NaN]", "[" * 100_000]
)
def test_broken_document_is_an_error(text: str) -> None:
    with pytest.raises(RowError) as broken:
        list(items(io.StringIO(text), "users"))
    assert broken.value.code == "broken_file"


def test_error_has_the_line() -> None:
    with pytest.raises(RowError, match="line 3"):
        list(items(io.StringIO('[\n{"a": 1},\n{"a": oh}]')))

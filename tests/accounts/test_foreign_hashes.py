from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from flask import Flask

from app.accounts import foreign
from app.accounts.passwords import Passwords
from app.accounts.service import Accounts
from app.core.context import service
from app.testing.client import Api

from ..auth.test_login import listen_to, log_in
from ..conftest import MakeApp
from ..rigs import foreign_hashes
from ..rigs.servers import checkout_environment

# The password of most golden hashes.
PASSWORD = foreign_hashes.PASSWORDS[0]
GOLDEN = json.loads(Path(__file__).with_name("foreign_hashes.json").read_text())
# Passwords with hashes that are cheap to compute.
CHEAP = (foreign_hashes.PASSWORDS[1], "user1password")
ONE_OF_EACH = [found for found in GOLDEN if found["password"] in CHEAP]
FRESH = [*foreign_hashes.installed()]
# Created by Werkzeug's `generate_password_hash(PASSWORD, "scrypt:1024:8:1")`: cheap.
WERKZEUG = (
    "scrypt:1024:8:1$iisTkKuAuRguV6gV$31ebd7d49bcfdae0081065605b0522ca11bd7f46f568655369c1f9f212e20a2c"
    "c9da8f491e89eee2040d3797800b4093974c7e0af36e2e7d3dd751e54e92a374"
)


def describe(golden: dict[str, str]) -> str:
    return f"{golden['made_by']} {golden['kind']} {len(golden['password'])}"


def peppered(made_by: str) -> list[str]:
    return [foreign_hashes.PEPPER] if made_by.startswith("Flask-Security") else []


def passwords(made_by: str = "") -> Passwords:
    return Passwords(rounds=4, at_once=8, peppers=peppered(made_by))


@pytest.mark.parametrize("golden", GOLDEN, ids=describe)
def test_correct_password_matches_hash_of_the_original_library(golden: dict[str, str]) -> None:
    checker = passwords(golden["made_by"])
    assert checker.matches(golden["password"], golden["hash"])
    assert len(golden["hash"]) <= 255


@pytest.mark.parametrize("golden", ONE_OF_EACH, ids=describe)
def test_wrong_password_matches_no_hash(golden: dict[str, str]) -> None:
    assert not passwords(golden["made_by"]).matches(golden["password"] + "x", golden["hash"])


@pytest.mark.parametrize(
    ("library", "kind", "make"), FRESH, ids=[f"{library} {kind}" for library, kind, _ in FRESH]
)
def test_new_hash_of_the_installed_library_matches(
    library: str, kind: str, make: foreign_hashes.Make
) -> None:
    assert passwords(library).matches("correct horse", make("correct horse", False))


def test_required_libraries_are_tested_with_new_hashes() -> None:
    assert {"Werkzeug", "argon2-cffi"} <= {library for library, _, _ in FRESH}


def test_peppered_hash_needs_its_pepper() -> None:
    peppered_hashes = [found for found in GOLDEN if found["made_by"].startswith("Flask-Security")]
    assert peppered_hashes
    for found in peppered_hashes:
        assert not passwords().matches(found["password"], found["hash"])


@pytest.mark.parametrize(
    ("expensive", "bound"),
    [
        ("pbkdf2_sha256$5000001$salt$" + "A" * 43 + "=", "rounds"),
        ("$pbkdf2-sha256$2500001$c2FsdA$" + "A" * 86, "rounds"),
        ("scrypt:524288:8:1$salt$" + "00" * 32, "scrypt"),
        ("scrypt:16384:8:17$salt$" + "00" * 32, "scrypt"),
        ("$scrypt$ln=32,r=8,p=1$c2FsdHNhbHQ$" + "A" * 43, "scrypt"),
        ("$argon2id$v=19$m=262145,t=1,p=1$c2FsdHNhbHQ$" + "A" * 43, "Argon2"),
        ("$argon2id$v=19$m=262144,t=5,p=1$c2FsdHNhbHQ$" + "A" * 43, "Argon2"),
        ("$argon2id$v=19$m=1024,t=1,p=64$c2FsdHNhbHQ$" + "A" * 43, "Argon2"),
        ("$2b$17$" + "." * 53, "bcrypt"),
        ("bcrypt_sha256$$2b$31$" + "." * 53, "bcrypt"),
        ("$fbscrypt$v=1,n=20,r=8,p=1,ss=Bw==,sk=AAAA$AAAA$AAAA", "scrypt"),
    ],
)
def test_too_expensive_hash_is_never_computed(
    expensive: str, bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("hashlib.scrypt", "hashlib.pbkdf2_hmac", "argon2.low_level.verify_secret"):
        monkeypatch.setattr(module, None)
    with pytest.raises(foreign.UnusableHash, match=bound) as refused:
        foreign.read_hash(expensive)
    assert refused.value.code == "hash_too_costly"
    assert not passwords().matches(PASSWORD, expensive)


@pytest.mark.parametrize(
    "unknown",
    [
        "plaintext",
        PASSWORD,
        "$",
        "$1$salt$qJH7.N4xYta3aEG/dfqo/0",
        "$2b$12$short",
        "$2b$00$" + "." * 53,
        "md5$salt$9b3dc6f7",
        "scrypt:0:8:1$salt$" + "00" * 32,
        "scrypt:3:8:1$salt$" + "00" * 32,
        "scrypt:32768:8:1$salt$",
        "scrypt:32768:8:1$salt$00",
        "scrypt:٣:8:1$salt$" + "00" * 32,
        "scrypt:32768:8:1$salt$zz",
        "pbkdf2:md5:1000$salt$" + "00" * 16,
        "pbkdf2:sha256:0$salt$" + "00" * 32,
        "pbkdf2:sha256:9999999999999$salt$" + "00" * 32,
        "pbkdf2_sha256$1000$salt$!!!!",
        "pbkdf2_sha256$1000$salt",
        "$pbkdf2-sha256$1000$c2FsdA$",
        "$scrypt$n=14$c2FsdHNhbHQ$" + "A" * 43,
        "$scrypt$ln=0,r=8,p=1$c2FsdHNhbHQ$" + "A" * 43,
        "$argon2id$v=19$m=8,t=1$c2FsdHNhbHQ$" + "A" * 43,
        "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=$AAAA$",
        "$fbscrypt$v=2,n=14,r=8,p=1,ss=Bw==,sk=AAAA$AAAA$AAAA",
        "$bcrypt-sha256$v=3,t=2b,r=12$" + "." * 22 + "$" + "." * 31,
        "0" * 32 + ":" + "0" * 127,
        "\ud800",
    ],
)
def test_unknown_hash_never_matches(unknown: str) -> None:
    checker = passwords()
    for password in (PASSWORD, "", unknown):
        assert not checker.matches(password, unknown)


def test_unknown_hash_is_logged_once_without_the_value(caplog: pytest.LogCaptureFixture) -> None:
    checker = passwords()
    for _ in range(3):
        checker.matches(PASSWORD, "a password stored in plain text")
    assert [record.message for record in caplog.records] == [
        "Accounts cannot sign in with their passwords:"
        " The password hash is of no kind that is known here."
    ]


@pytest.mark.parametrize(("kind", "extra"), [("argon2", "argon2"), ("firebase", "firebase")])
def test_missing_library_is_named(
    kind: str, extra: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("app.core.extras.find_spec", lambda name: None)
    golden = next(found for found in GOLDEN if found["kind"] == kind)
    assert not passwords().matches(golden["password"], golden["hash"])
    assert f"pip install 'flask-frontdesk[{extra}]'" in caplog.text


def import_account(app: Flask, password_hash: str | None, email: str = "ada@example.com") -> None:
    with app.app_context():
        accounts = service(Accounts)
        accounts.session.add(accounts.model(email=email, password_hash=password_hash, role="user"))
        accounts.session.commit()


def stored_hash(app: Flask, email: str = "ada@example.com") -> str:
    with app.app_context():
        return str(service(Accounts).get(email).password_hash)


def test_first_sign_in_rehashes_with_bcrypt(app: Flask, api: Api) -> None:
    import_account(app, WERKZEUG)
    log_in(api, "ada@example.com", "wrong", 400)
    assert stored_hash(app) == WERKZEUG
    log_in(api, "ada@example.com", PASSWORD)
    rehashed = stored_hash(app)
    assert rehashed.startswith("$2b$04$")
    log_in(api, "ada@example.com", PASSWORD)
    assert stored_hash(app) == rehashed


def test_aborted_sign_in_keeps_the_stored_hash(app: Flask, api: Api) -> None:
    """The new hash is written in the sign-in's transaction, which a listener can abort."""

    def refuse(account: object, options: object) -> None:
        raise RuntimeError("not today")

    import_account(app, WERKZEUG)
    listen_to(app, "account-logged-in", refuse)
    log_in(api, "ada@example.com", PASSWORD, 500)
    assert stored_hash(app) == WERKZEUG


def test_password_over_the_bcrypt_limit_keeps_its_hash(app: Flask, api: Api) -> None:
    golden = next(f for f in GOLDEN if f["kind"] == "scrypt" and len(f["password"]) > 72)
    import_account(app, golden["hash"])
    for _ in range(2):
        log_in(api, "ada@example.com", golden["password"])
        assert stored_hash(app) == golden["hash"]
    log_in(api, "ada@example.com", golden["password"][:72], 400)


@pytest.mark.parametrize("ident", ["2y", "2a"])
def test_bcrypt_variants_are_rehashed(app: Flask, api: Api, ident: str) -> None:
    golden = next(found for found in GOLDEN if found["hash"].startswith(f"${ident}$"))
    import_account(app, golden["hash"])
    log_in(api, "ada@example.com", golden["password"])
    assert stored_hash(app).startswith("$2b$04$")


def test_flask_securitys_double_hash_is_rehashed(make_app: MakeApp) -> None:
    app = make_app(AUTH__FOREIGN_PEPPERS=json.dumps([foreign_hashes.PEPPER]))
    peppered_hashes = [found for found in GOLDEN if found["made_by"].startswith("Flask-Security")]
    for number, golden in enumerate(peppered_hashes):
        email = f"{number}@example.com"
        import_account(app, golden["hash"], email)
        log_in(Api(app), email, golden["password"])
        fits_bcrypt = len(golden["password"].encode()) <= 72
        assert (stored_hash(app, email) != golden["hash"]) is fits_bcrypt


def test_wrong_passwords_for_foreign_hashes_are_limited(app: Flask, api: Api) -> None:
    import_account(app, WERKZEUG)
    for _ in range(5):
        log_in(api, "ada@example.com", "wrong", 400)
    log_in(api, "ada@example.com", PASSWORD, 429)


def test_foreign_hashes_use_the_concurrency_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0})
    checker, at_once, concurrent = Passwords(rounds=4, at_once=8), 0, []
    read = foreign.read_hash

    def count_and_read(text: str) -> foreign.HashAlgorithm:
        nonlocal at_once
        at_once += 1
        concurrent.append(at_once)
        try:
            read(text).matches(b"x")
            return read(text)
        finally:
            at_once -= 1

    monkeypatch.setattr(foreign, "read_hash", count_and_read)
    with ThreadPoolExecutor(4) as threads:
        assert (
            list(threads.map(lambda _: checker.matches(PASSWORD, WERKZEUG), range(4))) == [True] * 4
        )
    assert concurrent == [1] * 4


def record_costs(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Record the hashes that bcrypt is called with; no password matches."""
    costs: list[bytes] = []

    def note(_: bytes, known: bytes) -> bool:
        costs.append(known[:7])
        return False

    monkeypatch.setattr("bcrypt.checkpw", note)
    return costs


@pytest.mark.parametrize(
    ("password_hash", "hashes"),
    [
        (None, 1),
        ("$2b$05$" + "." * 53, 1),
        ("$2b$04$" + "." * 53, 2),
        (WERKZEUG, 1),
        ("unknown", 1),
    ],
)
def test_wrong_password_costs_one_bcrypt_hash_whatever_is_stored(
    password_hash: str | None, hashes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = record_costs(monkeypatch)
    Passwords(rounds=5, at_once=1).matches("wrong", password_hash)
    assert costs.count(b"$2b$05$") == 1
    assert len(costs) == hashes


@pytest.mark.parametrize("password_hash", [None, "$2b$05$" + "." * 53, WERKZEUG])
def test_peppers_cost_the_same_for_all_accounts(
    password_hash: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = record_costs(monkeypatch)
    Passwords(rounds=5, at_once=1, peppers=["one", "two"]).matches("wrong", password_hash)
    assert costs == [b"$2b$05$"] * 3


def test_foreign_hash_code_is_loaded_lazily() -> None:
    script = """
import sys
from app.accounts.passwords import Passwords
passwords = Passwords(4, 4)
passwords.matches("wrong", passwords.hash("right"))
loaded = {"app.accounts.foreign", "argon2", "cryptography"} & set(sys.modules)
assert not loaded, loaded
passwords.matches("wrong", "scrypt:2:1:1$salt$" + "00" * 32)
assert "app.accounts.foreign" in sys.modules
loaded = {"argon2", "cryptography"} & set(sys.modules)
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", script], env=checkout_environment(), check=True)

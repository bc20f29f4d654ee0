"""Password hashes created by other libraries, to test that Frontdesk verifies them.

    python tests/rigs/foreign_hashes.py > tests/accounts/foreign_hashes.json

writes the reference hashes. All libraries of `MAKERS` must be installed: Django, passlib, pwdlib,
argon2-cffi, Flask-Security, werkzeug, and `@better-auth/utils` in the folder of the environment
variable BETTER_AUTH. Tests read that file, and create new hashes with the installed libraries.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PEPPER = "146585145368132386173505678016728509634"
PASSWORDS = ("correct horse battery", "Pässwörter sind größer – 密码", "long enough " * 8)  # noqa: RUF001
# The example of github.com/firebase/scrypt; only Firebase can create such hashes.
FIREBASE = {
    "made_by": "firebase/scrypt, README",
    "kind": "firebase",
    "password": "user1password",
    "hash": "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn"
    "210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQND"
    "NC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==",
}

# Parameters: the password, and whether to use the lowest cost instead of the library's default.
Make = Callable[[str, bool], str]
ARGON2 = {"time_cost": 1, "memory_cost": 1024, "parallelism": 1}


def werkzeug(method: str, cheap: str | None = None) -> Make:
    def make(password: str, cheaply: bool) -> str:
        from werkzeug.security import generate_password_hash

        return generate_password_hash(password, (cheaply and cheap) or method)

    return make


def django(name: str, **cheap: int) -> Make:
    def make(password: str, cheaply: bool) -> str:
        from django.conf import settings

        if not settings.configured:
            from django.conf.global_settings import PASSWORD_HASHERS

            names = [*PASSWORD_HASHERS, "django.contrib.auth.hashers.BCryptPasswordHasher"]
            settings.configure(PASSWORD_HASHERS=names)
        from django.contrib.auth.hashers import get_hasher, make_password

        hasher = type(get_hasher(name))()
        vars(hasher).update(cheap if cheaply else {})
        return str(make_password(password, hasher=hasher))

    return make


def passlib(scheme: str, cheap: dict[str, int] | None = None, **options: Any) -> Make:
    def make(password: str, cheaply: bool) -> str:
        from passlib import hash as schemes

        more = (cheap or {}) if cheaply else {}
        return str(getattr(schemes, scheme).using(**options | more).hash(password))

    return make


def pwdlib(hasher: str, **cheap: int) -> Make:
    def make(password: str, cheaply: bool) -> str:
        from pwdlib.hashers import argon2, bcrypt

        kinds = {"argon2": argon2.Argon2Hasher, "bcrypt": bcrypt.BcryptHasher}
        return str(kinds[hasher](**cheap if cheaply else {}).hash(password))

    return make


def argon2(kind: str) -> Make:
    def make(password: str, cheaply: bool) -> str:
        from argon2 import PasswordHasher, Type

        options: dict[str, Any] = {**ARGON2} if cheaply else {}
        return PasswordHasher(type=Type[kind], **options).hash(password)

    return make


def flask_security(scheme: str, **cheap: int) -> Make:
    """Hash through an application, which first normalizes the password (Unicode)."""

    def make(password: str, cheaply: bool) -> str:
        from flask import Flask
        from flask_security import Security, hash_password
        from flask_security.datastore import UserDatastore

        app = Flask("theirs")
        options = {f"{scheme}__{name}": value for name, value in cheap.items()} if cheaply else {}
        app.config.update(
            SECRET_KEY="x" * 32,
            SECURITY_PASSWORD_SALT=PEPPER,
            SECURITY_PASSWORD_HASH=scheme,
            SECURITY_PASSWORD_HASH_PASSLIB_OPTIONS=options,
        )
        users: Any = type("Users", (), {"fs_uniquifier": None})
        security = Security(app, UserDatastore(users, users), register_blueprint=False)
        with app.app_context():
            return str(hash_password(security._password_util.normalize(password)))

    return make


def better_auth(password: str, _cheaply: bool) -> str:
    script = (
        "import(process.argv[1]).then(it => it.hashPassword(process.argv[2])).then(console.log)"
    )
    package = Path(os.environ["BETTER_AUTH"], "dist", "password.node.mjs")
    found = subprocess.run(
        ["node", "-e", script, str(package), password], check=True, capture_output=True, text=True
    )
    return found.stdout.strip()


# By distribution: the module to import, and a function for each kind of hash.
MAKERS: dict[str, tuple[str, dict[str, Make]]] = {
    "Werkzeug": (
        "werkzeug",
        {
            "scrypt": werkzeug("scrypt", "scrypt:1024:8:1"),
            "pbkdf2": werkzeug("pbkdf2", "pbkdf2:sha256:1000"),
            **{m: werkzeug(m) for m in ("pbkdf2:sha1:50000", "pbkdf2:sha512:50000")},
        },
    ),
    "Django": (
        "django",
        {
            "pbkdf2_sha256": django("pbkdf2_sha256", iterations=1000),
            "pbkdf2_sha1": django("pbkdf2_sha1", iterations=1000),
            "scrypt": django("scrypt", work_factor=2**10),
            "argon2": django("argon2", **ARGON2),
            "bcrypt_sha256": django("bcrypt_sha256", rounds=4),
            "bcrypt": django("bcrypt", rounds=4),
        },
    ),
    "passlib": (
        "passlib",
        {
            "pbkdf2_sha1": passlib("pbkdf2_sha1"),
            "pbkdf2_sha256": passlib("pbkdf2_sha256"),
            "pbkdf2_sha512": passlib("pbkdf2_sha512"),
            "scrypt": passlib("scrypt", {"rounds": 10}),
            "argon2": passlib("argon2", ARGON2),
            "bcrypt, PHP prefix": passlib("bcrypt", {"rounds": 4}, ident="2y", rounds=10),
            "bcrypt, older prefix": passlib("bcrypt", {"rounds": 4}, ident="2a", rounds=10),
            "bcrypt_sha256": passlib("bcrypt_sha256", {"rounds": 4}),
            "bcrypt_sha256, version 1": passlib("bcrypt_sha256", {"rounds": 4}, version=1),
        },
    ),
    "pwdlib": (
        "pwdlib",
        {"argon2": pwdlib("argon2", **ARGON2), "bcrypt": pwdlib("bcrypt", rounds=4)},
    ),
    "argon2-cffi": ("argon2", {name: argon2(name) for name in ("ID", "I", "D")}),
    "Flask-Security": (
        "flask_security",
        {
            "argon2": flask_security("argon2", **ARGON2),
            "bcrypt": flask_security("bcrypt", rounds=4),
            "pbkdf2_sha512": flask_security("pbkdf2_sha512"),
        },
    ),
}


def installed() -> Iterator[tuple[str, str, Make]]:
    """Return library, kind and function for each installed library."""
    for library, (module, kinds) in MAKERS.items():
        if find_spec(module) is not None:
            yield from ((library, kind, make) for kind, make in kinds.items())


def golden() -> Iterator[dict[str, str]]:
    """Return the reference hashes: the first password at the library's default cost, the others,
    which test characters and length, at the lowest cost."""
    makers = [*installed()]
    if "BETTER_AUTH" in os.environ:
        makers.append(("better-auth", "scrypt", better_auth))
    for library, kind, make in makers:
        for password in PASSWORDS:
            if library != "Flask-Security" and _would_be_cut(password, kind):
                continue
            yield {
                "made_by": f"{library} {_version(library)}".strip(),
                "kind": kind,
                "password": password,
                "hash": make(password, password != PASSWORDS[0]),
            }
    yield FIREBASE


def _would_be_cut(password: str, kind: str) -> bool:
    """Return whether bcrypt would ignore the end of the password: it reads 72 bytes."""
    return len(password.encode()) > 72 and kind.startswith("bcrypt") and "256" not in kind


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return ""


if __name__ == "__main__":
    json.dump(list(golden()), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")

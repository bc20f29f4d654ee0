"""Applications whose schemas are compared with those of commit ffc84c54, and dumps of databases.

The dumps in tests/core/commit_ffc84c54 were written by that commit: a fresh clone in CI has no
history to run the old code from. To write them again, check the commit out and run there

    PYTHONPATH=. python …/tests/rigs/schema_dumps.py …/tests/core/commit_ffc84c54
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
from flask import Flask
from flask_migrate import Migrate
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import String, Uuid
from sqlalchemy.engine import make_url
from sqlalchemy.orm import mapped_column

from app import AccountMixin, Frontdesk, blueprints, create_app
from app.auth.settings import AuthSettings
from app.core.process.folders import migrations_folder
from config import Settings

SECRET = "the secret key of all dumped databases"
SERVER = os.environ.get("FRONTDESK_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")
_OWN_HISTORY = {
    "alembic.ini": "[alembic]\nversion_locations = %(here)s/versions {frontdesk}/versions\n"
    "path_separator = space\n",
    "env.py": "from app.core.db.migrations import run_migrations\n\nrun_migrations()\n",
    "versions/0001_members.py": """
import sqlalchemy as sa
from alembic import op

revision = "0001_members"
down_revision = None
branch_labels = ("own",)


def upgrade():
    op.create_table(
        "members",
        sa.Column("key", sa.String(40), nullable=False),
        sa.Column("email", sa.String(320), nullable=False),
        sa.Column("password_hash", sa.String(255)),
        sa.Column("status", sa.String(50), nullable=False),
        sa.Column("role", sa.String(50), nullable=False),
        sa.Column("phone", sa.String(32)),
        sa.Column("last_login_date", sa.DateTime(timezone=True)),
        sa.Column("current_workspace_id", sa.BigInteger),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tokens_valid_from", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("key", name="pk_members"),
    )
""",
    "versions/0002_of_members.py": """
import sqlalchemy as sa
from alembic import op

revision = "0002_of_members"
down_revision = "0001_members"
depends_on = ("0004_profiles", "0030_search")


def upgrade():
    op.create_table(
        "pets",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("profile_id", sa.BigInteger, sa.ForeignKey("frontdesk_profiles.id")),
    )
""",
}


class _MountedSettings:
    SECRET_KEY = SECRET
    AUTH = AuthSettings(BCRYPT_ROUNDS=4, MFA="optional")


def service(url: str, _folder: Path) -> Flask:
    """Return the service itself, with MFA."""
    settings: Any = Settings(
        SECRET_KEY=SECRET,
        CORE={"DATABASE_URL": url, "LOG_LEVEL": "ERROR"},
        AUTH={"MFA": "optional"},
    )
    return create_app(settings)


def uuid_ids(url: str, _folder: Path) -> Flask:
    """Return an application whose accounts have UUIDs, which has only Frontdesk's migrations."""
    app, account = _mounted(url, "readers", id=mapped_column(Uuid, primary_key=True))
    Migrate(app, app.extensions["sqlalchemy"], directory=str(migrations_folder()))
    with app.app_context():
        account.__table__.create(app.extensions["sqlalchemy"].engine, checkfirst=True)
    return app


def own_location(url: str, folder: Path) -> Flask:
    """Return an application with its own migrations, and Frontdesk's as second version location."""
    app, _ = _mounted(url, "members", id=mapped_column("key", String(40), primary_key=True))
    (folder / "versions").mkdir(parents=True, exist_ok=True)
    for name, text in _OWN_HISTORY.items():
        (folder / name).write_text(text.replace("{frontdesk}", str(migrations_folder())))
    Migrate(app, app.extensions["sqlalchemy"], directory=str(folder))
    return app


def _mounted(url: str, table: str, **columns: Any) -> tuple[Flask, Any]:
    app = Flask("host")
    app.config["SQLALCHEMY_DATABASE_URI"] = url
    db = SQLAlchemy(app)
    account: Any = type("Member", (AccountMixin, db.Model), {"__tablename__": table, **columns})
    Frontdesk().init_app(app, db, settings=_MountedSettings(), account_model=account)
    app.register_blueprint(blueprints.auth, url_prefix="/api")
    return app, account


# Each with the names of the branches to upgrade, in order.
APPLICATIONS: dict[str, tuple[Callable[[str, Path], Flask], tuple[str, ...]]] = {
    "service": (service, ("head",)),
    "uuid_ids": (uuid_ids, ("head",)),
    "own_location": (own_location, ("0001_members", "heads")),
}


def upgrade(name: str, url: str, folder: Path, *targets: str) -> Flask:
    """Upgrade the database of an application, by default to its newest migrations."""
    make, usual = APPLICATIONS[name]
    app = make(url, folder)
    for target in targets or usual:
        result = app.test_cli_runner().invoke(args=["db", "upgrade", target])
        assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
    with app.app_context():
        app.extensions["sqlalchemy"].engine.dispose()
    return app


def dump(url: str) -> str:
    """Return the SQL that creates the database's schema, and its rows in alembic_version."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            lines = connection.iterdump()
            return "\n".join(line for line in lines if "sqlite_sequence" not in line)
    where = url.replace("+psycopg", "")
    command = ["pg_dump", "--no-owner", "--no-privileges", "--dbname", where]
    rows = ["--data-only", "--inserts", "--table=alembic_version"]
    texts = [
        subprocess.run([*command, *options], capture_output=True, text=True, check=True).stdout
        for options in (["--schema-only"], rows)
    ]
    # Settings of the session, comments, and meta-commands of newer versions of psql.
    return re.sub(
        r"^(?:(?:SET|SELECT pg_catalog|--|\\).*)?\n", "", "".join(texts), flags=re.MULTILINE
    )


def restore(text: str, url: str) -> None:
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            connection.executescript(text)
        return
    with psycopg.connect(url.replace("+psycopg", "")) as server:
        server.execute(text.encode())


def write(folder: Path) -> None:
    for name in APPLICATIONS:
        with TemporaryDirectory() as temporary:
            url = f"sqlite:///{temporary}/{name}.db"
            upgrade(name, url, Path(temporary) / "own")
            (folder / f"{name}.sqlite.sql").write_text(dump(url) + "\n")
            database = f"frontdesk_dump_{os.getpid()}"
            with psycopg.connect(SERVER, autocommit=True) as server:
                server.execute(f"CREATE DATABASE {database}")
                try:
                    made = make_url(SERVER).set(drivername="postgresql+psycopg", database=database)
                    url = made.render_as_string(hide_password=False)
                    shutil.rmtree(Path(temporary) / "own", ignore_errors=True)
                    upgrade(name, url, Path(temporary) / "own")
                    (folder / f"{name}.postgresql.sql").write_text(dump(url))
                finally:
                    server.execute(f"DROP DATABASE {database} WITH (FORCE)")


if __name__ == "__main__":
    write(Path(sys.argv[1]).resolve())

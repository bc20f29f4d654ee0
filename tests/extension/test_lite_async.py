"""Flask-SQLAlchemy-Lite with `flask[async]`: closing its sessions needs an executor."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ..rigs.servers import checkout_environment

SCRIPT = """
import time
from flask import Flask
from flask_sqlalchemy_lite import SQLAlchemy
from sqlalchemy.orm import DeclarativeBase
from app import AccountMixin, Frontdesk

class Model(DeclarativeBase):
    pass

class Reader(AccountMixin, Model):
    __tablename__ = "readers"

app = Flask("once", instance_path=FOLDER)
app.config["SECRET_KEY"] = "a key of the application, long enough for it"
app.config["SQLALCHEMY_ENGINES"] = {"default": f"sqlite:///{FOLDER}/once.db"}
db, frontdesk = SQLAlchemy(app), Frontdesk()
frontdesk.init_app(app, db, account_model=Reader)
with app.app_context():
    Model.metadata.create_all(db.engine)
    ada = frontdesk.accounts.create("ada@example.com", None)
    frontdesk.notify("Borrowed", "Middlemarch", channels=["inapp", "email"], receivers=[ada])
    app.test_client().get("/")
time.sleep(SECONDS)
print("done")
"""


@pytest.mark.parametrize("seconds", [0.0, 0.6, 1.1])
def test_a_process_with_delivery_threads_ends_without_traceback(
    seconds: float, tmp_path: Path
) -> None:
    script = f"FOLDER, SECONDS = {str(tmp_path)!r}, {seconds}\n{SCRIPT}"
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env=checkout_environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ended.returncode, ended.stdout) == (0, "done\n"), ended.stderr
    assert "Traceback" not in ended.stderr
    assert "cannot schedule" not in ended.stderr

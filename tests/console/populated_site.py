"""A service with data that all read-only tests of a file share."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app import Parts, create_app
from app.core.config.environment import load
from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox
from config import Settings

from ..conftest import SECRET, close_connections
from ..rigs.backends import free_port
from ..rigs.console.site import FEATURES, Site, serve
from ..rigs.manual_engine import ManualEngine
from ..rigs.oidc.fake_fixtures import client_of


@contextmanager
def populated_site(migrated: Path, folder: Path) -> Iterator[Site]:
    database, port = folder / "frontdesk.db", free_port()
    host = f"http://localhost:{port}"
    shutil.copy(migrated, database)
    environment = {
        **FEATURES,
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": f"sqlite:///{database}",
        "CORE__LOG_LEVEL": "ERROR",
        "CORE__CLIENT_HOST": host,
        "CORE__PUBLIC_URL": host,
        "AUTH__PROVIDERS": json.dumps({"github": client_of("github")}),
        "AUTH__BCRYPT_ROUNDS": "4",
        "PROFILES__AVATAR_FOLDER": str(folder / "avatars"),
    }
    mails, clock, engine = MailOutbox(), SteppingClock(), ManualEngine()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in environment.items():
            patch.setenv(name, value)
        parts = Parts(clock=clock, one_off_mail=mails, engine=engine)
        app = create_app(load(Settings), parts=parts)
    app.testing = True
    with serve(app, port, mails, clock, engine) as site:
        yield site
    close_connections(app)

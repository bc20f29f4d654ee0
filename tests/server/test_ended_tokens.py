"""A token that one worker or a command ends is rejected by all workers from the next request on,
also while programs use it without a break."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.accounts.service import Accounts
from app.core.context import current_frontdesk, service
from app.core.db.transaction import transaction
from app.testing.client import Api
from app.testing.outbox import MailOutbox

from ..auth.test_recovery import NEW, ask
from ..cli.test_command_line import run
from ..conftest import PASSWORD, SECRET, Backend, MakeApp, MakePerson, Person, only_on
from ..rigs.cases import new_name
from ..rigs.servers import gunicorn_server
from ..rigs.token_uses import Uses, end_while_used
from ..rigs.workers import connections

WORKERS = 4
# Of each end.
ROUNDS = int(os.environ.get("FRONTDESK_TEST_ROUNDS", "1"))
SETTINGS = {
    "AUTH__PERSONAL_TOKENS": "on",
    "AUTH__PERSONAL_TOKEN_LIMIT": "100000",
    "AUTH__ACCOUNT_DELETION": "on",
    "WORKSPACES__ADDING": "direct",
}
PREFIX = "/api/v1"
# Kinds of tokens.
OF_ACCOUNT, LIMITED, OF_WORKSPACE = "personal", "limited to a workspace", "of a workspace"


@dataclass
class Round:
    """Ada, whose token is used, and Root, who owns the workspace."""

    app: Flask
    mails: MailOutbox
    port: int
    root: Person
    ada: Person
    team: str
    token: dict[str, Any] = field(default_factory=dict)

    def create_token(self, kind: str) -> str:
        """Create a token, and return the path that programs request with it."""
        self.send(self.root, "POST", "/workspaces", slug=self.team, name=self.team)
        member = {"email": self.ada.email, "type": "member"}
        self.send(self.root, "POST", f"/workspaces/{self.team}/members", **member)
        body: dict[str, Any] = {"name": "Backup", "scopes": ["account:read", "workspaces:read"]}
        path, of_workspace = "/personal-tokens", f"/workspaces/{self.team}"
        if kind == LIMITED:
            body["workspace"] = self.team
        if kind == OF_WORKSPACE:
            path, body["type"] = f"{of_workspace}/tokens", "admin"
        creator = self.root if kind == OF_WORKSPACE else self.ada
        self.token = self.send(creator, "POST", path, **body)
        return "/account" if kind == OF_ACCOUNT else of_workspace

    def send(self, person: Person | None, method: str, path: str, **body: Any) -> Any:
        """Send a request to the server, and return the JSON of a successful response."""
        headers = {"Content-Type": "application/json"}
        if person is not None:
            headers["Authorization"] = f"Bearer {person.token()}"
        sent = json.dumps(body) if body else None
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request(method, PREFIX + path, sent, headers)
            response = connection.getresponse()
            text = response.read().decode()
        assert response.status < 300, f"{method} {path}: {response.status} {text}"
        return json.loads(text)

    def reset_password(self) -> None:
        token, _ = ask(Api(self.app), self.mails, self.ada.email)
        body = {"token": token, "email": self.ada.email, "new_password": NEW}
        self.send(None, "POST", "/reset-password", **body)

    def reclaim(self) -> None:
        with self.app.app_context(), transaction(current_frontdesk.session):
            service(Accounts).reclaim(service(Accounts).get(self.ada.email))

    def run(self, *command: str) -> None:
        run(self.app, *command)


def by(who: str, method: str, path: str, **body: Any) -> Callable[[Round], object]:
    """Return an end by a request of Ada or Root."""

    def end(ending: Round) -> object:
        values = {"ada": ending.ada.id, "token": ending.token["id"], "team": ending.team}
        person = ending.ada if who == "ada" else ending.root
        return ending.send(person, method, path.format_map(values), **body)

    return end


def command(*words: str) -> Callable[[Round], object]:
    return lambda ending: ending.run(*(each.format(ada=ending.ada.email) for each in words))


MANAGED = "/admin/accounts/{ada}"
Ends = dict[str, Callable[[Round], object]]
ENDS: dict[str, Ends] = {
    OF_ACCOUNT: {
        "by its owner": by("ada", "DELETE", "/personal-tokens/{token}"),
        "by its owner, with all": by("ada", "DELETE", "/personal-tokens"),
        "by a root": by("root", "DELETE", MANAGED + "/personal-tokens/{token}"),
        "by a root, with all": by("root", "DELETE", MANAGED + "/personal-tokens"),
        "password reset": Round.reset_password,
        "sign-out by an admin": by("root", "POST", MANAGED + "/sign-out"),
        "sign-out by command": command("accounts", "sign-out", "{ada}"),
        "sign-out of everybody": command("accounts", "sign-out", "--all"),
        "suspension by an admin": by("root", "PATCH", MANAGED, status="suspended"),
        "suspension by command": command("accounts", "set", "{ada}", "--status", "suspended"),
        "deletion by the owner": by("ada", "DELETE", "/account", password=PASSWORD),
        "deletion by an admin": by("root", "DELETE", MANAGED),
        "deletion by command": command("accounts", "delete", "{ada}"),
        "reclaim": Round.reclaim,
    },
    LIMITED: {
        "removal of the member": by("root", "DELETE", "/workspaces/{team}/members/{ada}"),
        "departure of the member": by("ada", "DELETE", "/workspaces/{team}/members/{ada}"),
        "deletion of the workspace": by("root", "DELETE", "/workspaces/{team}?confirm={team}"),
    },
    OF_WORKSPACE: {
        "by an owner": by("root", "DELETE", "/workspaces/{team}/tokens/{token}"),
        "deletion of the workspace": by("root", "DELETE", "/workspaces/{team}?confirm={team}"),
    },
}


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**SETTINGS)


@dataclass
class Programs:
    """A connection to each worker of a server, and as many more."""

    port: int
    connections: list[HTTPConnection]


@pytest.fixture
def programs(app: Flask, backend: Backend, tmp_path: Path) -> Iterator[Programs]:
    settings = {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": backend.database_url,
        "CORE__REDIS_URL": backend.redis_url or "",
        "AUTH__BCRYPT_ROUNDS": "4",
        "WEB_CONCURRENCY": str(WORKERS),
        **SETTINGS,
    }
    probe = f"{PREFIX}/health"
    with (
        gunicorn_server(settings, tmp_path / "log", "--keep-alive", "60") as server,
        connections(server, probe, WORKERS) as first,
        ExitStack() as opened,
    ):
        more = [HTTPConnection("127.0.0.1", server.port, timeout=30) for _ in first]
        for each in more:
            opened.enter_context(closing(each))
        yield Programs(server.port, first + more)


@only_on("postgresql")
def test_no_worker_accepts_a_token_after_its_end(
    app: Flask, mails: MailOutbox, person: MakePerson, programs: Programs, subtests: pytest.Subtests
) -> None:
    all_uses = Uses()
    ends = [(kind, name, end) for kind in ENDS for name, end in ENDS[kind].items()]
    for number in range(ROUNDS):
        # An account creates only some workspaces a day.
        root = person(new_name("root"), role="root")
        for kind, name, end in ends:
            with subtests.test(kind, end=name, round=number):
                ada, team = person(new_name("ada")), new_name("team")
                ending = Round(app, mails, programs.port, root, ada, team)
                path = PREFIX + ending.create_token(kind)
                uses = end_while_used(
                    programs.connections, path, ending.token["token"], partial(end, ending)
                )
                assert uses.after.keys() == {401}
                # The workspace or the membership may end between the two queries of a request.
                assert uses.before.keys() <= {200, 401, 403, 404}
                all_uses += uses
    # With `-rP`, for measurements.
    print(f"{ROUNDS} rounds of {len(ends)} ends: {all_uses}")

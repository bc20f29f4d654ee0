"""Tokens that are created or used while something ends them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from flask import Flask

from app.accounts.service import Accounts
from app.core.context import service
from app.testing.client import Api

from ..conftest import MakePerson, Person
from ..rigs.racing import request, run_concurrently
from .conftest import MakeToken, Program

PATH = "/personal-tokens"
BODY: dict[str, Any] = {"name": "Backup", "scopes": ["account:read"]}
ROUNDS = 5


def test_token_that_is_created_during_a_suspension_does_not_survive(
    app: Flask, ada: Person, program: Program
) -> None:
    for _ in range(ROUNDS):
        api = ada.api()
        created: list[str] = []

        def create(api: Api = api, created: list[str] = created) -> int:
            headers = {"Authorization": f"Bearer {api.token}"}
            answer = app.test_client().post(api.prefix + PATH, json=BODY, headers=headers)
            if answer.status_code == 201:
                created.append((answer.json or {})["token"])
            return answer.status_code

        def suspend() -> int:
            # As the command does, which has not locked the account before.
            with app.app_context():
                accounts = service(Accounts)
                accounts.change(accounts.get(ada.email), status="suspended")
            return 0

        _, status = run_concurrently(create, suspend)
        assert status in (201, 401)
        ada.change(status="active")
        for token in created:
            api.as_token(token).get("/account", 401)


def test_membership_that_ends_during_the_creation_binds_no_token(
    ada: Person, person: MakePerson
) -> None:
    olga = person("olga").api()
    olga.post("/workspaces", json={"slug": "team", "name": "Team"})
    for _ in range(ROUNDS):
        olga.post("/workspaces/team/members", json={"email": ada.email, "type": "member"})
        api = ada.api()
        removed, created = run_concurrently(
            request(olga, "DELETE", f"/workspaces/team/members/{ada.id}"),
            request(api, "POST", PATH, json={**BODY, "workspace": "team"}),
        )
        assert (removed, created) in ((200, 201), (200, 422))
        assert api.get(PATH).json == []


def test_no_request_is_accepted_after_the_end(ada: Person, make_token: MakeToken) -> None:
    api = ada.api()
    for _ in range(ROUNDS):
        created = make_token(ada)
        token = api.as_token(created["token"])
        with ThreadPoolExecutor(4) as threads:
            uses = [threads.submit(request(token, "GET", "/account")) for _ in range(8)]
            api.delete(f"{PATH}/{created['id']}")
            token.get("/account", 401)
        assert {each.result() for each in uses} <= {200, 401}


def test_simultaneous_ends_end_a_token_once(ada: Person, make_token: MakeToken) -> None:
    path = f"{PATH}/{make_token(ada)['id']}"
    assert run_concurrently(*[request(ada.api(), "DELETE", path) for _ in range(4)]) == [
        200,
        404,
        404,
        404,
    ]

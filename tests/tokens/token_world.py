"""An account with tokens of each kind, for the matrix of routes and tokens."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from flask import Flask

from app.auth.scopes import SCOPES
from app.testing.clock import SteppingClock
from app.testing.people import Person

from ..conftest import MakePerson
from ..profiles.test_profiles import ADA
from .conftest import MakeToken
from .scoped_routes import ROUTES


class World:
    """Olga with her tokens, and Pat, who can end them."""

    def __init__(self, app: Flask, person: MakePerson, make: MakeToken, clock: SteppingClock):
        self.app, self.clock, self._make = app, clock, make
        self.olga = person("olga", role="root")
        self.pat, mia, _ = person("pat", role="root"), person("mia"), person("grace")
        self._tokens: dict[tuple[str, ...], str] = {}
        self._add_data(mia)

    def _add_data(self, mia: Person) -> None:
        olga = self.olga.api()
        for slug in ("secret", "other"):
            olga.post("/workspaces", json={"name": slug, "slug": slug})
            for each, kind in ((self.pat, "owner"), (mia, "member")):
                member = {"email": each.email, "type": kind}
                olga.post(f"/workspaces/{slug}/members", json=member)
        for api in (olga, mia.api()):
            api.post("/profiles", json=ADA)
        invited = {"emails": ["guest@example.com"]}
        olga.post("/workspaces/secret/invitations", 201, json=invited)
        data = {"title": "Hush", "message": "Only for Olga.", "channels": ["inapp"]}
        query = {"account_receiver_ids": [self.olga.id]}
        olga.post("/admin/notifications", 201, json={"data": data}, query_string=query)
        # Until an invitation can be sent again.
        self.clock.step(hours=1)

    def token(self, *scopes: str, workspace: str | None = None, days: int = 90) -> str:
        """Return a token with these scopes, or with all."""
        key = (*scopes, workspace or "", str(days))
        if key not in self._tokens:
            created = self._make(self.olga, *scopes or SCOPES, workspace=workspace, days=days)
            self._tokens[key] = str(created["token"])
        return self._tokens[key]

    def token_of(self, workspace: str, kind: str = "admin", days: int = 90) -> str:
        """Return a token of a workspace with all scopes."""
        key = (workspace, kind, str(days))
        if key not in self._tokens:
            body = {"name": "Sync", "scopes": [*SCOPES], "type": kind, "days": days}
            created = self.pat.api().post(f"/workspaces/{workspace}/tokens", 201, json=body).json
            self._tokens[key] = str(created["token"])
        return self._tokens[key]

    def expire(self) -> None:
        for create in (self.token, partial(self.token_of, "secret")):
            create(days=1)
        self.clock.step(days=1)

    def end(self) -> None:
        self.token(days=2)
        self.token_of("secret", days=2)
        for owner, path in (
            (self.olga, "/personal-tokens"),
            (self.pat, "/workspaces/secret/tokens"),
        ):
            api = owner.api()
            api.delete(f"{path}/{api.get(path).json[0]['id']}")

    def demote(self) -> None:
        self.token()
        self.olga.change(role="user")
        for slug in ("secret", "other"):
            path = f"/workspaces/{slug}/members/{self.olga.id}"
            self.pat.api().patch(path, json={"type": "member"})

    def change_status(self, status: str) -> None:
        self.token()
        self.olga.change(status=status)


def choose_token(world: World, caller: str, route: str) -> str:
    """Return the token that the caller sends to a route."""
    named = ROUTES[route].scope if route in ROUTES else None
    match caller:
        case "all scopes but that of the route":
            return world.token(*(each for each in SCOPES if each != named))
        case "only the scope of the route":
            return world.token(*([named] if named else SCOPES))
        case "bound to another workspace":
            return world.token(workspace="other")
        case "bound to the workspace in the path":
            return world.token(workspace="secret")
        case "of the workspace, as an admin":
            return world.token_of("secret")
        case "of the workspace, as a member":
            return world.token_of("secret", "member")
        case "of another workspace, as an admin":
            return world.token_of("other")
        case "expired":
            return world.token(days=1)
        case "ended":
            return world.token(days=2)
        case "expired, of the workspace":
            return world.token_of("secret", days=1)
        case "ended, of the workspace":
            return world.token_of("secret", days=2)
    return world.token()


PREPARE: dict[str, Callable[[World], object]] = {
    "expired": World.expire,
    "ended": World.end,
    "of an account that is now a user and a member": World.demote,
    "of an inactive account": lambda world: world.change_status("inactive"),
    "of a suspended account": lambda world: world.change_status("suspended"),
}

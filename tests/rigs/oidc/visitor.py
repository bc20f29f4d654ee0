"""A person with a browser who signs in to the service through the provider."""

from __future__ import annotations

from typing import Any, Protocol

from app.testing.client import Answer, Api

from .browser import Browser

REDIRECT_URI = "http://localhost:3000/signed-in"
OTHER_REDIRECT_URI = "https://app.example.com/signed-in"
# Of the console, where it is served as tests ask it.
PAGE_REDIRECT_URI = "https://localhost/sign-in/provider/callback"

Query = dict[str, str]


class SignsIn(Protocol):
    def sign_in(self, authorize_url: str, login: str, redirect_uri: str) -> Query:
        """Do at the provider what a person does, and come back with what it puts into the URL."""


class Visitor:
    """Each step of a sign-in, so that a test may stop, or do something else, between them."""

    def __init__(self, api: Api, browser: SignsIn | None = None) -> None:
        self.api = api
        self.browser = browser or Browser()

    def begin(self, redirect_uri: str = REDIRECT_URI) -> str:
        """Click on "sign in"; the provider's page that this leads to."""
        answer = self.api.get("/idp/login", 302, query_string={"redirect_uri": redirect_uri})
        return str(answer.headers["Location"])

    def go(self, login: str = "ada", redirect_uri: str = REDIRECT_URI) -> Query:
        """Begin, sign in at the provider, and be led back with a code and a state."""
        return self.browser.sign_in(self.begin(redirect_uri), login, redirect_uri)

    def finish(self, back: Query, status: int = 200, **changes: Any) -> Answer:
        """Hand in what the provider led back with."""
        body = {"code": back["code"], "state": back["state"], "redirect_uri": REDIRECT_URI}
        body |= {"auth_data": {}} | changes
        return self.api.post("/idp/callback", status, json=body)

    def sign_in(self, login: str = "ada", status: int = 200, **changes: Any) -> Answer:
        return self.finish(self.go(login), status, **changes)

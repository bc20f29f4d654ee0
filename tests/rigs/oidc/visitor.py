"""A user with a browser who signs in to the service through the provider."""

from __future__ import annotations

from typing import Any, Protocol

from app.testing.client import Answer, Api

from .browser import Browser

REDIRECT_URI = "http://localhost:3000/signed-in"
OTHER_REDIRECT_URI = "https://app.example.com/signed-in"
# The console's redirect URI.
PAGE_REDIRECT_URI = "https://localhost/sign-in/provider/callback"

Query = dict[str, str]


class ProviderBrowser(Protocol):
    def sign_in(self, authorize_url: str, login: str, redirect_uri: str) -> Query:
        """Sign in at the provider and return the query of the redirect."""


class Visitor:
    """The steps of a sign-in, so that a test can stop between them."""

    def __init__(self, api: Api, browser: ProviderBrowser | None = None) -> None:
        self.api = api
        self.browser = browser or Browser()

    def begin(self, redirect_uri: str = REDIRECT_URI) -> str:
        """Start a sign-in and return the URL of the provider's page."""
        answer = self.api.get("/idp/login", 302, query_string={"redirect_uri": redirect_uri})
        return str(answer.headers["Location"])

    def go(self, login: str = "ada", redirect_uri: str = REDIRECT_URI) -> Query:
        """Start, sign in at the provider, and return the redirect's code and state."""
        return self.browser.sign_in(self.begin(redirect_uri), login, redirect_uri)

    def finish(self, redirect: Query, status: int = 200, **changes: Any) -> Answer:
        """Send the redirect's code and state to the service."""
        body = {"code": redirect["code"], "state": redirect["state"], "redirect_uri": REDIRECT_URI}
        body |= {"auth_data": {}} | changes
        return self.api.post("/idp/callback", status, json=body)

    def sign_in(self, login: str = "ada", status: int = 200, **changes: Any) -> Answer:
        return self.finish(self.go(login), status, **changes)

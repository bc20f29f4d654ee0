"""A browser for the provider's pages: follows redirects, fills in forms, stores cookies."""

from html.parser import HTMLParser
from urllib.parse import parse_qs, urljoin, urlsplit

import requests

MAX_STEPS = 20


class Browser:
    """Signs in at a provider and returns the query of the redirect."""

    def __init__(self) -> None:
        self._web = requests.Session()
        # Without the machine's proxies and .netrc, which requests would read each time.
        self._web.trust_env = False
        # The number of forms that the user has filled in.
        self.forms = 0

    def sign_in(self, authorize_url: str, login: str, redirect_uri: str) -> dict[str, str]:
        """Submit every page until the provider redirects to `redirect_uri`."""
        response = self._get(authorize_url)
        for _ in range(MAX_STEPS):
            if response.is_redirect:
                location = urljoin(response.url, response.headers["Location"])
                if location.startswith(redirect_uri):
                    return query_of(location)
                response = self._get(location)
            else:
                response = self._fill_in(response, login)
        raise AssertionError(f"the provider did not redirect to {redirect_uri}")

    def sign_out(self, logout_url: str) -> str:
        """Confirm the sign-out on the provider's page, and return the address of the redirect."""
        page = self._get(logout_url)
        form = _Form(page.text)
        url = urljoin(page.url, form.action)
        # The button "Yes".
        fields = {**form.fields, "logout": "yes"}
        response = self._web.post(url, data=fields, allow_redirects=False, timeout=10)
        assert response.is_redirect, f"{response.status_code}: {response.text[:500]}"
        return urljoin(response.url, response.headers["Location"])

    def _get(self, url: str) -> requests.Response:
        return self._web.get(url, allow_redirects=False, timeout=10)

    def _fill_in(self, page: requests.Response, login: str) -> requests.Response:
        form = _Form(page.text)
        assert form.action, (
            f"no form on the provider's page ({page.status_code}): {page.text[:500]}"
        )
        fields = form.fields | {
            name: login for name in ("login", "password") if name in form.fields
        }
        url = urljoin(page.url, form.action)
        self.forms += 1
        return self._web.post(url, data=fields, allow_redirects=False, timeout=10)


def query_of(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


class _Form(HTMLParser):
    """The action and the fields of the form on a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.action = ""
        self.fields: dict[str, str] = {}
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.action = attributes["action"]
        if tag == "input" and "name" in attributes:
            self.fields[attributes["name"]] = attributes.get("value", "")

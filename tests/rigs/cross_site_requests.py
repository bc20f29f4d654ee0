"""Pages of other sites that send requests on behalf of their visitor (CSRF)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

BUY, ACCOUNT, SESSION, LOGOUT = "/buy", "/account", "/session", "/logout"
JSON = "application/json"

# The page shows in its title what its script could read.
_SHOW_RESULT = ".then(a => a.text()).then(t => document.title = t, e => document.title = 'blocked')"
Received = tuple[str, bool, int]


@dataclass(frozen=True)
class CrossSiteRequest:
    name: str
    # The site that serves the page.
    site: str
    # Placeholders: `{to}`, the URL of the request, and `{site}`, the origin of the page.
    body: str
    # What the service receives: the method, whether with a cookie, and the response's status.
    received: list[Received]
    to: str = BUY
    clicked: bool = False

    @property
    def path(self) -> str:
        return "-".join(re.findall("[a-z]+", self.name))

    @property
    def shows_result(self) -> bool:
        """Return whether the title changes when the request is done."""
        return self.body.startswith("<script>fetch(")

    def page(self, service: str, site: str) -> str:
        to = f"{service}/api/v1{self.to}?page={quote(self.name)}"
        filled = self.body.replace("{to}", to).replace("{site}", site)
        filled = filled.replace("{quoted}", quote(to, safe=""))
        return f"<!doctype html><title>nothing</title><body>{filled}</body>"


def fetch_script(method: str, mode: str, kind: str = "text/plain", body: str = "'{}'") -> str:
    sent = "" if method == "GET" else f"body: {body}, headers: {{'Content-Type': '{kind}'}},"
    return (
        f"<script>fetch('{{to}}', {{method: '{method}', mode: '{mode}', {sent}"
        f" credentials: 'include'}}){_SHOW_RESULT}</script>"
    )


def form(more: str = "", fields: str = "<input name=amount value=1>", frame: str = "") -> str:
    return (
        f"{frame}<form id=f method=post action='{{to}}' {more}>{fields}</form>"
        "<script>document.getElementById('f').submit()</script>"
    )


# A form can send JSON as text/plain.
JSON_FIELD = (
    """<input name='{"email":"mallory@example.com","password":"correct horse battery","a":"'"""
    """ value='"}'>"""
)
FRAME = "<iframe name=inner></iframe>"
BEACON = "<script>navigator.sendBeacon('{to}', new Blob(['{}'], {type: 'text/plain'}))</script>"


def sandboxed_frame(inner: str, allow: str = "allow-scripts allow-forms") -> str:
    escaped = inner.replace("&", "&amp;").replace('"', "&quot;")
    return f'<iframe sandbox="{allow}" srcdoc="{escaped}"></iframe>'


def data_url_frame(inner: str) -> str:
    """Return a script that adds a frame with a `data:` URL."""
    text = inner.replace("</", "<\\/").replace("`", "\\`")
    return (
        "<script>const f = document.createElement('iframe');"
        f"f.src = 'data:text/html,' + encodeURIComponent(`{text}`);"
        "document.body.append(f)</script>"
    )


# Browsers send a SameSite=Lax cookie with requests from a sibling domain, but not from another
# site. Only Sec-Fetch-Site and Origin distinguish a sibling's requests from the service's.
WITHOUT_COOKIE: list[Received] = [("POST", False, 401)]
WITH_COOKIE: list[Received] = [("POST", True, 403)]
PREFLIGHT_ONLY: list[Received] = [("OPTIONS", False, 200)]

REQUESTS = [
    CrossSiteRequest(
        "another site: simple fetch", "evil", fetch_script("POST", "no-cors"), WITHOUT_COOKIE
    ),
    CrossSiteRequest(
        "another site: json fetch", "evil", fetch_script("POST", "cors", JSON), PREFLIGHT_ONLY
    ),
    CrossSiteRequest("another site: put", "evil", fetch_script("PUT", "cors"), PREFLIGHT_ONLY),
    CrossSiteRequest(
        "another site: patch", "evil", fetch_script("PATCH", "cors", JSON), PREFLIGHT_ONLY, ACCOUNT
    ),
    CrossSiteRequest(
        "another site: delete", "evil", fetch_script("DELETE", "cors"), PREFLIGHT_ONLY, LOGOUT
    ),
    CrossSiteRequest("another site: form", "evil", form(), WITHOUT_COOKIE),
    CrossSiteRequest(
        "another site: form into a frame", "evil", form("target=inner", frame=FRAME), WITHOUT_COOKIE
    ),
    CrossSiteRequest(
        "another site: form into a window",
        "evil",
        "<form method=post action='{to}' target=_blank><button>Win</button></form>",
        WITHOUT_COOKIE,
        clicked=True,
    ),
    CrossSiteRequest("another site: beacon", "evil", BEACON, WITHOUT_COOKIE),
    CrossSiteRequest(
        "another site: read", "evil", fetch_script("GET", "cors"), [("GET", False, 401)], ACCOUNT
    ),
    CrossSiteRequest(
        "another site: sandboxed form", "evil", sandboxed_frame(form()), WITHOUT_COOKIE
    ),
    CrossSiteRequest(
        "another site: data url",
        "evil",
        data_url_frame(fetch_script("POST", "no-cors")),
        WITHOUT_COOKIE,
    ),
    CrossSiteRequest(
        "another site: window to read",
        "evil",
        "<script>location = '{to}'</script>",
        [("GET", True, 200)],
        ACCOUNT,
    ),
    CrossSiteRequest(
        "another site: login form",
        "evil",
        form("enctype=text/plain", JSON_FIELD),
        [("POST", False, 403)],
        SESSION,
    ),
    CrossSiteRequest(
        "another site: login fetch",
        "evil",
        fetch_script("POST", "no-cors"),
        [("POST", False, 403)],
        SESSION,
    ),
    CrossSiteRequest(
        "neighbour: simple fetch", "neighbour", fetch_script("POST", "no-cors"), WITH_COOKIE
    ),
    CrossSiteRequest(
        "neighbour: json fetch", "neighbour", fetch_script("POST", "cors", JSON), PREFLIGHT_ONLY
    ),
    CrossSiteRequest(
        "neighbour: delete", "neighbour", fetch_script("DELETE", "cors"), PREFLIGHT_ONLY, SESSION
    ),
    CrossSiteRequest("neighbour: form", "neighbour", form(), WITH_COOKIE),
    CrossSiteRequest(
        "neighbour: form into a frame", "neighbour", form("target=inner", frame=FRAME), WITH_COOKIE
    ),
    CrossSiteRequest("neighbour: beacon", "neighbour", BEACON, WITH_COOKIE),
    CrossSiteRequest(
        "neighbour: form that hides its page",
        "neighbour",
        "<meta name=referrer content=no-referrer>" + form(),
        WITH_COOKIE,
    ),
    CrossSiteRequest(
        "neighbour: login form",
        "neighbour",
        form("enctype=text/plain", JSON_FIELD),
        WITH_COOKIE,
        SESSION,
    ),
    CrossSiteRequest(
        "neighbour: read", "neighbour", fetch_script("GET", "cors"), [("GET", True, 200)], ACCOUNT
    ),
    CrossSiteRequest(
        "neighbour: sandboxed form", "neighbour", sandboxed_frame(form()), WITHOUT_COOKIE
    ),
    CrossSiteRequest(
        "neighbour: redirect",
        "neighbour",
        "<form id=f method=post action='{site}/redirect?to={quoted}'></form>"
        "<script>document.getElementById('f').submit()</script>",
        WITH_COOKIE,
    ),
    CrossSiteRequest(
        "other port: simple fetch", "other port", fetch_script("POST", "no-cors"), WITH_COOKIE
    ),
    CrossSiteRequest("other port: form", "other port", form(), WITH_COOKIE),
    CrossSiteRequest(
        "without tls: simple fetch", "without tls", fetch_script("POST", "no-cors"), WITHOUT_COOKIE
    ),
    CrossSiteRequest("without tls: form", "without tls", form(), WITHOUT_COOKIE),
]

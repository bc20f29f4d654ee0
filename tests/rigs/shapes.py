"""The shapes in which another site's page sends requests in its visitor's name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

BUY, ACCOUNT, SESSION, LOGOUT = "/buy", "/account", "/session", "/logout"
JSON = "application/json"

# A page tells by its title what a script could read.
_TELL = ".then(a => a.text()).then(t => document.title = t, e => document.title = 'blocked')"
Way = tuple[str, bool, int]


@dataclass(frozen=True)
class Shape:
    name: str
    # Whose page it is.
    house: str
    # With `{to}` for where it sends to, `{shape}` for what it is called, and `{house}` for its own.
    body: str
    # What the desk sees of it: the method, whether the cookie came along, and the answer.
    seen: list[Way]
    to: str = BUY
    clicked: bool = False

    @property
    def path(self) -> str:
        return "-".join(re.findall("[a-z]+", self.name))

    @property
    def tells(self) -> bool:
        """By its title, once it has heard what became of it."""
        return self.body.startswith("<script>fetch(")

    def page(self, desk: str, house: str) -> str:
        to = f"{desk}/api/v1{self.to}?shape={quote(self.name)}"
        filled = self.body.replace("{to}", to).replace("{house}", house)
        filled = filled.replace("{quoted}", quote(to, safe=""))
        return f"<!doctype html><title>nothing</title><body>{filled}</body>"


def fetching(method: str, mode: str, kind: str = "text/plain", body: str = "'{}'") -> str:
    sent = "" if method == "GET" else f"body: {body}, headers: {{'Content-Type': '{kind}'}},"
    return (
        f"<script>fetch('{{to}}', {{method: '{method}', mode: '{mode}', {sent}"
        f" credentials: 'include'}}){_TELL}</script>"
    )


def form(more: str = "", fields: str = "<input name=amount value=1>", frame: str = "") -> str:
    return (
        f"{frame}<form id=f method=post action='{{to}}' {more}>{fields}</form>"
        "<script>document.getElementById('f').submit()</script>"
    )


# A form's text/plain can be made to look like JSON.
LIKE_JSON = (
    """<input name='{"email":"mallory@example.com","password":"correct horse battery","a":"'"""
    """ value='"}'>"""
)
FRAME = "<iframe name=inner></iframe>"
BEACON = "<script>navigator.sendBeacon('{to}', new Blob(['{}'], {type: 'text/plain'}))</script>"


def sandboxed(inner: str, allow: str = "allow-scripts allow-forms") -> str:
    escaped = inner.replace("&", "&amp;").replace('"', "&quot;")
    return f'<iframe sandbox="{allow}" srcdoc="{escaped}"></iframe>'


def data_url(inner: str) -> str:
    """Where it is filled in only after the address is known, by the page's own script."""
    text = inner.replace("</", "<\\/").replace("`", "\\`")
    return (
        "<script>const f = document.createElement('iframe');"
        f"f.src = 'data:text/html,' + encodeURIComponent(`{text}`);"
        "document.body.append(f)</script>"
    )


# Of another site the browser brings no cookie along, since it is SameSite=Lax; a neighbour's page
# has it sent, and only what the browser says of the page keeps that one out.
ALONE: list[Way] = [("POST", False, 401)]
WITH_COOKIE: list[Way] = [("POST", True, 403)]
ASKED_FIRST: list[Way] = [("OPTIONS", False, 200)]

SHAPES = [
    Shape("another site: simple fetch", "evil", fetching("POST", "no-cors"), ALONE),
    Shape("another site: json fetch", "evil", fetching("POST", "cors", JSON), ASKED_FIRST),
    Shape("another site: put", "evil", fetching("PUT", "cors"), ASKED_FIRST),
    Shape("another site: patch", "evil", fetching("PATCH", "cors", JSON), ASKED_FIRST, ACCOUNT),
    Shape("another site: delete", "evil", fetching("DELETE", "cors"), ASKED_FIRST, LOGOUT),
    Shape("another site: form", "evil", form(), ALONE),
    Shape("another site: form into a frame", "evil", form("target=inner", frame=FRAME), ALONE),
    Shape(
        "another site: form into a window",
        "evil",
        "<form method=post action='{to}' target=_blank><button>Win</button></form>",
        ALONE,
        clicked=True,
    ),
    Shape("another site: beacon", "evil", BEACON, ALONE),
    Shape("another site: read", "evil", fetching("GET", "cors"), [("GET", False, 401)], ACCOUNT),
    Shape("another site: sandboxed form", "evil", sandboxed(form()), ALONE),
    Shape("another site: data address", "evil", data_url(fetching("POST", "no-cors")), ALONE),
    Shape(
        "another site: window to read",
        "evil",
        "<script>location = '{to}'</script>",
        [("GET", True, 200)],
        ACCOUNT,
    ),
    Shape(
        "another site: login form",
        "evil",
        form("enctype=text/plain", LIKE_JSON),
        [("POST", False, 403)],
        SESSION,
    ),
    Shape(
        "another site: login fetch",
        "evil",
        fetching("POST", "no-cors"),
        [("POST", False, 403)],
        SESSION,
    ),
    Shape("neighbour: simple fetch", "neighbour", fetching("POST", "no-cors"), WITH_COOKIE),
    Shape("neighbour: json fetch", "neighbour", fetching("POST", "cors", JSON), ASKED_FIRST),
    Shape("neighbour: delete", "neighbour", fetching("DELETE", "cors"), ASKED_FIRST, SESSION),
    Shape("neighbour: form", "neighbour", form(), WITH_COOKIE),
    Shape(
        "neighbour: form into a frame", "neighbour", form("target=inner", frame=FRAME), WITH_COOKIE
    ),
    Shape("neighbour: beacon", "neighbour", BEACON, WITH_COOKIE),
    Shape(
        "neighbour: form that hides its page",
        "neighbour",
        "<meta name=referrer content=no-referrer>" + form(),
        WITH_COOKIE,
    ),
    Shape(
        "neighbour: login form",
        "neighbour",
        form("enctype=text/plain", LIKE_JSON),
        WITH_COOKIE,
        SESSION,
    ),
    Shape("neighbour: read", "neighbour", fetching("GET", "cors"), [("GET", True, 200)], ACCOUNT),
    Shape("neighbour: sandboxed form", "neighbour", sandboxed(form()), ALONE),
    Shape(
        "neighbour: led on",
        "neighbour",
        "<form id=f method=post action='{house}/lead-on?to={quoted}'></form>"
        "<script>document.getElementById('f').submit()</script>",
        WITH_COOKIE,
    ),
    Shape("other port: simple fetch", "other port", fetching("POST", "no-cors"), WITH_COOKIE),
    Shape("other port: form", "other port", form(), WITH_COOKIE),
    Shape("without tls: simple fetch", "without tls", fetching("POST", "no-cors"), ALONE),
    Shape("without tls: form", "without tls", form(), ALONE),
]

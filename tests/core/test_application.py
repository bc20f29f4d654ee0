"""What the service's Flask finds out once is what Flask itself would find out each time."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import pytest
from flask import Flask, Response, redirect, session
from werkzeug.exceptions import HTTPException
from werkzeug.test import EnvironBuilder

from app.core.web.answering import json_response
from app.core.web.application import Application

URLS = (
    ("http://h.example", "/"),
    ("http://H.Example:80", "/items/1"),
    ("http://h.example:8080", "/items/1?a=b&c=%C3%BC"),
    ("https://h.example:443", "//items/1"),
    ("https://[2001:db8::1]:8443", "/items/1/"),
    ("http://bücher.example", "/items/ü"),
    ("http://h.example", "/nothing"),
)


@pytest.fixture
def ours() -> Application:
    app: Application = filled(Application("ours"))
    return app


def filled(app: Any) -> Any:
    app.secret_key = "secret"
    app.add_url_rule("/items/<name>/", "item", lambda name: name)
    return app


def asked(app: Flask, environ: dict[str, Any]) -> object:
    """Everything that the two could read differently."""
    request = app.request_class(dict(environ))
    try:
        adapter = app.create_url_adapter(request)
    except HTTPException as error:
        return error.code
    assert adapter is not None
    found = {name: value for name, value in vars(adapter).items() if name != "map"}
    found["path_info"] = found["path_info"].lstrip("/")
    try:
        matched: object = adapter.match()
    except HTTPException as error:
        matched = error.code, getattr(error, "new_url", "")
    links = [adapter.build("item", {"name": "1"}, force_external=out) for out in (False, True)]
    return request.host, found, matched, links


@pytest.mark.parametrize("mount", ["", "/mounted", "/mounted/"])
@pytest.mark.parametrize(("host", "path"), URLS)
def test_a_request_is_matched_and_linked_as_by_flask(
    ours: Application, host: str, path: str, mount: str
) -> None:
    environ = EnvironBuilder(path, f"{host}/").get_environ() | {"SCRIPT_NAME": mount}
    for _ in range(2):
        assert asked(ours, environ) == asked(filled(Flask("theirs")), environ)


@pytest.mark.parametrize(
    "changed",
    [
        {"HTTP_HOST": ""},
        {"HTTP_HOST": "two words"},
        {"HTTP_HOST": "h.example:port"},
        {"HTTP_HOST": "h" * 64 + ".example"},
        {"HTTP_HOST": "h" * 300},
        {"HTTP_CONNECTION": "upgrade", "HTTP_UPGRADE": "websocket"},
        {"PATH_INFO": ""},
        {"REQUEST_METHOD": "POST"},
    ],
)
def test_what_is_odd_is_read_as_by_flask(ours: Application, changed: dict[str, str]) -> None:
    environ = EnvironBuilder("/items/1").get_environ() | changed
    assert asked(ours, environ) == asked(filled(Flask("theirs")), environ)
    del environ["HTTP_HOST"]
    assert asked(ours, environ) == asked(filled(Flask("theirs")), environ)


@pytest.mark.parametrize("name", ["SERVER_NAME", "TRUSTED_HOSTS"])
def test_hosts_that_are_named_are_flasks_business(ours: Application, name: str) -> None:
    theirs = filled(Flask("theirs"))
    for app in (ours, theirs):
        app.config[name] = "named.example" if name == "SERVER_NAME" else ["named.example"]
    for host in ("named.example", "other.example"):
        environ = EnvironBuilder("/items/1", f"http://{host}/").get_environ()
        assert asked(ours, environ) == asked(theirs, environ)


def test_functions_of_every_kind_are_called(ours: Application) -> None:
    class Callable:
        __hash__ = None  # type: ignore[assignment]

        def __call__(self) -> str:
            return "called"

        def method(self) -> str:
            return "called"

        async def later(self) -> str:
            return "called"

    async def later() -> str:
        return "called"

    thing = Callable()
    for function in (thing, thing.method, thing.later, later, partial(later), partial(thing)):
        for _ in range(2):
            assert ours.ensure_sync(function)() == "called"


def test_a_session_is_saved_where_something_was_done_with_it(ours: Application) -> None:
    @ours.get("/<deed>")
    def do(deed: str) -> str:
        if deed == "write":
            session["word"] = "kept"
        elif deed == "end":
            session.clear()
        return "" if deed == "leave" else str(session.get("word"))

    client = ours.test_client()
    assert "Set-Cookie" in client.get("/write").headers
    read = client.get("/read")
    assert (read.text, read.headers["Vary"]) == ("kept", "Cookie")
    assert "Set-Cookie" in client.get("/end").headers
    assert client.get("/read").text == "None"
    assert "Vary" not in client.get("/leave").headers


def test_an_answer_goes_out_as_flask_would_send_it(ours: Application) -> None:
    closed = []

    def answer(kind: str) -> Response:
        body = {"word": "ü"}
        if kind == "none":
            return json_response(None, 204)
        if kind == "moved":
            return json_response(body, 302, {"Location": "/bücher"})
        if kind == "elsewhere":
            return redirect("/bücher")  # type: ignore[return-value]
        made = json_response(body, headers={"ETag": '"tag"'})
        made.call_on_close(lambda: closed.append(kind))
        if kind == "text":
            made.set_data("ü")
        if kind == "parts":
            made.response = cast(Any, ["ü", b"-", "ü"])
            del made.headers["Content-Length"]
        return made

    ours.add_url_rule("/<kind>", view_func=lambda kind: answer(kind))
    client = ours.test_client()
    for kind in ("whole", "text", "parts", "none", "moved", "elsewhere"):
        for method in ("GET", "HEAD"):
            sent = client.open(f"/{kind}", method=method)
            with ours.test_request_context(f"/{kind}", method=method):
                theirs = Response.from_app(_plain(answer(kind)), {"REQUEST_METHOD": method})
            assert sent.status == theirs.status
            assert sorted(sent.headers) == sorted(theirs.headers)
            assert sent.get_data() == theirs.get_data()
            sent.close()
    assert set(closed) == {"whole", "text", "parts"}


def _plain(made: Response) -> Response:
    """The same, of Flask's own kind."""
    return Response(made.response, made.status, made.headers)

from __future__ import annotations

import re
import shlex
from argparse import ArgumentParser
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

from app.testing.clock import SteppingClock
from scripts.http_api import FOLDER, document, pages

from ..conftest import MakeApp, MakePerson, only_on
from ..core.test_state_file import FEATURES
from ..rigs.pictures import plain

CURL = re.compile(r"^```sh\n(curl .*?)^```$", re.MULTILINE | re.DOTALL)


def test_http_api_reference_is_current() -> None:
    written = {path.name: path.read_text() for path in FOLDER.glob("*.md")}
    assert written == pages(document()), "run `make api`"


@only_on("sqlite")
def test_curl_commands_of_the_reference_are_requests_that_the_operations_read(
    make_app: MakeApp, person: MakePerson, clock: SteppingClock
) -> None:
    app = make_app(**FEATURES, AUTH__PASSKEYS="on")
    urls = app.url_map.bind("localhost")
    commands = [each for page in FOLDER.glob("*.md") for each in CURL.findall(page.read_text())]
    operations = set()
    for number, command in enumerate(commands):
        # Commands end accounts and sessions, and wrong passwords count.
        clock.step(minutes=10)
        root = person(f"grace{number}", into=app, role="root")
        token = root.api().token
        assert token is not None
        request = request_of(command, token)
        endpoint, _ = urls.match(request["path"], method=request["method"])
        operations.add((request["method"], endpoint))
        response = app.test_client().open(**request)
        assert response.status_code not in (405, 415, 500), command
        if response.is_json and response.status_code == 400:
            assert response.json is not None
            assert response.json["code"] not in ("malformed_json", "unreadable_body"), command
    assert len(commands) == sum(map(len, document()["paths"].values())) > 120
    assert len(operations) > 80


def request_of(command: str, token: str) -> dict[str, Any]:
    """Return what curl would send, as arguments of Flask's test client."""
    variables = {"API": "http://localhost/api/v1", "SERVER": "http://localhost", "TOKEN": token}
    for name, value in variables.items():
        command = command.replace(f"${name}", value)
    command = command.replace("\\\n", " ")
    parser = ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("-X", dest="method")
    parser.add_argument("-H", dest="headers", action="append", default=[])
    parser.add_argument("-d", dest="data")
    parser.add_argument("-F", dest="files", action="append", default=[])
    parser.add_argument("--data-urlencode", dest="fields", action="append", default=[])
    parser.add_argument("--output")
    read = parser.parse_args(shlex.split(command)[1:])
    url = urlsplit(read.url)
    request: dict[str, Any] = {
        "path": url.path,
        "query_string": url.query,
        "headers": dict(header.split(": ", 1) for header in read.headers),
    }
    if read.data is not None:
        request["data"] = read.data.encode()
    elif read.files:
        names = (each.partition("=")[0] for each in read.files)
        request["data"] = {name: (BytesIO(plain("PNG")), "picture.png") for name in names}
    elif read.fields:
        request["data"] = dict(field.split("=", 1) for field in read.fields)
    request["method"] = read.method or ("POST" if "data" in request else "GET")
    return request

"""Malformed requests, and requests that two servers could parse differently."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ..conftest import SECRET, migrate
from ..rigs.servers import gunicorn

GET = b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\n"
JSON = b"Content-Type: application/json\r\n"
POST = b"POST /api/v1/tasks/ HTTP/1.1\r\nHost: x\r\nX-Owner: x\r\n" + JSON
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
TASK = b'{"title": "x"}'
SMUGGLED = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"

CORPUS = {
    # Request lines
    "no version": (b"GET /\r\n\r\n", 400),
    "HTTP/0.9": (b"GET / HTTP/0.9\r\n\r\n", 400),
    "HTTP/2 in plain": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "HTTP/1.11": (b"GET / HTTP/1.11\r\n\r\n", 400),
    "words": (b"hello there, general\r\n\r\n", 400),
    "one word": (b"hello\r\n\r\n", 400),
    "empty lines": (b"\r\n\r\n\r\n\r\n", 400),
    "spaces alone": (b"   \r\n\r\n", 400),
    "two spaces": (b"GET  / HTTP/1.1\r\n\r\n", 400),
    "a method in lower case": (b"get / HTTP/1.1\r\n\r\n", 400),
    "a method of signs": (b"G(T / HTTP/1.1\r\n\r\n", 400),
    "a method without end": (b"A" * 9000, 414),
    "a path without end": (b"GET /" + b"a" * 9000, 414),
    "a long path": (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n", 414),
    "a path with NUL": (b"GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    "a path of other bytes": (b"GET /\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    "a relative path": (b"GET api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    "a broken address": (b"GET http://[::1/ HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    "a star": (b"GET * HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    "a path of encoded NUL": (b"GET /%00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404),
    "a path of invalid escapes": (
        b"GET /%ff%zz% HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        404,
    ),
    "CONNECT": (b"CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n", 404),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 500, 408),
    "a carriage return alone": (b"GET / HTTP/1.1\rHost: x\r\r", 408),
    "half a request": (GET[:20], 408),
    "half a head": (GET, 408),
    # Fields
    "a bare LF": (b"GET / HTTP/1.1\nHost: x\n\n", 400),
    "a bare LF in a field": (GET + b"X-A: a\nX-B: b\r\n\r\n", 400),
    "a field on two lines": (GET + b"X-A: a\r\n b\r\n\r\n", 400),
    "a continuation line without a field": (b"GET / HTTP/1.1\r\n Host: x\r\n\r\n", 400),
    "a field without a colon": (GET + b"X-A\r\n\r\n", 400),
    "a field without a name": (GET + b": a\r\n\r\n", 400),
    "a space before the colon": (GET + b"X-A : a\r\n\r\n", 400),
    "a name of other bytes": (GET + b"X-\xe4: a\r\n\r\n", 400),
    "NUL in a value": (GET + b"X-A: a\x00b\r\n\r\n", 400),
    "two hosts": (GET + b"Host: y\r\n\r\n", 400),
    "a long field": (GET + b"X-A: " + b"a" * 9000 + b"\r\n\r\n", 431),
    "many fields": (GET + b"X-A: a\r\n" * 200 + b"\r\n", 431),
    "fields without end": (GET + b"X-A: aaaaaaaaaaaaaaaaaaaaaaaa\r\n" * 4000, 431),
    "another expectation": (POST + b"Expect: a-miracle\r\nContent-Length: 0\r\n\r\n", 417),
    # Where the body ends
    "a length and chunks": (
        POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
        400,
    ),
    "chunks and a length": (
        POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + SMUGGLED,
        400,
    ),
    "two lengths": (POST + b"Content-Length: 0\r\nContent-Length: 44\r\n\r\n" + SMUGGLED, 400),
    "the same length twice": (POST + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n", 400),
    "a list of lengths": (POST + b"Content-Length: 0, 44\r\n\r\n" + SMUGGLED, 400),
    "a negative length": (POST + b"Content-Length: -1\r\n\r\n" + SMUGGLED, 400),
    "a length with a sign": (POST + b"Content-Length: +14\r\n\r\n" + TASK, 400),
    "a length with an underscore": (POST + b"Content-Length: 1_4\r\n\r\n" + TASK, 400),
    "a length in hexadecimal": (POST + b"Content-Length: 0xe\r\n\r\n" + TASK, 400),
    "a length in superscript": (POST + b"Content-Length: \xb2\r\n\r\n{}", 400),
    "no length in the field": (POST + b"Content-Length:\r\n\r\n", 400),
    "a huge length": (POST + b"Content-Length: 99999999999\r\n\r\n" + TASK, 413),
    "a length of many digits": (POST + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", 400),
    "a body that never comes": (POST + b"Content-Length: 14\r\n\r\n{", 408),
    "chunks in HTTP/1.0": (
        CHUNKED.replace(b"HTTP/1.1", b"HTTP/1.0") + b"0\r\n\r\n" + SMUGGLED,
        400,
    ),
    "chunked twice": (CHUNKED[:-4] + b", chunked\r\n\r\n0\r\n\r\n" + SMUGGLED, 400),
    "chunked in two fields": (
        CHUNKED[:-2] + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
        400,
    ),
    "chunked, then not": (CHUNKED[:-4] + b", identity\r\n\r\n0\r\n\r\n" + SMUGGLED, 400),
    "an unknown coding": (POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + SMUGGLED, 400),
    "a coding after a vertical tab": (
        POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
        400,
    ),
    "a coding of another name": (POST + b"Transfer_Encoding: chunked\r\n\r\n", 422),
    # Chunks
    "a chunk of no size": (CHUNKED + b"\r\n" + SMUGGLED, 400),
    "a chunk size in words": (CHUNKED + b"zz\r\n{}\r\n0\r\n\r\n", 400),
    "a negative chunk size": (CHUNKED + b"-1\r\n{}\r\n0\r\n\r\n", 400),
    "a chunk size with a prefix": (CHUNKED + b"0xe\r\n" + TASK + b"\r\n0\r\n\r\n", 400),
    "a chunk size with an underscore": (CHUNKED + b"0_e\r\n" + TASK + b"\r\n0\r\n\r\n", 400),
    "a chunk size with a space": (CHUNKED + b" e\r\n" + TASK + b"\r\n0\r\n\r\n", 400),
    "a huge chunk": (CHUNKED + b"ffffffffffffffff\r\n" + TASK, 408),
    "a chunk size without end": (CHUNKED + b"0" * 100_000, 400),
    "a chunk longer than it says": (CHUNKED + b"2\r\n" + TASK + b"\r\n0\r\n\r\n", 400),
    "a chunk shorter than it says": (CHUNKED + b"ff\r\n" + TASK + b"\r\n0\r\n\r\n", 408),
    "a bare LF after a chunk size": (CHUNKED + b"e\n" + TASK + b"\r\n0\r\n\r\n", 400),
    "an extension without end": (CHUNKED + b"e;" + b"a" * 100_000, 400),
    "an extension with a return": (CHUNKED + b"e;a\rb\r\n" + TASK + b"\r\n0\r\n\r\n", 400),
    "a length in the trailers": (
        CHUNKED + b"e\r\n" + TASK + b"\r\n0\r\nContent-Length: 5\r\n\r\n",
        400,
    ),
    "trailers without end": (
        CHUNKED + b"e\r\n" + TASK + b"\r\n0\r\n" + b"X-A: aaaaaaaaaaaaaaaaaa\r\n" * 4000,
        400,
    ),
    "chunks for a route without a body": (
        GET + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        200,
    ),
}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("raw") / "log"


@pytest.fixture(scope="module")
def port(log: Path) -> Iterator[int]:
    url = f"sqlite:///{log.parent / 'frontdesk.db'}"
    migrate(url)
    with gunicorn({"SECRET_KEY": SECRET, "CORE__DATABASE_URL": url}, log) as port:
        yield port


@pytest.fixture(scope="module")
def responses(port: int) -> dict[str, bytes]:
    """Send all requests at once, because incomplete requests last until their timeout."""

    def response(sent: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            connection.sendall(sent)
            return connection.makefile("rb").read()

    with ThreadPoolExecutor(len(CORPUS)) as pool:
        received = pool.map(response, [sent for sent, _ in CORPUS.values()])
        return dict(zip(CORPUS, received, strict=True))


@pytest.mark.parametrize("name", CORPUS)
def test_malformed_request_is_rejected_once_with_a_problem_document(
    name: str, responses: dict[str, bytes]
) -> None:
    assert responses[name].count(b"HTTP/1.1 ") == 1
    head, _, body = responses[name].partition(b"\r\n\r\n")
    line, *fields = head.decode("latin-1").split("\r\n")
    headers = {field.partition(": ")[0]: field.partition(": ")[2] for field in fields}
    assert int(line.split(" ")[1]) == CORPUS[name][1]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Request-ID"]
    if CORPUS[name][1] != 200:
        assert headers["Content-Type"] == "application/problem+json"
        assert json.loads(body)["status"] == CORPUS[name][1]


def test_log_has_a_line_for_malformed_requests_without_their_content(
    responses: dict[str, bytes], log: Path
) -> None:
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    messages = [line["message"] for line in lines if "InvalidRequestLine" in line["message"]]
    assert messages
    assert "hello there" not in log.read_text()
    assert "exception" not in {key for line in lines for key in line}

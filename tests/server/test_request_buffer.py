"""The request buffer finds the end of a request, however its bytes are split."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.server.request_buffer import BODY_LIMIT, RequestBuffer

POST = b"POST / HTTP/1.1\r\nHost: x\r\n"
CHUNKED = POST + b"Transfer-Encoding: Chunked\r\n\r\n"
COMPLETE = {
    "no body": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "no header": b"GET / HTTP/1.0\r\n\r\n",
    "a length": POST + b"Content-Length: 5\r\n\r\nhello",
    "a length of nothing": POST + b"content-length:0\r\n\r\n",
    "a length among others": POST + b"X-Content-Length: 9\r\nCONTENT-LENGTH:\t 2 \r\n\r\nok",
    "chunks": CHUNKED + b"5\r\nhello\r\n1;x=y\r\n!\r\n0\r\n\r\n",
    "chunks and trailers": CHUNKED + b"2\r\n\r\n\r\n0\r\nA: b\r\n\r\n",
}
# gunicorn rejects these whatever follows.
REJECTED = {
    "a bare LF": b"GET / HTTP/1.1\n",
    "a bare LF among fields": POST + b"X: y\n",
    "an endless request line": b"GET /" + b"x" * 8200,
    "two lengths": POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
    "a length and chunks": POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    "a negative length": POST + b"Content-Length: -5\r\n\r\n",
    "a length in words": POST + b"Content-Length: five\r\n\r\n",
    "a length of five thousand digits": POST + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
    "another coding": POST + b"Transfer-Encoding: gzip\r\n\r\n",
    "a chunk of no size": CHUNKED + b"\r\n",
    "a chunk of a negative size": CHUNKED + b"-5\r\n",
    "a chunk size without end": CHUNKED + b"1" * 70_000,
    "a body that no route takes": POST + b"Content-Length: %d\r\n\r\n" % (BODY_LIMIT + 1),
}


@pytest.mark.parametrize("sent", COMPLETE.values(), ids=COMPLETE)
def test_request_is_complete_with_its_last_byte(sent: bytes) -> None:
    request = RequestBuffer()
    for byte in sent[:-1]:
        request.add(bytes([byte]))
        assert not request.is_whole()
    request.add(sent[-1:])
    assert request.is_whole()


@pytest.mark.parametrize("sent", REJECTED.values(), ids=REJECTED)
def test_buffer_does_not_wait_for_the_rest_of_a_malformed_request(sent: bytes) -> None:
    assert RequestBuffer(sent).is_whole()


@given(
    chunks=st.lists(st.binary(min_size=1, max_size=50), max_size=5),
    cuts=st.lists(st.integers(0, 300), max_size=5),
)
def test_end_is_found_however_the_bytes_are_split(chunks: list[bytes], cuts: list[int]) -> None:
    body = b"".join(b"%X\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    sent = CHUNKED + body
    request = RequestBuffer()
    ends = [*sorted(cut for cut in cuts if cut < len(sent)), len(sent)]
    for start, end in zip([0, *ends], ends, strict=False):
        request.add(sent[start:end])
        assert request.is_whole() == (end == len(sent))


def test_endless_chunks_stop_at_the_body_limit() -> None:
    request = RequestBuffer(CHUNKED)
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    for _ in range(BODY_LIMIT // len(chunk)):
        request.add(chunk)
        assert not request.is_whole()
    request.add(chunk)
    assert request.is_whole()


@pytest.mark.parametrize(
    ("head", "expects"),
    [
        (POST + b"Expect: 100-continue\r\n\r\n", True),
        (b"POST / HTTP/1.1\r\nEXPECT:100-Continue \r\nHost: x\r\n\r\n", True),
        (b"POST / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n", False),
        (POST + b"\r\nExpect: 100-continue\r\n\r\n", False),
    ],
)
def test_only_a_client_that_expects_100_gets_100_continue(head: bytes, expects: bool) -> None:
    request = RequestBuffer(head)
    request.is_whole()
    assert request.expects_100() is expects

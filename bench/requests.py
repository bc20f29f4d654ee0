"""Requests as bytes, created before the measurement starts."""

import json
import subprocess
import time
from collections.abc import Sequence
from functools import cache

import jwt

from bench.client import Client
from bench.database import Data
from bench.places import HOST, PASSWORD, ROOT, SECRET
from bench.servers import Contender, Server


def get(path: str, header: str, *, keep: bool) -> bytes:
    connection = "keep-alive" if keep else "close"
    return (
        f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\nAccept: application/json\r\n"
        f"Connection: {connection}\r\n{header}\r\n\r\n"
    ).encode()


def login(email: str, password: str) -> bytes:
    body = f"username={email}&password={password.replace(' ', '+')}"
    return (
        f"POST /api/v1/login HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    ).encode()


def pages(path: str, headers: Sequence[str], *, keep: bool) -> list[bytes]:
    return [get(path, header, keep=keep) for header in headers]


def credentials(contender: Contender, data: Data, server: Server, count: int) -> list[str]:
    """Return a header line for each of the first accounts, as the contender issues it."""
    return (
        service_credentials(server, count)
        if contender.is_service
        else _seed(contender, data, count)
    )


@cache
def _seed(contender: Contender, data: Data, count: int) -> list[str]:
    """Run once: the credentials of a peer stay valid after its process ends."""
    command = [str(contender.python()), "-m", f"bench.peers.{contender.name}.seed", str(count)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=contender.environment(data),
        check=True,
        stdout=subprocess.PIPE,
        timeout=120,
    )
    headers: list[str] = json.loads(done.stdout)
    return headers


def service_credentials(server: Server, count: int) -> list[str]:
    """Sign in one account, and sign the tokens of the others with the same claims.

    Signing in every account would take minutes of bcrypt.
    """
    token = Client(server.port).login(email(1), PASSWORD)
    claims = jwt.decode(token, SECRET, ["HS256"])
    claims["exp"] = time.time() + 86_400
    tokens = (
        jwt.encode(claims | {"sub": email(number)}, SECRET, "HS256")
        for number in range(1, count + 1)
    )
    return [f"Authorization: Bearer {token}" for token in tokens]


def email(number: int) -> str:
    return f"account{number}@bench.example"

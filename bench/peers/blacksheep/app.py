"""`limit` without Flask and WSGI: the minimal code in an asynchronous framework, on granian.

It shows the maximum for a Python service in which no thread waits.
"""
# mypy: disable-error-code="import-not-found, import-untyped, untyped-decorator"

import os
from typing import Any

import asyncpg
import jwt
import orjson
from blacksheep import Application, Content, Request, Response

SECRET = os.environ["SECRET_KEY"]

ACCOUNT = """
SELECT id, email, status, role, phone, last_login_date, current_workspace_id, created_at,
       logged_out_at
FROM accounts WHERE email = $1
"""
INBOX = """
SELECT i.id, i.notification_id, i.receiver_id, i.is_read, n.title, n.message, n.channels,
       n.sender_id, n.notification_type, n.scope, n.created_at
FROM frontdesk_inbox i JOIN frontdesk_notifications n ON n.id = i.notification_id
WHERE i.receiver_id = $1 ORDER BY i.id DESC LIMIT $2 OFFSET $3
"""

app = Application()
pools: list[asyncpg.Pool] = []


@app.on_start
async def connect(_: Application) -> None:
    pools.append(
        await asyncpg.create_pool(os.environ["BENCH_DATABASE_URL"], min_size=4, max_size=4)
    )


async def caller(request: Request) -> dict[str, Any] | int:
    """Return the account, or the status of a rejection."""
    header = request.get_first_header(b"authorization") or b""
    token = header.removeprefix(b"Bearer ")
    try:
        claims = jwt.decode(token, SECRET, ["HS256"], options={"require": ["exp", "sub"]})
    except jwt.InvalidTokenError:
        return 401
    email = claims["sub"]
    row = await pools[0].fetchrow(ACCOUNT, email)
    if row is None:
        return 404
    account = dict(row)
    return 401 if account.pop("logged_out_at") is not None else account


def answer(data: Any) -> Response:
    return Response(200, content=Content(b"application/json", orjson.dumps(data)))


@app.router.get("/account")
async def account(request: Request) -> Response:
    found = await caller(request)
    return Response(found) if isinstance(found, int) else answer(found)


@app.router.get("/inbox")
async def inbox(request: Request) -> Response:
    found = await caller(request)
    if isinstance(found, int):
        return Response(found)
    limit = int(request.query.get("limit", ["100"])[0])
    offset = int(request.query.get("offset", ["0"])[0])
    rows = await pools[0].fetch(INBOX, found["id"], limit, offset)
    return answer([{**row, "channels": orjson.loads(row["channels"])} for row in rows])

"""Bare Flask, everything by hand: one decode, one SELECT, which also says whether the account is
signed out, orjson."""

import os
import threading
from typing import Any

import jwt
import orjson
import psycopg
from flask import Flask, Response, abort, request

SECRET = os.environ["SECRET_KEY"]
DATABASE = os.environ["BENCH_DATABASE_URL"]

ACCOUNT = """
SELECT id, email, status, role, phone, last_login_date, current_workspace_id, created_at,
       logged_out_at
FROM accounts WHERE email = %s
"""
INBOX = """
SELECT i.id, i.notification_id, i.receiver_id, i.is_read, n.title, n.message, n.channels,
       n.sender_id, n.notification_type, n.scope, n.created_at
FROM frontdesk_inbox i JOIN frontdesk_notifications n ON n.id = i.notification_id
WHERE i.receiver_id = %s ORDER BY i.id DESC LIMIT %s OFFSET %s
"""

app = Flask(__name__)
local = threading.local()


def database() -> psycopg.Connection:
    """Return this thread's connection, in autocommit: reads need neither BEGIN nor COMMIT."""
    try:
        connection: psycopg.Connection = local.connection
    except AttributeError:
        connection = local.connection = psycopg.connect(DATABASE, autocommit=True)
    return connection


def caller() -> dict[str, Any]:
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    try:
        claims = jwt.decode(token, SECRET, ["HS256"], options={"require": ["exp", "sub"]})
    except jwt.InvalidTokenError:
        abort(401)
    email = claims["sub"]
    row = database().execute(ACCOUNT, (email,)).fetchone()
    if row is None:
        abort(404)
    if row[8] is not None:
        abort(401)
    return {
        "id": row[0],
        "email": row[1],
        "status": row[2],
        "role": row[3],
        "phone": row[4],
        "last_login_date": row[5],
        "current_workspace_id": row[6],
        "created_at": row[7],
    }


@app.get("/account")
def account() -> Response:
    return Response(orjson.dumps(caller()), mimetype="application/json")


@app.get("/inbox")
def inbox() -> Response:
    account_id = caller()["id"]
    offset = int(request.args.get("offset", 0))
    limit = int(request.args.get("limit", 100))
    rows = database().execute(INBOX, (account_id, limit, offset)).fetchall()
    items = [
        {
            "id": row[0],
            "notification_id": row[1],
            "receiver_id": row[2],
            "is_read": row[3],
            "title": row[4],
            "message": row[5],
            "channels": row[6],
            "sender_id": row[7],
            "notification_type": row[8],
            "scope": row[9],
            "created_at": row[10],
        }
        for row in rows
    ]
    return Response(orjson.dumps(items), mimetype="application/json")

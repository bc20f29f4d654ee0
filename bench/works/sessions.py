"""The caller's account with sessions, compared with the same request without sessions: the session
is read by the same query."""

import time

import jwt
import psycopg

from bench.client import Client
from bench.database import Data
from bench.figures import Table
from bench.options import Options
from bench.places import PASSWORD, SECRET
from bench.requests import email, service_credentials
from bench.servers import Server
from bench.variants import CALLERS, Variant, compare

BEGIN = """
INSERT INTO frontdesk_sessions (public_id, account_id, kind, secret, counter, amr,
    authenticated_at, created_at, used_at, expires_at)
SELECT gen_random_uuid(), n, 'token', decode(repeat('00', 32), 'hex'), 0, 'pwd',
    now(), now(), now(), now() + interval '1 day'
FROM generate_series(1, %s) n RETURNING account_id, public_id
"""


def measure(options: Options) -> list[Table]:
    off = Variant("off", "sessions off", {}, _without_sessions)
    on = Variant("on", "sessions on", {"AUTH__SESSIONS": "on"}, _with_sessions)
    return compare("Account read with sessions", [off, on], options)


def _without_sessions(server: Server, _: Data) -> list[str]:
    return service_credentials(server, CALLERS)


def _with_sessions(server: Server, data: Data) -> list[str]:
    """Sign in one account. The other sessions are inserted, and their tokens signed here."""
    claims = jwt.decode(Client(server.port).login(email(1), PASSWORD), SECRET, ["HS256"])
    claims["exp"] = time.time() + 86_400
    with psycopg.connect(data.url, autocommit=True) as connection:
        connection.execute("TRUNCATE frontdesk_sessions")
        begun = connection.execute(BEGIN, (CALLERS,)).fetchall()
        connection.execute("VACUUM ANALYZE frontdesk_sessions")
    tokens = (
        jwt.encode(claims | {"sub": email(number), "sid": str(sid)}, SECRET, "HS256")
        for number, sid in sorted(begun)
    )
    return [f"Authorization: Bearer {token}" for token in tokens]

"""The caller's account with sessions, compared with the same request without sessions: the session
is read by the same query."""

import contextlib
import time

import jwt
import psycopg

from bench import balance, checks, database, load
from bench.client import Client
from bench.database import BASE, Data
from bench.figures import Column, Goal, Table
from bench.options import Options
from bench.places import PASSWORD, SECRET, WORKERS
from bench.requests import credentials, email, get, pages
from bench.servers import Server, running
from bench.timing import timed

CALLERS = 500
COLUMNS = (
    Column("rate", "requests/s"),
    Column("p50", "p50 ms", "{:.2f}"),
    Column("cpu", "server CPU µs"),
    Column("database", "database CPU µs"),
)
ON = {"AUTH__SESSIONS": "on"}
BEGIN = """
INSERT INTO frontdesk_sessions (public_id, account_id, kind, secret, counter, amr,
    authenticated_at, created_at, used_at, expires_at)
SELECT gen_random_uuid(), n, 'token', decode(repeat('00', 32), 'hex'), 0, 'pwd',
    now(), now(), now(), now() + interval '1 day'
FROM generate_series(1, %s) n RETURNING account_id, public_id
"""


def measure(options: Options) -> list[Table]:
    """Run both at once and measure in many short turns, because the difference is small."""
    database.prepare(BASE)
    goals = (Goal("rate", 0.95, ("off",), at_least=True, who="on"),)
    table = Table("Account read with sessions", "off", COLUMNS, goals)
    for contender in options.contenders("frontdesk"):
        with contextlib.ExitStack() as stack:
            turns = []
            for name in ("off", "on"):
                extra = ON if name == "on" else {}
                server = stack.enter_context(running(contender, BASE, extra))
                headers = (
                    _with_sessions(server, BASE)
                    if name == "on"
                    else credentials(contender, BASE, server, CALLERS)
                )
                checks.check(contender, BASE, server, headers, inbox=False)
                probe = get(contender.account, headers[0], keep=True)
                sockets = balance.connections(server, probe, 1, WORKERS)
                requests = pages(contender.account, headers, keep=True)
                load.run(server.port, requests, seconds=1.0, sockets=sockets)
                turns.append((name, server, requests, sockets))
            for number in range(options.rounds * 2):
                print(f"{table.title}, turn {number + 1}", flush=True)
                for name, server, requests, sockets in turns:
                    figures = timed(server, BASE, requests, options.seconds / 2, sockets)
                    table.add(name, figures, f"sessions {name}")
            for *_, sockets in turns:
                for sock in sockets:
                    sock.close()
    return [table]


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

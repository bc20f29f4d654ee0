"""The caller's account with personal tokens, compared with access tokens: the token is read by the
same query as its account."""

import psycopg

from app.tokens.format import PERSONAL, SHOWN_LENGTH, digest_of, new_token
from bench.database import Data
from bench.figures import Table
from bench.options import Options
from bench.requests import service_credentials
from bench.servers import Server
from bench.variants import CALLERS, Variant, compare

INSERT = """
INSERT INTO frontdesk_personal_tokens (account_id, name, prefix, digest, scopes, created_at,
    expires_at, networks)
VALUES (%s, 'Bench', %s, %s, 'account:read', now(), now() + interval '1 day', '')
"""


def measure(options: Options) -> list[Table]:
    access = Variant("access", "access token", {}, _access_tokens)
    personal = Variant("personal", "personal token", {"AUTH__PERSONAL_TOKENS": "on"}, _create)
    return compare("Account read with personal tokens", [access, personal], options)


def _access_tokens(server: Server, _: Data) -> list[str]:
    return service_credentials(server, CALLERS)


def _create(_: Server, data: Data) -> list[str]:
    tokens = [new_token(PERSONAL) for _ in range(CALLERS)]
    rows = [
        (number, token[:SHOWN_LENGTH], digest_of(token)) for number, token in enumerate(tokens, 1)
    ]
    with psycopg.connect(data.url, autocommit=True) as connection:
        connection.execute("TRUNCATE frontdesk_personal_tokens")
        with connection.cursor() as cursor:
            cursor.executemany(INSERT, rows)
        connection.execute("VACUUM ANALYZE frontdesk_personal_tokens")
    return [f"Authorization: Bearer {token}" for token in tokens]

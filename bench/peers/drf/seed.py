"""Creates the framework's token table and prints the credentials of the first accounts."""
# mypy: disable-error-code="import-not-found, import-untyped"

import json
import sys

from django.apps import apps
from django.db import connection

import bench.peers.drf.app  # noqa: F401  (sets Django up)
from bench.peers.drf.models import Account

# Not imported, because its module can be loaded only after Django is set up.
Token = apps.get_model("authtoken", "Token")


def make_table() -> None:
    if Token._meta.db_table not in connection.introspection.table_names():
        with connection.schema_editor() as editor:
            editor.create_model(Token)


def credentials(count: int) -> list[str]:
    accounts = list(Account.objects.order_by("id")[:count])
    known = set(Token.objects.values_list("user_id", flat=True))
    missing = [Token(user=user, key=Token.generate_key()) for user in accounts]
    Token.objects.bulk_create(token for token in missing if token.user_id not in known)
    keys = dict(Token.objects.values_list("user_id", "key"))
    return [f"Authorization: Token {keys[account.id]}" for account in accounts]


if __name__ == "__main__":
    make_table()
    print(json.dumps(credentials(int(sys.argv[1]))))

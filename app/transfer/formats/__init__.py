"""The formats of files with accounts: rows of a table. Scripts in `examples/import_users` convert
the exports of other services to the format `frontdesk`."""

from collections.abc import Callable

from ..account import ImportedAccount
from .frameworks import django_account, fastapi_users_account, flask_security_account
from .frontdesk import account
from .gotrue import gotrue_account
from .rows import Fields

# What reads an account from a row, by the name of the format.
FORMATS: dict[str, Callable[[Fields], ImportedAccount]] = {
    "frontdesk": account,
    "flask-security": flask_security_account,
    "django": django_account,
    "fastapi-users": fastapi_users_account,
    "gotrue": gotrue_account,
}

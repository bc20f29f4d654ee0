"""The doctor: runs the checks of all features, and the checks that belong to no feature."""

from collections.abc import Callable, Iterator
from importlib import import_module

from ..core.context import DoctorChecks, current_frontdesk
from ..core.doctor import Check, Finding
from ..core.keystore import DatabaseKeystore
from .addresses import (
    check_client_host,
    check_client_name,
    check_console,
    check_proxies,
    check_public_url,
)
from .databases import check_clock, check_database, check_migrations, check_pooler
from .replica import check_replica
from .set_up import check_guards, check_secret_key, check_settings
from .stores import check_keystore, check_private_files

CHECKS = (
    Check(check_secret_key),
    Check(check_settings),
    Check(check_guards),
    Check(check_keystore),
    Check(check_private_files),
    Check(check_client_host),
    Check(check_console),
    Check(check_public_url),
    Check(check_proxies),
    Check(check_pooler, "database"),
    Check(check_migrations, "database"),
    Check(check_clock, "database"),
    Check(check_replica, "database"),
    Check(check_client_name, "servers"),
)
_TITLES = {
    "idp": "Identity provider",
    "keystore": "State store",
    "second_factors": "MFA",
    "sms": "SMS",
}


def find_problems() -> list[Finding]:
    """Run all checks. If the database cannot be used, that is one finding, and the checks that need
    the database are skipped."""
    database = _run(check_database)
    checks = [check for check in all_checks() if not (database and _needs_database(check))]
    return [*database, *(finding for check in checks for finding in _run(check.find))]


def find_problems_quickly() -> list[Finding]:
    """Run the checks that use no server but the state store."""
    checks = [check for check in all_checks() if check.needs == "nothing"]
    return [finding for check in checks for finding in _run(check.find)]


def all_checks() -> list[Check]:
    modules = [each.module for each in current_frontdesk.all_contributions(DoctorChecks)]
    of_features = [check for module in modules for check in import_module(module).CHECKS]
    return [*CHECKS, *of_features]


def title(finding: Finding) -> str:
    """Return the name of the check for readers of a page, in English like the message."""
    return _TITLES.get(finding.check) or finding.check.replace("_", " ").capitalize()


def _needs_database(check: Check) -> bool:
    in_database = isinstance(current_frontdesk.keystore, DatabaseKeystore)
    return check.needs == "database" or (check.find is check_keystore and in_database)


def _run(find: Callable[[], Iterator[Finding]]) -> list[Finding]:
    """Return the findings of a check; an exception is a finding too."""
    try:
        return list(find())
    except Exception as error:
        name = find.__name__.removeprefix("check_")
        text = f"The check failed with {type(error).__name__}, so its result is unknown."
        return [Finding(name, "fault", text)]

"""Check of the account model for user management."""

from collections.abc import Iterator

from ..accounts.models import keeps_dates
from ..core.context import current_frontdesk
from ..core.doctor import Check, Finding


def check_administration() -> Iterator[Finding]:
    """Warn if the account model lacks an optional column that user management needs."""
    context = current_frontdesk
    if "administration" in context.mounted.names and not keeps_dates(context.tables.account_model):
        text = (
            "The account model has no column suspended_until, so a suspension has no end date and"
            " lasts until an administrator ends it. Add the column, as in AccountMixin."
        )
        yield Finding("administration", "warning", text)


CHECKS = (Check(check_administration),)

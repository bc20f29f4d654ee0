"""The search for accounts, which only some features need."""

from ..core.context import Context
from .search import AccountFinder, NameSource


def assemble(context: Context) -> None:
    context.provide(AccountFinder, _finder)


def _finder(context: Context) -> AccountFinder:
    model = context.tables.account_model
    assert model is not None
    names = context.contributions(NameSource)
    return AccountFinder(context.session, model, context.tables.account_ids, names)

"""The columns that an application adds to its accounts, and the schemas that take their values."""

from __future__ import annotations

from copy import copy
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, inspect, select
from sqlalchemy.sql.visitors import iterate

from ..core.types import AccountModel
from .models import queried_attributes

if TYPE_CHECKING:
    from marshmallow import Schema


def columns_behind(model: AccountModel, name: str) -> set[str]:
    """Return the names of the columns that an attribute reads, which may be a hybrid property."""
    found = iterate(select(getattr(model, name)))
    return {each.name for each in found if isinstance(each, Column)}


def frontdesk_names(model: AccountModel) -> set[str]:
    """Return the attributes that Frontdesk manages, and those of the columns behind them."""
    names = set(queried_attributes(model))
    columns = set().union(*(columns_behind(model, name) for name in names))
    mapped = inspect(model).column_attrs
    behind = {each.key for each in mapped if each.columns[0].name in columns}
    return names | behind | {"suspended_reason"}


def required_columns(model: AccountModel | None) -> list[str]:
    """Return the application's columns that every new account needs a value for."""
    if model is None or inspect(model).dispatch.before_insert:
        # A listener of the application may fill them.
        return []
    ours = frontdesk_names(model)
    mapped = inspect(model).column_attrs
    return [each.key for each in mapped if each.key not in ours and _is_empty(each)]


def _is_empty(attribute: Any) -> bool:
    [column, *_] = attribute.columns
    return isinstance(column, Column) and not (
        column.nullable or column.primary_key or column.default or column.server_default
    )


def own_names(schema: type[Schema] | None, base: type[Schema]) -> list[str]:
    """Return the fields that an application's schema adds to Frontdesk's."""
    declared = {} if schema is None else schema._declared_fields
    return [name for name in declared if name not in base._declared_fields]


@cache
def with_own_fields(
    base: type[Schema],
    schema: type[Schema] | None,
    left_out: frozenset[str],
    required: frozenset[str] = frozenset(),
) -> type[Schema]:
    """Return a schema of Frontdesk with the fields and the checks of an application's schema.

    An administrator may leave out a field that the table of accounts does not require.
    """
    if schema is None:
        return base
    own = own_names(schema, base)
    meta = type("Meta", (base.Meta,), {"exclude": [name for name in own if name in left_out]})
    members: dict[str, Any] = {"Meta": meta}
    for name in [each for each in own if each not in left_out]:
        members[name] = copy(schema._declared_fields[name])
        members[name].required = members[name].required and name in required
    return type(base.__name__, (base, schema), members)

"""Checks an application's account model, and names the lines to add."""

from inspect import getattr_static

from sqlalchemy import Enum, inspect, select
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.hybrid import hybrid_property

from ..core.types import AccountModel
from .models import DELETING, PENDING, REQUIRED, SUSPENDED, queried_attributes

_MOMENT = "Mapped[datetime | None] = mapped_column(flask_frontdesk.UtcDateTime)"
# Columns that an older application may have under another name or of another type.
_AS_ANOTHER = '{name} = synonym("…")'
# Columns that older applications rarely have.
_NEW = {
    "phone": "phone: Mapped[str | None] = mapped_column(String(32))",
    "current_workspace_id": "current_workspace_id: Mapped[int | None] = mapped_column(BigInteger)",
    "tokens_valid_from": f"tokens_valid_from: {_MOMENT}",
    "logged_out_at": f"logged_out_at: {_MOMENT}",
}


def how_to_map(model: AccountModel) -> str | None:
    """Return a sentence about missing columns, with the lines to add, or None."""
    lacking = [name for name in REQUIRED if not hasattr(model, name)]
    if lacking:
        lines = [_NEW.get(name) or _AS_ANOTHER.format(name=name) for name in lacking]
        return (
            f"The account model {model.__name__} lacks {', '.join(lacking)}: add"
            f" flask_frontdesk.AccountMixin to its bases, or these lines to its body, with the"
            f" names of your columns or hybrid properties: {'; '.join(lines)}."
        )
    for name in queried_attributes(model):
        if (kind := _unselectable(model, name)) is not None:
            return (
                f"{model.__name__}.{name} is a {kind}, which a query cannot select: make it a"
                " hybrid_property with an expression, or a synonym."
            )
    return None


def how_to_store_status(model: AccountModel) -> str | None:
    """Return a sentence with the lines to add if the model loses a status that Frontdesk writes."""
    lost = [status for status in (PENDING, DELETING, SUSPENDED) if _loses(model, status)]
    if not lost:
        return None
    return (
        f"{model.__name__}.status does not return what Frontdesk writes to it: {', '.join(lost)}."
        " An account with such a status could never sign in again. Add a column next to your"
        " boolean one, here called active: other_status:"
        " Mapped[str | None] = mapped_column(String(50)); in"
        ' the getter: return "active" if self.active else self.other_status or "inactive"; in the'
        ' setter: self.active = status == "active"; self.other_status = None if self.active else'
        " status (docs/cookbook/column-mapping.md)."
    )


def _loses(model: AccountModel, status: str) -> bool:
    hybrid = getattr_static(model, "status")
    if not isinstance(hybrid, hybrid_property):
        [column] = select(model.status).selected_columns
        return isinstance(column.type, Enum) and status not in column.type.enums
    mapper = inspect(model)
    # The rest of `init_app` configures the mappers too.
    mapper.registry.configure()
    account = mapper.class_manager.new_instance()
    try:
        if hybrid.fset is not None:
            hybrid.fset(account, status)
        return bool(hybrid.fget(account) != status)
    except (AttributeError, TypeError):
        # The setter needs a complete object: the model is accepted.
        return False
    except (LookupError, ValueError):
        return True


def how_to_name_the_key(model: AccountModel) -> str | None:
    """Return a sentence with the line to add if the model's `id` is not its primary key."""
    [key] = inspect(model).primary_key
    [asked] = select(model.id).selected_columns
    if key in asked.base_columns:
        return None
    name = inspect(model).get_property_by_column(key).key
    return (
        f"{model.__name__}.id is not its primary key, to which Frontdesk's tables refer: add"
        f' id = synonym("{name}").'
    )


def _unselectable(model: AccountModel, name: str) -> str | None:
    found = getattr(model, name)
    try:
        select(found)
    except ArgumentError:
        return type(found).__name__
    return None

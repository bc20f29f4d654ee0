"""`Input`, the type of the data that a request schema loads: mypy checks a view's keys with it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from inspect import get_annotations, unwrap
from typing import IO, Any, Literal, NamedTuple, NotRequired, get_origin, get_type_hints

import pytest
from flask import Flask
from marshmallow import Schema, fields, missing

from app.audit.schemas import Kinds
from app.auth.webauthn.relying_party import Assertion, Creation
from app.auth.webauthn.schemas import AssertedCredential, Base64Url, CreatedCredential
from app.core.types import AccountKey
from app.core.web.fields import AccountId, ObjectOrWord
from app.core.web.operation import find_operation, schema_class
from app.profiles.schemas import UploadedFile

from ..conftest import MakeApp

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)

# The type of a field's values: the first field class that matches.
TYPES: dict[type[fields.Field[Any]], object] = {
    AccountId: AccountKey,
    Base64Url: bytes,
    UploadedFile: IO[bytes],
    fields.String: str,
    fields.Integer: int,
    fields.Boolean: bool,
    fields.AwareDateTime: datetime,
    fields.Dict: dict[str, Any],
}
# The results of `post_load` hooks.
OBJECTS: dict[type[Schema], object] = {CreatedCredential: Creation, AssertedCredential: Assertion}
# Hooks of the schema add these values.
ALWAYS_LOADED = {"IdpLogin.redirect_uri", "IdpCallback.redirect_uri", "IdpCallback.auth_data"}
# A hook of the schema replaces the first value by None; without passwords, the others are None.
CAN_BE_NONE = {"IdpCallback.auth_data", "FirstRootForm.password", "RegistrationCreate.password"}
# Hooks of the schema add these keys, which are no fields.
ADDED = {"IdpCallback.sent_auth_data": dict[str, Any] | None, "EntryFilter.kinds": Kinds}
# An application can replace these schemas by others with other keys.
OPEN_SCHEMAS = {
    *("ProfileCreate", "ProfileUpdate", "ProfileCreateForm", "ProfileUpdateForm"),
    *("TaskCreate", "TaskUpdate"),
}


class Argument(NamedTuple):
    """The argument of a view that receives the loaded data of a request's location."""

    view: str
    location: str
    schema: Any
    annotation: object


@pytest.fixture
def arguments(make_app: MakeApp) -> list[Argument]:
    app = make_app(AUTH__MFA="optional", AUTH__PASSKEYS="on")
    with app.app_context():
        found = list(_arguments(app))
    assert len(found) > 60
    return [argument for argument in found if argument.schema.__name__ not in OPEN_SCHEMAS]


def _arguments(app: Flask) -> Iterator[Argument]:
    for view in app.view_functions.values():
        operation = find_operation(view)
        for location, source in operation.reads.items() if operation else ():
            # The console's views are loaded lazily.
            inner = unwrap(getattr(view, "view", view))
            annotation = get_annotations(inner, eval_str=True)[location]
            yield Argument(inner.__qualname__, location, schema_class(source), annotation)


def test_views_receive_the_input_of_their_schemas(arguments: list[Argument]) -> None:
    assert [
        argument for argument in arguments if argument.annotation is not argument.schema.Input
    ] == []


def test_inputs_have_the_keys_and_types_of_their_schemas(arguments: list[Argument]) -> None:
    for schema in _with_nested({argument.schema for argument in arguments}):
        loaded = {name: _loaded_type(schema, name, field) for name, field in _fields(schema)}
        bases = {base.__name__ for base in schema.__mro__}
        names = {each: each.split(".") for each in ADDED}
        added = {name: ADDED[each] for each, (base, name) in names.items() if base in bases}
        assert get_type_hints(schema.Input) == loaded | added, schema.__name__


def test_inputs_require_the_keys_that_are_always_loaded(arguments: list[Argument]) -> None:
    for schema in _with_nested({argument.schema for argument in arguments}):
        hints = get_type_hints(schema.Input, include_extras=True)
        required = {name for name, hint in hints.items() if get_origin(hint) is not NotRequired}
        assert required - schema.Input.__optional_keys__ == {
            name
            for name, field in _fields(schema)
            if field.required
            or field.load_default is not missing
            or f"{schema.__name__}.{name}" in ALWAYS_LOADED
        }, schema.__name__


def _with_nested(schemas: set[Any]) -> set[Any]:
    nested = {
        type(field.schema)
        for schema in schemas
        for _, field in _fields(schema)
        if isinstance(field, fields.Nested)
    }
    return schemas | _with_nested(nested) if nested else schemas


def _fields(schema: type[Schema]) -> Iterator[tuple[str, fields.Field[Any]]]:
    return ((field.attribute or name, field) for name, field in schema._declared_fields.items())


def _loaded_type(schema: type[Schema], name: str, field: fields.Field[Any]) -> Any:
    may_be_none = field.allow_none or f"{schema.__name__}.{name}" in CAN_BE_NONE
    return _value_type(field) | None if may_be_none else _value_type(field)


def _value_type(field: fields.Field[Any]) -> Any:
    if isinstance(field, fields.List):
        return list[_value_type(field.inner)]  # type: ignore[misc]
    if isinstance(field, fields.Nested):
        schema: Any = type(field.schema)
        kind = OBJECTS.get(schema) or schema.Input
        return kind | Literal[field.word] if isinstance(field, ObjectOrWord) else kind
    return next(value for kind, value in TYPES.items() if isinstance(field, kind))

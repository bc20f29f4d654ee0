"""The code and the params of validation errors."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

import orjson
import pytest
from flask import Flask
from marshmallow import EXCLUDE, INCLUDE, RAISE, Schema, ValidationError, fields, validate

from app.core.coded_messages import INVALID, ValidationMessage
from app.core.errors import Fault, Invalid
from app.core.web.operation import find_operation, schema_class
from app.core.web.request_data import load_body

from ..conftest import MakeApp

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)

# The params that each code has, and those that it can have.
PARAMS: dict[str, tuple[set[str], set[str]]] = {
    "required": (set(), {"expected"}),
    "null": (set(), set()),
    "invalid_type": ({"expected"}, set()),
    "invalid_format": ({"expected"}, {"min", "max"}),
    "blank": (set(), set()),
    "too_short": ({"min"}, {"expected"}),
    "too_long": ({"max"}, set()),
    "out_of_range": (set(), {"min", "max"}),
    "not_one_of": ({"choices"}, set()),
    "too_many": ({"max"}, set()),
    "unknown_field": (set(), {"expected"}),
    "reserved": (set(), set()),
}
VALUES: tuple[Any, ...] = (
    *(None, True, 5, -1, 10**30, 0.5, "", " ", "x", "\x00", "x" * 20_000, "9" * 30, "a@b", "/x"),
    *("http://[", "😀" * 200, "current", "2026-13-01", "2026-01-01T00:00:00", "a\nb"),
    *([], [None], ["x"] * 200, [5], {}, {"x": 1}, {"\x00": 1}, {"unknown": "x"}),
)


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(
        AUTH__MFA="optional",
        AUTH__PASSKEYS="on",
        AUTH__ENABLE_IDP_OAUTH="true",
        IDP_OAUTH_CLIENT_ID="ours",
        IDP_METADATA_URL="http://127.0.0.1:9/.well-known/openid-configuration",
        IDP_REDIRECT_URI="https://example.com/signed-in",
    )


def faults_of(schema: type[Schema], body: Any) -> list[Fault]:
    try:
        load_body(schema, body)
    except Invalid as problem:
        orjson.dumps([fault._asdict() for fault in problem.faults])
        return problem.faults
    return []


def fault_of(field: fields.Field[Any], *value: Any) -> tuple[str, Any]:
    schema = type("Body", (Schema,), {"field": field})
    [fault] = faults_of(schema, {"field": value[0]} if value else {})
    assert fault.field.partition(".")[0] == "field"
    return fault.code, fault.params


def schemas(app: Flask) -> set[type[Schema]]:
    described = [found for view in app.view_functions.values() if (found := find_operation(view))]
    return {schema_class(source) for each in described for source in each.reads.values()}


def wrong_bodies(schema: type[Schema], depth: int = 0) -> Iterator[Any]:
    """Yield bodies with each value at each field, and around the bounds of its validators."""
    yield from VALUES
    yield {"account_receiver": [1]}
    for name, field in schema().load_fields.items():
        values = [*VALUES, *beyond_bounds(field)]
        if isinstance(field, fields.Nested) and depth < 3:
            values += wrong_bodies(type(field.schema), depth + 1)
        if isinstance(field, fields.List):
            values += [[value] for value in (*VALUES, *beyond_bounds(field.inner))]
        yield from ({field.data_key or name: value} for value in values)


def beyond_bounds(field: fields.Field[Any]) -> Iterator[Any]:
    for check in field.validators:
        for bound in (getattr(check, "min", None), getattr(check, "max", None)):
            if isinstance(bound, int):
                yield from (bound - 1, bound + 1)
                yield from ("x" * each for each in (bound - 1, bound + 1) if each < 20_000)


def test_every_error_of_a_request_schema_has_a_code(app: Flask) -> None:
    seen = set()
    with app.app_context():
        for schema in schemas(app):
            for body in wrong_bodies(schema):
                for fault in faults_of(schema, body):
                    needed, allowed = PARAMS[fault.code]
                    assert needed <= set(fault.params) <= needed | allowed, (schema, fault)
                    assert fault.message
                    seen.add(fault.code)
    assert seen == set(PARAMS)


class Colour(Enum):
    RED = "red"


DAY, MOMENT = date(2030, 1, 2), datetime(2030, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("field", "value", "code", "params"),
    [
        (fields.String(), 5, "invalid_type", {"expected": "string"}),
        (fields.Integer(), "x", "invalid_type", {"expected": "integer"}),
        (fields.Float(), "x", "invalid_type", {"expected": "number"}),
        (fields.Decimal(), "x", "invalid_type", {"expected": "number"}),
        (fields.Boolean(), "x", "invalid_type", {"expected": "boolean"}),
        (fields.List(fields.Integer()), "x", "invalid_type", {"expected": "array"}),
        (fields.List(fields.Integer()), ["x"], "invalid_type", {"expected": "integer"}),
        (fields.Dict(), "x", "invalid_type", {"expected": "object"}),
        (fields.Dict(values=fields.Integer()), {"a": "x"}, "invalid_type", {"expected": "integer"}),
        (fields.Tuple([fields.Integer()]), ["x"], "invalid_type", {"expected": "integer"}),
        (fields.Nested(Schema()), 5, "invalid_type", {"expected": "object"}),
        (fields.String(), None, "null", {}),
        (fields.Email(), "x", "invalid_format", {"expected": "email"}),
        (fields.Url(), "x", "invalid_format", {"expected": "url"}),
        (fields.UUID(), "x", "invalid_format", {"expected": "uuid"}),
        (fields.Date(), "x", "invalid_format", {"expected": "date"}),
        (fields.DateTime(), "x", "invalid_format", {"expected": "datetime"}),
        (fields.Time(), "x", "invalid_format", {"expected": "time"}),
        (fields.TimeDelta(), "x", "invalid_format", {"expected": "duration"}),
        (fields.IPv4(), "x", "invalid_format", {"expected": "ipv4"}),
        (fields.Enum(Colour), "x", "not_one_of", {"choices": ["RED"]}),
        (fields.Enum(Colour, by_value=True), "x", "not_one_of", {"choices": ["red"]}),
        (fields.String(validate=validate.Length(2, 3)), "x", "too_short", {"min": 2}),
        (fields.String(validate=validate.Length(2, 3)), "xxxx", "too_long", {"max": 3}),
        (fields.String(validate=validate.Length(equal=2)), "x", "too_short", {"min": 2}),
        (fields.String(validate=validate.Length(equal=2)), "xxx", "too_long", {"max": 2}),
        (
            fields.List(fields.Raw(), validate=validate.Length(max=1)),
            [1, 2],
            "too_many",
            {"max": 1},
        ),
        (fields.Integer(validate=validate.Range(min=2)), 1, "out_of_range", {"min": 2}),
        (fields.Integer(validate=validate.Range(2, 3)), 4, "out_of_range", {"min": 2, "max": 3}),
        (
            fields.Decimal(validate=validate.Range(max=Decimal("1.50"))),
            "2",
            "out_of_range",
            {"max": "1.50"},
        ),
        (
            fields.Date(validate=validate.Range(min=DAY)),
            "2026-01-01",
            "out_of_range",
            {"min": "2030-01-02"},
        ),
        (
            fields.AwareDateTime(validate=validate.Range(min=MOMENT)),
            "2026-01-01T00:00:00Z",
            "out_of_range",
            {"min": "2030-01-02T00:00:00+00:00"},
        ),
        (
            fields.String(validate=validate.OneOf(["a", "b"])),
            "x",
            "not_one_of",
            {"choices": ["a", "b"]},
        ),
        (
            fields.Integer(validate=validate.OneOf(range(60))),
            90,
            "not_one_of",
            {"choices": list(range(50))},
        ),
        (fields.String(validate=validate.NoneOf(["x"])), "x", "reserved", {}),
        (
            fields.String(validate=validate.Regexp("[a-z]")),
            "1",
            "invalid_format",
            {"expected": "pattern"},
        ),
        (
            fields.String(validate=validate.And(validate.Length(min=2))),
            "x",
            "too_short",
            {"min": 2},
        ),
        (
            fields.String(validate=validate.Length(min=2, error="Own text for {input}.")),
            "x",
            "too_short",
            {"min": 2},
        ),
    ],
)
def test_fields_and_validators_of_marshmallow_have_codes(
    backend: str, field: fields.Field[Any], value: object, code: str, params: object
) -> None:
    assert fault_of(field, value) == (code, params)


def test_missing_and_unknown_fields_have_codes(backend: str) -> None:
    assert fault_of(fields.String(required=True)) == ("required", {})
    [fault] = faults_of(type("Strict", (Schema,), {}), {"x": 1})
    assert fault == Fault("json", "x", "Unknown field.", "unknown_field", {})


class Node(Schema):
    number = fields.Integer()
    child = fields.Nested(lambda: Node())


def test_errors_of_a_schema_within_itself_have_codes(backend: str) -> None:
    [fault] = faults_of(Node, {"child": {"child": {"child": {"number": "x"}}}})
    assert (fault.field, fault.code) == ("child.child.child.number", "invalid_type")


def plain(_value: object) -> None:
    raise ValidationError("Not on a Sunday.")


def coded(_value: object) -> None:
    raise ValidationError(
        ValidationMessage("Not on a Sunday.", "closed", open={DAY, DAY}, at=MOMENT)
    )


def test_validators_of_an_application_can_give_a_code(backend: str) -> None:
    assert fault_of(fields.String(validate=plain), "x") == (INVALID, {})
    code, params = fault_of(fields.String(validate=coded), "x")
    assert code == "closed"
    assert params == {"open": ["2030-01-02"], "at": "2030-01-02T00:00:00+00:00"}


def test_error_messages_of_a_field_can_give_a_code(backend: str) -> None:
    message = ValidationMessage("Not {input}.", "which_number", unit="floor")
    own = fields.Integer(error_messages={"invalid": message})
    assert fault_of(own, "x") == ("which_number", {"unit": "floor"})


@pytest.mark.parametrize("unknown", [EXCLUDE, INCLUDE, RAISE])
def test_schema_that_loads_a_request_still_loads_in_other_places(
    backend: str, unknown: str
) -> None:
    """The codes are added to the schema instance of requests alone."""
    schema: Any = type("Own", (Schema,), {"name": fields.String(validate=validate.Length(max=1))})
    assert faults_of(schema, {"name": "xx"})
    [message] = schema(unknown=unknown).validate({"name": "xx"})["name"]
    assert type(message) is str
    assert isinstance(schema().fields["name"].validators[0], validate.Length)


@pytest.mark.parametrize(
    ("field", "is_own"),
    [
        (fields.Integer(), False),
        (fields.Email(), False),
        (fields.String(validate=validate.Length(min=2)), False),
        (fields.String(validate=validate.Length(min=2, error="Too short.")), True),
        (fields.Integer(error_messages={"invalid": "Say a number."}), True),
        (fields.Email(error_messages={"invalid": "Say an address."}), True),
        (fields.String(validate=coded), True),
    ],
)
def test_messages_of_an_application_are_known(
    backend: str, field: fields.Field[Any], is_own: bool
) -> None:
    """Pages show these messages, and their own texts for others."""
    [fault] = faults_of(type("Body", (Schema,), {"field": field}), {"field": "x"})
    assert isinstance(fault.message, ValidationMessage) is is_own

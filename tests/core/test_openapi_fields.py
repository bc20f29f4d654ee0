"""The OpenAPI document of an application's schemas: each field and validator of marshmallow, with
values that JSON does not have. The API takes and returns the values that the document shows."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import pytest
from flask import Flask
from flask.testing import FlaskClient
from marshmallow import Schema, fields, validate
from openapi_spec_validator import OpenAPIV31SpecValidator

from app import blueprints
from app.core.web.operation import example
from app.core.web.request_data import takes
from app.core.web.responses import answers

from ..rigs.hosts import host_with


class Color(Enum):
    RED = Decimal("1.5")
    BLUE = Decimal("2.5")


class Point(Schema):
    x = fields.Integer(required=True)


class Case(NamedTuple):
    field: Callable[..., fields.Field[Any]]
    # A value of the field in Python, and in JSON.
    value: Any
    json: Any


ID = UUID("1f0c2a52-8f3e-4d55-9a0e-6d3c5b7f9e21")
NOON = datetime(2030, 1, 1, 12)

FIELDS = {
    "AwareDateTime": Case(
        fields.AwareDateTime, NOON.replace(tzinfo=UTC), "2030-01-01T12:00:00+00:00"
    ),
    "Boolean": Case(fields.Boolean, True, True),
    "Constant": Case(lambda **options: fields.Constant(Decimal(5)), Decimal(5), 5),
    "Date": Case(fields.Date, date(2030, 1, 1), "2030-01-01"),
    "DateTime": Case(fields.DateTime, NOON, "2030-01-01T12:00:00"),
    "DateTime in words": Case(partial(fields.DateTime, format="%d.%m.%Y"), NOON, "01.01.2030"),
    "DateTime as number": Case(
        partial(fields.DateTime, format="timestamp"), NOON.replace(tzinfo=UTC), 1893499200.0
    ),
    "Decimal": Case(fields.Decimal, Decimal("9.90"), 9.9),
    "Decimal as string": Case(partial(fields.Decimal, as_string=True), Decimal("9.90"), "9.90"),
    "Dict": Case(
        partial(fields.Dict, keys=fields.Date(), values=fields.Decimal()),
        {date(2030, 1, 1): Decimal("0.1")},
        {"2030-01-01": 0.1},
    ),
    "Email": Case(fields.Email, "ada@example.com", "ada@example.com"),
    "Enum": Case(partial(fields.Enum, Color), Color.RED, "RED"),
    "Enum by value": Case(partial(fields.Enum, Color, by_value=fields.Decimal), Color.RED, 1.5),
    "Float": Case(fields.Float, 1.5, 1.5),
    "Function": Case(
        partial(fields.Function, lambda data: data["value"], deserialize=Decimal),
        Decimal("1.5"),
        1.5,
    ),
    "IP": Case(fields.IP, ipaddress.ip_address("192.0.2.1"), "192.0.2.1"),
    "IPInterface": Case(fields.IPInterface, ipaddress.ip_interface("192.0.2.1/24"), "192.0.2.1/24"),
    "IPv4": Case(fields.IPv4, ipaddress.IPv4Address("192.0.2.1"), "192.0.2.1"),
    "IPv4Interface": Case(
        fields.IPv4Interface, ipaddress.IPv4Interface("192.0.2.1/24"), "192.0.2.1/24"
    ),
    "IPv6": Case(fields.IPv6, ipaddress.IPv6Address("2001:db8::1"), "2001:db8::1"),
    "IPv6Interface": Case(
        fields.IPv6Interface, ipaddress.IPv6Interface("2001:db8::1/64"), "2001:db8::1/64"
    ),
    "Integer": Case(fields.Integer, 5, 5),
    "Integer as string": Case(partial(fields.Integer, as_string=True), 5, "5"),
    "List": Case(partial(fields.List, fields.Decimal()), [Decimal("0.1")], [0.1]),
    "Method": Case(partial(fields.Method, "shown", deserialize="read"), Decimal("1.5"), 1.5),
    "NaiveDateTime": Case(fields.NaiveDateTime, NOON, "2030-01-01T12:00:00"),
    "Nested": Case(partial(fields.Nested, Point), {"x": 1}, {"x": 1}),
    "Pluck": Case(partial(fields.Pluck, Point, "x"), {"x": 1}, 1),
    "Raw": Case(fields.Raw, Decimal("1.5"), 1.5),
    "String": Case(fields.String, "text", "text"),
    "Time": Case(fields.Time, time(12, 30), "12:30:00"),
    "TimeDelta": Case(fields.TimeDelta, timedelta(minutes=1), 60.0),
    "Tuple": Case(
        partial(fields.Tuple, (fields.Decimal(), fields.Date())),
        (Decimal("0.1"), date(2030, 1, 1)),
        [0.1, "2030-01-01"],
    ),
    "Url": Case(fields.URL, "https://example.com", "https://example.com"),
    "UUID": Case(fields.UUID, ID, str(ID)),
}
BASES = {"Mapping", "Number"}
VALIDATORS: dict[str, list[tuple[Callable[..., fields.Field[Any]], Any, dict[str, Any]]]] = {
    "And": [(fields.Decimal, validate.And(validate.Range(min=Decimal(1))), {})],
    "ContainsNoneOf": [(partial(fields.List, fields.UUID), validate.ContainsNoneOf([ID]), {})],
    "ContainsOnly": [
        (partial(fields.List, fields.Date), validate.ContainsOnly([date(2030, 1, 1)]), {})
    ],
    "Email": [(fields.String, validate.Email(), {})],
    "Equal": [
        (fields.UUID, validate.Equal(ID), {"enum": [str(ID)]}),
        (partial(fields.List, fields.Integer), validate.Equal([1]), {}),
    ],
    "Length": [(fields.String, validate.Length(1, 5), {"minLength": 1, "maxLength": 5})],
    "NoneOf": [(fields.Decimal, validate.NoneOf({Decimal(1)}), {})],
    "OneOf": [
        (fields.Decimal, validate.OneOf({Decimal(3), Decimal("0.1")}), {"enum": [0.1, 3]}),
        (fields.String, validate.OneOf({"b", "a", "c", "d"}), {"enum": ["a", "b", "c", "d"]}),
        (fields.Time, validate.OneOf([time(9), time(17)]), {"enum": ["09:00:00", "17:00:00"]}),
        (partial(fields.Enum, Color), validate.OneOf([Color.RED]), {"enum": ["RED", "BLUE"]}),
        (partial(fields.List, fields.Integer), validate.OneOf([[1], [2]]), {}),
    ],
    "Predicate": [(fields.Decimal, validate.Predicate("is_finite"), {})],
    "Range": [
        (fields.Decimal, validate.Range(0, 1000), {"minimum": 0, "maximum": 1000}),
        (fields.Decimal, validate.Range(Decimal("0.01")), {"minimum": 0.01}),
        (fields.Decimal, validate.Range(max=float("inf")), {}),
        (partial(fields.Decimal, as_string=True), validate.Range(1), {"x-minimum": "1"}),
        (fields.Integer, validate.Range(max=2**64), {"maximum": 2.0**64}),
        (fields.Date, validate.Range(date(2030, 1, 1)), {"x-minimum": "2030-01-01"}),
        (fields.NaiveDateTime, validate.Range(NOON), {"x-minimum": "2030-01-01T12:00:00"}),
        (fields.Time, validate.Range(max=time(12)), {"x-maximum": "12:00:00"}),
        (fields.TimeDelta, validate.Range(timedelta(1)), {"minimum": 86400.0}),
    ],
    "Regexp": [(fields.String, validate.Regexp("^[^\ud800]+$"), {"pattern": "^[^\\ud800]+$"})],
    "URL": [(fields.String, validate.URL(), {})],
}


class Unusual(Schema):
    """Metadata and defaults that the document cannot show as they are."""

    class Meta:
        json_schema = {"x-limit": Decimal("1.5"), "x-names": frozenset({"b", "a"})}

    of_a_function = fields.Decimal(load_default=lambda: Decimal(1))
    of_a_class = fields.UUID(load_default=uuid4)
    of_another_type = fields.Date(load_default="2030-01-01")
    in_metadata = fields.Decimal(metadata={"default": Decimal(2), "x_step": {Decimal("0.5")}})
    not_a_number = fields.Float(load_default=float("nan"))
    text_or_number = fields.Raw(
        required=True,
        metadata={"type": ["string", "number"]},
        validate=[validate.Equal(1), validate.Equal("a")],
    )
    large = fields.Raw(metadata={"example": {1: 2**70, Color.RED: b"a", "text": object}})


def schema_with(field: fields.Field[Any]) -> type[Schema]:
    return type(
        "Value",
        (Schema,),
        {
            "value": field,
            "shown": lambda self, data: data["value"],
            "read": lambda self, value: Decimal(str(value)),
        },
    )


def host_taking(**schemas: type[Schema]) -> Flask:
    host = host_with((blueprints.docs, "/api"))
    for path, schema in schemas.items():

        def view(json: dict[str, Any]) -> dict[str, Any]:
            """Return the data"""
            return json

        view.__name__ = f"post_{path}"
        described = example(json={}, answer={})(takes(json=schema)(answers(200, schema)(view)))
        host.post(f"/{path}")(described)
    return host


def document_of(client: FlaskClient) -> dict[str, Any]:
    response = client.get("/api/openapi.json")
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.get_json()
    OpenAPIV31SpecValidator(found).validate()
    return found


def property_of(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["components"]["schemas"]["Value"]["properties"]["value"]
    return found


def names_of(module: Any, base: type) -> set[str]:
    kinds = {each for each in vars(module).values() if isinstance(each, type)}
    names = {each.__name__ for each in kinds if issubclass(each, base) and each is not base}
    return {name for name in names if not name.startswith("_")}


def test_every_field_and_validator_of_marshmallow_is_tested() -> None:
    assert {name.split()[0] for name in FIELDS} == names_of(fields, fields.Field) - BASES
    assert set(VALIDATORS) == names_of(validate, validate.Validator)


@pytest.mark.parametrize("name", FIELDS)
def test_document_shows_the_values_of_a_field_as_the_api_takes_them(name: str) -> None:
    # Imported here, because it compiles grammars for more than a second.
    from jsonschema import Draft202012Validator

    case = FIELDS[name]
    options = {"metadata": {"example": case.value}, "load_default": case.value}
    client = host_taking(value=schema_with(case.field(**options))).test_client()
    document = document_of(client)
    found = property_of(document)
    if name != "Constant":
        assert found["example"] == case.json
        text = case.json if isinstance(case.json, str) else None
        assert found["description"].startswith(f"Default: `{text or ''}")
    resolved = {**found, "components": document["components"]}
    Draft202012Validator(resolved).validate(case.json)
    for body in ({"value": case.json}, {}):
        response = client.post("/value", json=body)
        assert (response.status_code, response.json) == (200, {"value": case.json}), response.text


CASES = [(name, *case) for name, cases in VALIDATORS.items() for case in cases]


@pytest.mark.parametrize(("name", "field", "check", "shown"), CASES)
def test_document_shows_the_values_of_a_validator(
    name: str, field: Callable[..., fields.Field[Any]], check: Any, shown: dict[str, Any]
) -> None:
    client = host_taking(value=schema_with(field(validate=check))).test_client()
    found = property_of(document_of(client))
    keywords = "enum|pattern|x-m.*|m(in|ax).*"
    assert {key: found[key] for key in found if re.fullmatch(keywords, key)} == shown


def test_unusual_metadata_and_defaults_do_not_fail_the_document() -> None:
    document = document_of(host_taking(unusual=Unusual).test_client())
    found = document["components"]["schemas"]["Unusual"]
    assert (found["x-limit"], found["x-names"]) == (1.5, ["a", "b"])
    properties = found["properties"]
    assert "description" not in {**properties["of_a_function"], **properties["of_a_class"]}
    assert properties["of_another_type"]["description"] == "Default: `2030-01-01`."
    assert properties["in_metadata"] == {
        "type": "number",
        "description": "Default: `2.0`.",
        "x-step": [0.5],
    }
    assert "description" not in properties["not_a_number"]
    assert properties["text_or_number"]["enum"] == []
    assert properties["large"]["example"]["1"] == 2.0**70


def test_decimal_of_a_response_keeps_its_digits() -> None:
    client = host_taking(value=schema_with(fields.Decimal())).test_client()
    response = client.post(
        "/value", data='{"value": "12345678901234567.89"}', content_type="application/json"
    )
    assert response.text == '{"value":12345678901234567.89}'

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from flask import Flask
from marshmallow import Schema, class_registry

from app.broadcasts.schemas import DRAFT
from app.core.web.operation import find_operation
from app.testing.client import Api

from ..conftest import MakeApp
from ..rigs.cases import for_each

if TYPE_CHECKING:
    # Imported when a test needs it, because it compiles grammars for more than a second.
    from jsonschema import Draft202012Validator

Described = tuple[str, dict[str, Any]]

# The routes of the API contract, with the service's prefixes for the two routers of notifications.
# The trailing slash of a path is part of the contract.
ROUTES = {
    "/login": "POST",
    "/logout": "DELETE",
    "/password-recovery": "POST",
    "/verify-token": "POST",
    "/reset-password": "POST",
    "/idp/login": "GET",
    "/idp/callback": "POST",
    "/health": "GET",
    "/profiles": "GET POST PUT DELETE",
    "/profiles/avatar": "PUT",
    "/profiles/{}": "GET PUT",
    "/workspaces": "GET POST",
    "/workspaces/current": "PUT",
    "/workspaces/{}/members": "GET POST",
    "/workspaces/{}/members/{}": "PATCH DELETE",
    "/notifications/": "GET",
    "/notifications/{}": "GET DELETE",
    "/notifications/{}/mark": "PATCH",
    "/notifications/mark-all": "PATCH",
    "/admin/notifications/": "POST",
    "/admin/notifications/all": "GET",
    "/admin/notifications/{}": "GET DELETE",
    "/tasks/": "GET POST",
    "/tasks/{}": "GET PATCH DELETE",
}

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(AUTH__ACCOUNT_EXPORTS="on")


@pytest.fixture
def document(api: Api) -> dict[str, Any]:
    found: dict[str, Any] = api.get("/openapi.json").json
    return found


def operations(document: dict[str, Any]) -> Iterator[Described]:
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            yield f"{method.upper()} {path}", described


def every_dict(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        yield part
    for inner in (
        part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    ):
        yield from every_dict(inner)


def validator(schema: dict[str, Any], document: dict[str, Any]) -> Draft202012Validator:
    """Return a validator that resolves the schema's references in the document."""
    from jsonschema import Draft202012Validator, FormatChecker

    whole = {**schema, "components": document["components"]}
    return Draft202012Validator(whole, format_checker=FormatChecker())


def schema_named(name: str) -> type[Schema]:
    found = class_registry.get_class(name)
    assert isinstance(found, type)
    return found


def test_document_is_valid_openapi_3_1(document: dict[str, Any]) -> None:
    from openapi_spec_validator import OpenAPIV31SpecValidator

    assert document["openapi"] == "3.1.0"
    assert [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


def test_every_route_is_documented(app: Flask, document: dict[str, Any]) -> None:
    served = set()
    for rule in app.url_map.iter_rules():
        found = find_operation(app.view_functions[rule.endpoint])
        is_page = rule.endpoint.rpartition(".")[0] in app.extensions["frontdesk"].mounted.pages
        if found and not (found.hidden or is_page):
            path = re.sub(r"<(?:[^:<>]+:)?([^<>]+)>", r"{\1}", rule.rule)
            served |= {f"{method} {path}" for method in rule.methods or ()}
    served = {name for name in served if name.split()[0] not in ("HEAD", "OPTIONS")}
    # `/workspaces/current` also has the methods of `/workspaces/{workspace_slug}`.
    current = {f"{method} /api/v1/workspaces/current" for method in ("GET", "PATCH", "DELETE")}
    assert {name for name, _ in operations(document)} == served | current


def test_paths_are_documented_as_in_the_contract(document: dict[str, Any]) -> None:
    in_contract = {
        f"{method} {path}" for path, methods in ROUTES.items() for method in methods.split()
    }
    prefix = "/api/v1"
    documented = {
        re.sub(r"{[^}]*}", "{}", name.replace(prefix, "", 1)) for name, _ in operations(document)
    }
    assert in_contract - documented == set()
    missing_a_slash = {f"{name}/" for name in in_contract} | {
        name.rstrip("/") for name in in_contract
    }
    assert documented & (missing_a_slash - in_contract) == set()


def test_no_schema_has_a_password_hint_or_secret_question(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"].values()
    names = {name for schema in schemas for name in schema.get("properties", {})}
    assert "password" in names
    # A part of the email address that a code was sent to.
    names.remove("email_hint")
    assert [name for name in names if "hint" in name or "question" in name] == []


def path_parameters(described: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in described.get("parameters", []) if each["in"] == "path"]


def test_malformed_id_returns_a_documented_code(api: Api, document: dict[str, Any]) -> None:
    tried = 0
    for name, described in operations(document):
        method, path = name.split()
        parameters = path_parameters(described)
        if all(each["schema"]["type"] == "string" for each in parameters):
            continue
        for each in parameters:
            is_number = each["schema"]["type"] == "integer"
            path = path.replace(f"{{{each['name']}}}", "abc" if is_number else "team")
        answer = api.client.open(path, method=method)
        schema = described["responses"]["404"]["content"]["application/problem+json"]["schema"]
        component = schema["$ref"].rpartition("/")[2]
        codes = document["components"]["schemas"][f"{component}Code"]["enum"]
        assert (answer.status_code, answer.get_json()["code"]) == (404, "not_found"), name
        assert "not_found" in codes, name
        tried += 1
    assert tried >= 32


def test_path_with_any_text_documents_no_malformed_id(document: dict[str, Any]) -> None:
    described = dict(operations(document))["GET /api/v1/workspaces/{workspace_slug}"]
    assert (
        "not_found"
        not in described["responses"]["404"]["content"]["application/problem+json"]["examples"]
    )


def test_allow_names_the_documented_methods_of_every_path(
    api: Api, document: dict[str, Any]
) -> None:
    for path, described in document["paths"].items():
        if "{" not in path:
            allowed = set(api.client.options(path).headers["Allow"].split(", "))
            documented = {method.upper() for method in described}
            assert allowed - {"HEAD", "OPTIONS"} == documented, path


def test_every_operation_has_a_summary_a_tag_and_a_unique_name(document: dict[str, Any]) -> None:
    names = [described["operationId"] for _, described in operations(document)]
    assert len(names) == len(set(names))
    tags = {tag["name"] for tag in document["tags"]}
    for name, described in operations(document):
        assert described["summary"], name
        assert set(described["tags"]) <= tags, name


def test_everything_is_described(document: dict[str, Any]) -> None:
    without_description = []
    for name, described in operations(document):
        if not described.get("description", "").rstrip().endswith("."):
            without_description.append(name)
        parameters = described["parameters"]
        without_description += [
            f"{name} {each['name']}" for each in parameters if not each.get("description")
        ]
        responses = described["responses"].items()
        without_description += [
            f"{name} {status}" for status, each in responses if not each["description"]
        ]
    for name, schema in document["components"]["schemas"].items():
        fields = schema.get("properties", {}).items()
        # `Problem` describes the code of each operation's problem.
        known = {"code"} if name.endswith("Problem") and name != "Problem" else set()
        without_description += [
            f"{name}.{field}"
            for field, each in fields
            if not each.get("description") and field not in known
        ]
    without_description += [tag["name"] for tag in document["tags"] if not tag.get("description")]
    assert without_description == []


def test_operations_have_names_for_client_functions(document: dict[str, Any]) -> None:
    names = [described["operationId"] for _, described in operations(document)]
    assert set(names) >= {"health", "login", "getAccount", "listTasks", "getWorkspaceProfile"}
    for name in names:
        words = re.findall(r"^[a-z]+|[A-Z][a-z]+", name)
        assert "".join(words) == name
        assert len(words) == len({word.lower() for word in words}), f"{name} stutters"


def test_every_operation_documents_its_response(document: dict[str, Any]) -> None:
    for name, described in operations(document):
        good = [status for status in described["responses"] if status[0] in "23"]
        assert good, name
        for status in good:
            assert status[0] == "3" or described["responses"][status]["content"], name


def test_every_response_documents_its_headers(document: dict[str, Any]) -> None:
    for name, described in operations(document):
        for status, response in described["responses"].items():
            assert "X-Request-ID" in response["headers"], name
            assert ("Retry-After" in response["headers"]) == (status in ("429", "502", "503")), name
    inbox = document["paths"]["/api/v1/notifications/"]["get"]["responses"]
    assert {"Link", "X-Total-Count", "ETag"} <= inbox["200"]["headers"].keys()
    assert "ETag" in inbox["304"]["headers"]


def test_document_names_the_url_of_the_service(make_app: MakeApp) -> None:
    servers = Api(make_app()).get("/openapi.json").json["servers"]
    assert servers == [{"url": "/"}]
    app = make_app(CORE__PUBLIC_URL="https://api.example.com/")
    assert Api(app).get("/openapi.json").json["servers"] == [{"url": "https://api.example.com"}]


def test_every_example_matches_its_schema(document: dict[str, Any]) -> None:
    for name, described in operations(document):
        parts = [described.get("requestBody", {}), *described["responses"].values()]
        for content in (each for part in parts for each in part.get("content", {}).values()):
            found = [example["value"] for example in content.get("examples", {}).values()]
            for example in [*found, *([content["example"]] if "example" in content else [])]:
                faults = validator(content["schema"], document).iter_errors(example)
                assert [fault.message for fault in faults] == [], name
                assert unknown_in(example, content["schema"], document) == set(), name


def unknown_in(example: Any, schema: dict[str, Any], document: dict[str, Any]) -> set[str]:
    """Return the example's properties that the schema does not have."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if isinstance(example, list):
        return set().union(*(unknown_in(e, schema.get("items", {}), document) for e in example))
    if not isinstance(example, dict) or not schema.get("properties"):
        return set()
    named = schema["properties"]
    beyond = set() if schema.get("additionalProperties") else example.keys() - named.keys()
    inside = (unknown_in(example[name], named[name], document) for name in example if name in named)
    return set(beyond).union(*inside)


def test_each_enum_is_one_named_schema(document: dict[str, Any]) -> None:
    named = {
        name: schema["enum"]
        for name, schema in document["components"]["schemas"].items()
        if "enum" in schema
    }
    assert named["Channel"] == ["inapp", "push", "email", "sms", "discord"]
    assert named["AccountRole"] == ["root", "admin", "user"]
    assert named["MemberType"] == ["owner", "admin", "member", "guest"]
    assert {"AccountStatus", "MemberStatus", "NotificationType", "FaultLocation"} <= named.keys()
    sets = [tuple(words) for name, words in named.items() if not name.endswith("ProblemCode")]
    assert len(sets) == len(set(sets))
    everywhere = [schema for schema in every_dict(document) if "enum" in schema]
    assert len(everywhere) == len(named), "an enum stands where it has no name"


def test_operation_documents_its_error_codes(document: dict[str, Any]) -> None:
    codes = document["components"]["schemas"]["GetTaskProblemCode"]["enum"]
    assert codes == ["not_found", "task_not_found", "unavailable", "validation_error"]
    for name, described in operations(document):
        problem = described["operationId"][0].upper() + described["operationId"][1:] + "Problem"
        for status, response in described["responses"].items():
            for content in response.get("content", {}).values():
                if "examples" in content:
                    where = {"$ref": f"#/components/schemas/{problem}"}
                    assert content["schema"] == where, f"{name}: {status}"


def test_references_have_no_sibling_keys(document: dict[str, Any]) -> None:
    assert [each for each in every_dict(document) if "$ref" in each and len(each) > 1] == []
    assert [each for each in every_dict(document) if "nullable" in each] == []


def test_optional_properties_are_not_required(document: dict[str, Any]) -> None:
    """Optional properties have no default: generators treat a default as always present."""
    schemas = document["components"]["schemas"]
    for schema in schemas.values():
        assert [
            name for name, each in schema.get("properties", {}).items() if "default" in each
        ] == []
    assert schemas["MemberCreate"]["required"] == ["email"]
    status = schemas["MemberCreate"]["properties"]["status"]
    assert status["description"] == "Status of the new membership. Default: `active`."


REFUSED = [
    ("TaskCreate", {"title": "a\0b"}),
    ("TaskCreate", {"title": "   "}),
    ("TaskCreate", {"title": "x" * 201}),
    ("WorkspaceCreate", {"name": "Team", "slug": "Not a slug"}),
    ("WorkspaceCreate", {"name": "Team", "slug": "a"}),
    ("MemberCreate", {"email": "ada@example.com", "type": "boss"}),
    ("NotificationCreate", {"title": "a\nb", "message": "x", "channels": ["inapp"]}),
    ("NotificationCreate", {"title": "a\u2028b", "message": "x", "channels": ["inapp"]}),
    ("Broadcast", {"data": DRAFT, "account_receiver_ids": []}),
    ("VerifyToken", {"token": "12345678"}),
    ("ResetPassword", {"token": "x" * 20, "new_password": "x" * 73}),
    ("ResetPassword", {"token": "x" * 20, "new_password": "short"}),
    ("ProfileUpdate", {"avatar": "javascript:alert(1)"}),
]
TAKEN = [
    ("TaskCreate", {"title": "a\nb 🎉", "done": True}),
    ("WorkspaceCreate", {"name": "Team", "slug": "a-team-2"}),
    ("MemberCreate", {"email": "ada@example.com", "type": "guest", "status": "invited"}),
    ("NotificationCreate", {"title": "Closed 🎉", "message": "a\nb", "channels": []}),
    ("VerifyToken", {"token": "12345678", "email": "ada@example.com"}),
    ("VerifyToken", {"token": "x" * 20}),
    ("ResetPassword", {"token": "x" * 20, "new_password": "x" * 72}),
    ("ProfileUpdate", {"avatar": "https://example.com/ada.png"}),
]


@for_each(("name", "sent"), REFUSED)
def test_document_rejects_what_the_service_rejects(
    document: dict[str, Any], name: str, sent: dict[str, Any]
) -> None:
    assert not validator(document["components"]["schemas"][name], document).is_valid(sent)
    assert schema_named(name)().validate(sent)


@for_each(("name", "sent"), TAKEN)
def test_document_accepts_what_the_service_accepts(
    document: dict[str, Any], name: str, sent: dict[str, Any]
) -> None:
    assert validator(document["components"]["schemas"][name], document).is_valid(sent)
    assert schema_named(name)().validate(sent) == {}


def test_avatar_is_not_an_empty_file(document: dict[str, Any]) -> None:
    avatar = document["components"]["schemas"]["AvatarFile"]["properties"]["avatar"]
    assert (avatar["format"], avatar["minLength"]) == ("binary", 1)
    picture = document["paths"]["/api/v1/profiles/avatars/{name}"]["get"]["responses"]
    assert picture["200"]["content"].keys() == {"image/jpeg", "image/png"}


def test_the_two_ids_of_an_inbox_item_are_described(document: dict[str, Any]) -> None:
    paths = document["paths"]
    item = paths["/api/v1/notifications/{notification_id}"]
    mark = paths["/api/v1/notifications/{notification_id}/mark"]
    for described, id_ in ((item["get"], "id"), (item["delete"], "id")):
        assert described["parameters"][0]["description"].startswith(
            f"`{id_}` of the inbox item (not"
        )
    assert mark["patch"]["parameters"][0]["description"].startswith("`notification_id` of")


def test_every_operation_documents_its_errors(document: dict[str, Any]) -> None:
    for name, described in operations(document):
        failures = {status for status in described["responses"] if status[0] in "45"}
        expected = {"503"}
        if described.get("security"):
            expected.add("401")
        if "requestBody" in described:
            expected |= {"413", "415", "422"}
        assert failures >= expected, name
        for status in failures:
            content = described["responses"][status]["content"]
            assert content.keys() & {"application/problem+json", "application/json"}, name


def test_every_body_and_every_response_has_an_example(document: dict[str, Any]) -> None:
    for name, described in operations(document):
        bodies = [described["requestBody"]["content"]] if "requestBody" in described else []
        answers = [
            described["responses"][status].get("content", {})
            for status in described["responses"]
            if status[0] == "2"
        ]
        for kind, content in (pair for found in [*bodies, *answers] for pair in found.items()):
            if kind in ("application/json", "application/x-www-form-urlencoded"):
                assert "example" in content, f"{name}: {kind}"


def test_protected_operations_name_the_bearer_scheme(app: Flask, document: dict[str, Any]) -> None:
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    secured = {name for name, described in operations(document) if described["security"]}
    assert secured, "auth is mounted, so something is protected"
    assert "GET /api/v1/health" not in secured
    assert "DELETE /api/v1/logout" in secured


def test_bearer_scheme_names_the_login_as_token_url(document: dict[str, Any]) -> None:
    login = document["components"]["securitySchemes"]["login"]
    assert login["flows"]["password"] == {"tokenUrl": "/api/v1/login", "scopes": {}}
    for name, described in operations(document):
        ways = described["security"]
        assert ({"login": []} in ways) == ({"bearer": []} in ways), name
    assert {"login": []} in document["paths"]["/api/v1/logout"]["delete"]["security"]


def test_prefix_applies_to_the_document_and_its_paths(make_app: MakeApp) -> None:
    api = Api(make_app(CORE__API_V1_STR="/somewhere/v7"), "/somewhere/v7")
    document = api.get("/openapi.json").json
    assert {path[: len("/somewhere/v7/")] for path in document["paths"]} == {"/somewhere/v7/"}


def test_document_has_the_name_of_the_project(make_app: MakeApp) -> None:
    api = Api(make_app(CORE__PROJECT_NAME="Reception"))
    assert api.get("/openapi.json").json["info"]["title"] == "Reception"


def test_document_uses_the_schemas_of_the_application(document: dict[str, Any]) -> None:
    create = document["paths"]["/api/v1/tasks/"]["post"]["requestBody"]["content"]
    assert create["application/json"]["schema"] == {"$ref": "#/components/schemas/TaskCreate"}
    assert document["components"]["schemas"]["TaskCreate"]["required"] == ["title"]


def test_no_parameter_is_nullable(document: dict[str, Any]) -> None:
    parameters = [each for _, described in operations(document) for each in described["parameters"]]
    texts = [each["name"] for each in parameters if "null" in str(each["schema"])]
    assert texts == []

"""docs/error-codes.md, and the `type` and `title` of problem documents that lead there."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from app.core.config.settings import CoreSettings
from app.core.errors import NotFound, Problem
from app.core.web.problems import problem_response
from app.testing.client import Api
from scripts.error_codes import PAGE, PROXIES, ROOT, kinds, page, with_types

from ..conftest import MakeApp, only_on
from ..core.test_state_file import FEATURES

_ROUTE = re.compile(r"`(GET|POST|PUT|PATCH|DELETE) (/[^`]*)`")
_BASE = CoreSettings.model_fields["PROBLEM_TYPE_URL"].default


class Late(Problem):
    """A problem that an application declares."""

    status = 418
    code = "late"
    detail = "Too late"


def test_error_code_page_is_current() -> None:
    assert PAGE.read_text() == page(), "run `make errors`"


@pytest.mark.parametrize("path", PROXIES, ids=lambda path: str(path.name))
def test_proxies_send_the_problem_types_of_the_service(path: Any) -> None:
    text = path.read_text()
    assert with_types(text) == text, "run `make errors`"


def test_code_has_one_title_and_one_section() -> None:
    meanings: dict[str, set[tuple[str, str]]] = {}
    for anchor, found in kinds().items():
        for kind in found:
            meanings.setdefault(kind.code, set()).add((anchor, kind.title))
    assert {code: each for code, each in meanings.items() if len(each) > 1} == {}
    assert len({title for [(_, title)] in meanings.values()}) == len(kinds())


def test_every_case_has_a_distinct_cause_and_fix() -> None:
    for found in kinds().values():
        assert len({kind.cause for kind in found}) == len(found)
        assert all(kind.fix.endswith(".") and kind.cause.endswith(".") for kind in found)
        assert not any(kind.title.endswith(".") for kind in found)


def test_default_type_url_is_the_documentation() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"{project['urls']['Documentation']}error-codes.html" == _BASE


@only_on("sqlite")
def test_fixes_name_operations_that_exist(make_app: MakeApp) -> None:
    app = make_app(**FEATURES, AUTH__PASSKEYS="on")
    document = Api(app).get("/openapi.json").json
    served = {
        (method.upper(), path.removeprefix("/api/v1").rstrip("/"))
        for path, methods in document["paths"].items()
        for method in methods
    }
    texts = [kind.cause + kind.fix for found in kinds().values() for kind in found]
    named = {(each[1], each[2].rstrip("/")) for text in texts for each in _ROUTE.finditer(text)}
    assert named - served == set()


@only_on("sqlite")
def test_type_links_to_the_section_of_the_code(api: Api) -> None:
    missing = api.get("/tasks/1", 404).json
    assert missing["type"] == f"{_BASE}#task-not-found"
    assert missing["title"] == "The task does not exist"
    assert api.get("/nowhere", 404).json["type"] == f"{_BASE}#not-found"
    assert api.put("/tasks/1", 405).json["type"] == f"{_BASE}#method-not-allowed"


@only_on("sqlite")
def test_type_is_about_blank_without_a_page(make_app: MakeApp) -> None:
    api = Api(make_app(CORE__PROBLEM_TYPE_URL=""))
    missing = api.get("/tasks/1", 404).json
    assert (missing["type"], missing["title"]) == ("about:blank", "Not Found")


@only_on("sqlite")
def test_type_links_to_a_configured_page(make_app: MakeApp) -> None:
    api = Api(make_app(CORE__PROBLEM_TYPE_URL="https://example.com/errors"))
    assert api.get("/tasks/1", 404).json["type"] == "https://example.com/errors#task-not-found"


@only_on("sqlite")
def test_type_of_an_applications_code_is_about_blank(api: Api) -> None:
    with api.app.test_request_context():
        document = problem_response(Late()).get_json()
    assert (document["type"], document["title"]) == ("about:blank", "I'm a Teapot")


def test_subclass_without_a_code_inherits_the_type() -> None:
    class NoBook(NotFound):
        title = "No such book"

    assert (NoBook.title, NoBook.anchor) == (NotFound.title, "not_found")

"""Public names are documented: parameters, results, errors and an example that compiles."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from textwrap import dedent
from typing import Any

import pytest
from marshmallow import Schema
from pydantic import BaseModel

import app as flask_frontdesk
from app import testing
from app.accounts.service import Accounts
from app.core.db.base import Base
from app.core.errors import Problem
from app.extension.hooks import HOOKS

from ..rigs.servers import ROOT

PAGE = (ROOT / "docs" / "python.md").read_text()
PUBLIC = {
    **{f"flask_frontdesk.{name}": name for name in vars(flask_frontdesk)["__all__"]},
    **{f"flask_frontdesk.testing.{name}": name for name in vars(testing)["_HOMES"]},
}
# These are documented by their fields, or by the sentence that says when they are raised.
DECLARATIVE = (Exception, Schema, BaseModel, Base)
# Arguments that Python or a decorator passes.
IMPLICIT = {"self", "view"}
Documented = Callable[..., Any]


def named(path: str) -> Any:
    package = testing if path.startswith("flask_frontdesk.testing.") else flask_frontdesk
    if path.endswith("accounts.service.Accounts"):
        return Accounts
    return getattr(package, path.rsplit(".", 1)[1])


def callables() -> Iterator[tuple[str, Documented]]:
    """Return the functions, methods and properties that the page shows."""
    for path in re.findall(r"auto(?:function|decorator):: ([\w.]+)", PAGE):
        yield path, named(path)
    for path, members in re.findall(
        r"autoclass:: ([\w.]+).*\n(?: +:[a-z-]+:\n)*? +(?::undoc-members:\n +)?:members: (.*)", PAGE
    ):
        for name in members.split(", "):
            yield f"{path}.{name}", inspect.getattr_static(named(path), name)


CALLABLES = dict(callables())


def classes() -> Iterator[tuple[str, type]]:
    for path in PUBLIC:
        if isinstance(found := named(path), type):
            yield path, found


def section(documented: object, name: str) -> str:
    """Return a section of a docstring, such as the one below `Args:`."""
    text = inspect.getdoc(documented) or ""
    found = re.search(rf"^{name}::?\n\n?((?: .*\n?|\n)+)", text, re.MULTILINE)
    return dedent(found[1]) if found else ""


def raised(documented: Documented) -> set[str]:
    """Return the names of the exceptions that the function itself raises."""
    tree = ast.parse(dedent(inspect.getsource(inspect.unwrap(documented))))
    found = (each.exc for each in ast.walk(tree) if isinstance(each, ast.Raise))
    called = (each.func if isinstance(each, ast.Call) else each for each in found)
    return {each.id for each in called if isinstance(each, ast.Name) and each.id[0].isupper()}


def test_page_lists_every_public_name() -> None:
    assert [name for name in PUBLIC.values() if not re.search(rf"\b{name}\b", PAGE)] == []
    members = {name for name in dir(flask_frontdesk.Frontdesk) if not name.startswith("_")}
    listed = {path.rsplit(".", 1)[1] for path in CALLABLES if ".Frontdesk." in path}
    assert members - listed - HOOKS.keys() == set()


@pytest.mark.parametrize("path", CALLABLES)
def test_function_is_documented(path: str) -> None:
    member = CALLABLES[path]
    documented = getattr(member, "fget", member)
    signature = inspect.signature(documented)
    assert inspect.getdoc(documented), "no docstring"
    names = [name for name in signature.parameters if name not in IMPLICIT]
    names = [name for name in names if not (name in ("args", "kwargs") and "required" in path)]
    missing = [
        name for name in names if not re.search(rf"^{name}: ", section(documented, "Args"), re.M)
    ]
    assert missing == [], "the section Args lacks parameters"
    is_property = documented is not member
    is_decorator = f"autodecorator:: {path}" in PAGE
    if signature.return_annotation not in (None, "None") and not (is_property or is_decorator):
        assert section(documented, "Returns")
    assert raised(documented) - {"SetupError", "AttributeError"} <= set(
        re.findall(r"^(\w+): ", section(documented, "Raises"), re.M)
    )
    if ".Answer." not in path and not path.endswith((".clear", ".now", ".is_active")):
        assert section(documented, "Example")


@pytest.mark.parametrize(("path", "documented"), list(classes()), ids=list(dict(classes())))
def test_class_is_documented(path: str, documented: type) -> None:
    assert documented.__doc__
    assert not documented.__doc__.startswith(documented.__name__), "the docstring is inherited"
    fields = documented.__dict__.get("_fields") or documented.__dict__.get(
        "__dataclass_fields__", ()
    )
    listed = section(documented, "Args") + section(documented, "Attributes")
    if not issubclass(documented, DECLARATIVE):
        assert [name for name in fields if not re.search(rf"^{name}: ", listed, re.M)] == []


@pytest.mark.parametrize("path", [*CALLABLES, *dict(classes())])
def test_example_compiles(path: str) -> None:
    documented = CALLABLES.get(path) or named(path)
    example = section(documented, "Example")
    # A statement such as `return` stands in a view.
    ast.parse(f"def view():\n    pass\n{re.sub('^', '    ', example, flags=re.M)}")


def test_errors_name_their_response() -> None:
    errors = [found for _, found in classes() if issubclass(found, Problem)]
    assert len(errors) > 15
    assert [each.__name__ for each in errors if not each.code or "status" not in dir(each)] == []

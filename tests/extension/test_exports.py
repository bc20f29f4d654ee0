"""The public names of the package, and that each module is imported on first use."""

from __future__ import annotations

import ast
import subprocess
import sys
from typing import Any

import pytest

import app
from app import blueprints

from ..rigs.servers import ROOT, checkout_environment


def output_of(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=checkout_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def names_in(stub: str) -> set[str]:
    """Return the names that a stub declares for type checkers."""
    tree = ast.parse((ROOT / "app" / stub).read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {name.asname or name.name for node in imports for name in node.names}


@pytest.mark.parametrize(
    ("module", "stub"), [(app, "__init__.pyi"), (blueprints, "blueprints.pyi")]
)
def test_package_has_the_names_of_its_stub(module: Any, stub: str) -> None:
    assert set(module.__all__) == names_in(stub)
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_shells_complete_the_public_names() -> None:
    assert dir(app) == sorted([*vars(app)["__all__"], "__version__"])
    assert dir(blueprints) == blueprints.__all__


def test_modules_are_imported_on_first_use() -> None:
    code = "import sys, app; print('app.blueprints' in sys.modules, app.blueprints.auth.name)"
    assert output_of(code) == "False auth"


def test_package_and_its_blueprint_share_a_name() -> None:
    import app.auth.limits
    import app.auth.routes as routes

    assert app.auth.limits.Failures.__module__ == "app.auth.limits"
    assert routes.blueprint is blueprints.auth


def test_names_of_a_package_can_be_patched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.auth.limits.KNOWN_SECONDS", 1)
    from app.auth import limits

    assert limits.KNOWN_SECONDS == 1


def test_pytest_plugin_imports_no_other_module_of_the_package() -> None:
    code = (
        "import sys, app.testing.plugin; print(sorted(n for n in sys.modules if n[:4] == 'app.'))"
    )
    assert output_of(code) == "['app.testing', 'app.testing.plugin']"

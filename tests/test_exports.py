"""What the package gives, and that asking for one thing loads no other."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import app
from app import exports

from .servers import ROOT, bare_environment


def said_by(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        env=bare_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_both_lists_of_what_the_package_gives_agree() -> None:
    package: Any = app
    assert sorted(package.__all__) == sorted(exports.__all__)
    for name in exports.__all__:
        assert getattr(app, name) is getattr(exports, name), name


def test_the_pytest_plugin_loads_nothing_of_ours_but_itself() -> None:
    code = (
        "import sys, app.testing.plugin; print(sorted(n for n in sys.modules if n[:4] == 'app.'))"
    )
    assert said_by(code) == "['app.testing', 'app.testing.plugin']"


def test_a_blueprint_is_found_although_its_folder_has_its_name() -> None:
    code = "import app.auth.guards; from app import auth; print(type(auth).__name__)"
    assert said_by(code) == "Blueprint"


def test_a_host_that_does_not_mount_tasks_has_no_such_table_from_us() -> None:
    code = (
        "import app; app.Frontdesk, app.Base, app.health, app.auth;"
        "print('tasks' in app.Base.metadata.tables)"
    )
    assert said_by(code) == "False"

"""Applications with their own account models, each in a subprocess, because a process has one table
`accounts`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ..rigs.servers import ROOT, checkout_environment

SUITES = sorted((ROOT / "tests" / "extension" / "applications").glob("app_*.py"))


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.stem)
def test_application_with_its_own_account_model(suite: Path) -> None:
    # Other plugins of this environment take time to load, and an application does not have them.
    environment = checkout_environment(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", **_backends())
    done = subprocess.run(
        # The conftest of these tests imports the service's account model.
        [sys.executable, "-m", "pytest", "-q", "-p", "app.testing.plugin"]
        + ["--confcutdir", str(suite.parent), str(suite)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def _backends() -> dict[str, str]:
    """Return the variables with the databases, and whether tests may be skipped."""
    return {name: value for name, value in os.environ.items() if name.startswith("FRONTDESK_")}

"""Hosts with account models of their own, each in a process of its own: one process has one
table `accounts`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ..rigs.servers import ROOT, checkout_environment

SUITES = sorted((ROOT / "tests" / "extension" / "foreign").glob("host_*.py"))


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.stem)
def test_a_host_with_a_model_of_its_own(suite: Path) -> None:
    # The plugins that are installed here are not a host's, and each takes its time to load.
    environment = checkout_environment(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", **_backends())
    done = subprocess.run(
        # Without our own conftest, which knows the service's account.
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
    """Where the databases are, and whether anything may be skipped, is said by the environment."""
    return {name: value for name, value in os.environ.items() if name.startswith("FRONTDESK_")}

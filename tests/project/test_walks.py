"""How far a request goes through the code, so that a path grows only on purpose.

The goals: at most 28 files, 82 changes of file and 245 calls for a login, 15/27/60 for an account
read, 30/82/205 for a broadcast and 20/38/92 for an inbox page.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from ..conftest import SECRET
from ..rigs.servers import checkout_environment

# Files, changes of file, and calls.
BOUNDS = {
    "login": (38, 131, 302),
    "account read": (15, 27, 60),
    "admin send": (30, 82, 205),
    "inbox page": (20, 38, 92),
}


def test_no_request_goes_through_more_files_and_calls_than_its_bound(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.rigs.walks"],
        cwd=tmp_path,
        env=checkout_environment(
            SECRET_KEY=SECRET,
            CORE__DATABASE_URL=f"sqlite:///{tmp_path / 'walks.db'}",
            CORE__LOG_LEVEL="ERROR",
            AUTH__BCRYPT_ROUNDS="4",
        ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout.splitlines()[-1])
    assert {
        name: found
        for name, found in measured.items()
        if any(value > bound for value, bound in zip(found, BOUNDS[name], strict=True))
    } == {}
    assert measured.keys() == BOUNDS.keys()

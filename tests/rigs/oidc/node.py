"""Starts and controls the provider, a Node program."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from ..npm import CannotRun as CannotRun
from ..npm import install, tool

HERE = Path(__file__).resolve().parent / "provider"

# Characters that clients must escape in the Authorization header (RFC 6749 2.3.1).
CLIENT_SECRET = "s3cret+with:all%of/them&more"

# The client's page after a sign-out at the provider.
POST_LOGOUT_URI = "http://localhost:3000/signed-out"


class Provider:
    """A running provider and its options."""

    defaults: dict[str, Any] = {
        "claimsInIdToken": False,
        "requirePkce": True,
        "logoutUri": None,
        "groups": {},
    }

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self._changed = False

    def change(self, **options: Any) -> None:
        requests.post(f"{self.issuer}/control", json=options, timeout=10).raise_for_status()
        self._changed = True

    def reset(self) -> None:
        """Restore the initial options, except the keys."""
        if self._changed:
            self.change(**self.defaults)
            self._changed = False

    def rotate_keys(self, *, keep_ids: bool = False) -> None:
        self.change(rotate=True, keepKeyIds=keep_ids)


@contextmanager
def running_provider(redirect_uris: list[str]) -> Iterator[Provider]:
    install(HERE)
    environment = os.environ | {
        "CLIENT_SECRET": CLIENT_SECRET,
        "REDIRECT_URIS": json.dumps(redirect_uris),
        "POST_LOGOUT_REDIRECT_URIS": json.dumps([POST_LOGOUT_URI]),
    }
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [tool("node"), "provider.mjs"],
            cwd=HERE,
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        try:
            yield Provider(_announced_issuer(process, log))
        finally:
            process.kill()
            process.communicate()


def _announced_issuer(process: "subprocess.Popen[str]", log: Any) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        log.seek(0)
        raise RuntimeError(f"the provider did not start:\n{log.read()}")
    return str(json.loads(line)["issuer"])

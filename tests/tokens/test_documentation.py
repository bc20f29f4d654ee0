"""What docs/tokens.md shows: the table of scopes, the script, and the expressions for scanners."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest
from flask import Flask

from app.auth.sessions.refresh_token import RefreshTokens
from app.tokens.format import PERSONAL, WORKSPACE, new_token
from scripts import scopes

from ..conftest import SECRET, Backend, MakePerson, only_on
from ..rigs.servers import ROOT, gunicorn
from .conftest import MakeToken

PROGRAMS = ROOT / "examples" / "programs"
PAGE = (ROOT / "docs" / "tokens.md").read_text()
EXPRESSIONS = dict(re.findall(r"^\| `(fd\w_)` \| .* \| `(.+)` \|$", PAGE, re.MULTILINE))
# Texts around a token, as in code, logs, URLs and messages.
AROUND = ["{}", '"token": "{}",', "TOKEN={}\n", "Bearer {}\r\n", "https://x/?token={}&a=1", "({})."]


def refresh_token() -> str:
    return RefreshTokens(SECRET, []).write(uuid4(), 3, os.urandom(32))


def real_tokens(prefix: str) -> list[str]:
    make = refresh_token if prefix == "fdr_" else lambda: new_token(prefix)
    return [make() for _ in range(300)]


def test_table_of_scopes_is_current() -> None:
    assert scopes.rewritten(PAGE) == PAGE, "run `make scopes`"
    for name, routes in scopes.routes().items():
        assert routes, f"no route has the scope {name}"


def test_table_of_workspace_tokens_lists_the_routes_that_accept_them() -> None:
    section = PAGE.partition("| route | with a workspace token |")[2].partition("| views of your")[
        0
    ]
    listed = set()
    for row in section.splitlines():
        methods: list[str] = []
        for name in re.findall(r"`([A-Z]+(?: /\S+)?)`", row.split(" | ")[0]):
            method, _, path = name.partition(" ")
            methods.append(method)
            if path:
                listed |= {f"{each} {path}" for each in methods}
                methods = []
    assert listed == set(scopes.routes_for_workspace_tokens())


def test_table_of_prefixes_names_every_prefix() -> None:
    assert list(EXPRESSIONS) == [PERSONAL, WORKSPACE, "fdr_"]


@pytest.mark.parametrize("prefix", EXPRESSIONS)
def test_expression_finds_whole_tokens_in_texts(prefix: str) -> None:
    expression = re.compile(EXPRESSIONS[prefix])
    for token in real_tokens(prefix):
        for text in AROUND:
            assert expression.findall(text.format(token)) == [token]
    others = [token for other in EXPRESSIONS if other != prefix for token in real_tokens(other)]
    assert expression.findall("\n".join(others)) == []
    token = real_tokens(prefix)[0]
    for wrong in (token[:-1], f"x{token}", token.replace("_", "-", 1), token.upper()):
        assert expression.findall(wrong) == []


def test_script_finds_tokens_and_prints_only_their_prefixes(tmp_path: Path) -> None:
    leaked = [new_token(PERSONAL), new_token(WORKSPACE), refresh_token()]
    similar = [token[:-1] + ("a" if token[-1] != "a" else "b") for token in leaked[:2]]
    (tmp_path / "log").write_text("\n".join([*similar, *leaked]))
    found = run("find_tokens.py", "log", cwd=tmp_path)
    lines = [f"log:{number}: {token[:8]}…" for number, token in enumerate(leaked, start=3)]
    assert (found.returncode, found.stdout.splitlines()) == (1, lines)
    # A file that cannot be read does not hide the tokens of the next one.
    assert run("find_tokens.py", "missing", "log", cwd=tmp_path).stdout == found.stdout
    (tmp_path / "log").write_text("\n".join(similar))
    unread = run("find_tokens.py", "missing", "log", cwd=tmp_path)
    assert (unread.returncode, unread.stderr) == (2, "missing: No such file or directory\n")
    assert run("find_tokens.py", "log", cwd=tmp_path).returncode == 0


def run(
    script: str, *arguments: str, cwd: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", str(PROGRAMS / script), *arguments],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@only_on("sqlite")
def test_script_sends_a_broadcast_and_waits_for_its_emails(
    app: Flask, backend: Backend, person: MakePerson, make_token: MakeToken, tmp_path: Path
) -> None:
    boss, ada = person("boss", role="admin"), person("ada")
    token = make_token(boss, "notifications:send")
    too_little = make_token(boss, "notifications:read")["token"]
    settings = {
        "SECRET_KEY": SECRET,
        "CORE__DATABASE_URL": backend.database_url,
        "AUTH__PERSONAL_TOKENS": "on",
        "WEB_CONCURRENCY": "2",
    }
    with gunicorn(settings, tmp_path / "log") as port:

        def send(token: str) -> tuple[int, str, str]:
            api = f"http://127.0.0.1:{port}/api/v1"
            variables = {"FRONTDESK_API": api, "FRONTDESK_TOKEN": token}
            sent = ("Closed on Friday", "Back on Monday", "closed-2030-06-14")
            done = run("send_broadcast.py", *sent, cwd=tmp_path, **variables)
            return done.returncode, done.stdout, done.stderr

        success = (0, "2 recipients, 2 emails sent, 0 failed, 0 skipped\n", "")
        assert send(token["token"]) == success
        # The key makes it safe to run the script again.
        assert send(token["token"]) == success
        [item] = ada.api().get("/notifications/").json
        assert item["title"] == "Closed on Friday"
        assert send(too_little) == (
            1,
            "",
            "403 insufficient_scope: The token does not have the required scope\n",
        )
        boss.api().delete(f"/personal-tokens/{token['id']}")
        code, _, error = send(token["token"])
        assert (code, error) == (1, "401 invalid_credentials: Could not validate credentials\n")

"""The tabs "Your application" of the guides, followed on copies of the tutorial's application.

The tests run what the pages show, and no other commands: a page with a wrong step fails.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from joserfc.jwk import ECKey

from ..rigs.backends import free_port, redis_server
from ..rigs.follow import FACTORY, edited
from ..rigs.forking_python import MODULES
from ..rigs.guides import DOCS, WHOLE, Fence, in_order, page, page_names, script, tabs
from ..rigs.installed import run
from ..rigs.servers import ROOT, bare_environment
from .test_examples import commands_path

FOLLOW = ROOT / "tests" / "rigs" / "follow.py"
DOCTOR = "flask --app wsgi frontdesk doctor"
TUTORIAL = """
flask --app wsgi db init
flask --app wsgi db migrate -m "Pinboard"
flask --app wsgi db upgrade
"""
GUIDES = [name for name in page_names() if ":::{tab-item}" in (DOCS / f"{name}.md").read_text()]
# A step that a page could lack or have wrong, and what a reader would see.
MISTAKES = {
    "no extra": ("mfa", "pip install 'flask-frontdesk[mfa]'", "", "flask-frontdesk[mfa]"),
    "wrong setting": ("mfa", '"MFA": "optional"', '"MFE": "optional"', "MFE"),
    "no blueprint": ("sessions", "app.register_blueprint(blueprints.sessions, ", "dict(", "404"),
    "no migration": ("mfa", 'flask --app wsgi db migrate -m "MFA"\n', "", "1 error"),
    "old token": (
        "sessions",
        "TOKEN=$(curl --silent $API/login",
        "UNUSED=$(curl $API/login",
        "401",
    ),
    "no variable": ("exports", "```{include} _includes/before-you-paste.txt\n```", "", "API"),
}


@contextmanager
def identity_provider() -> Iterator[str]:
    """Serve the discovery documents of providers: `/https/HOST` has the issuer `https://HOST`."""

    class Discovery(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = f"http://127.0.0.1:{server.server_port}"
            place = self.path.partition("/.well-known/")[0]
            outside = place.startswith("/https/")
            document = {
                "issuer": f"https://{place[7:]}" if outside else f"{url}{place}",
                "authorization_endpoint": f"{url}/authorize",
                "token_endpoint": f"{url}/token",
                "jwks_uri": f"{url}/keys",
                "response_types_supported": ["code"],
                "id_token_signing_alg_values_supported": ["RS256"],
            }
            body = json.dumps({"keys": []} if self.path == "/keys" else document).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Write nothing about requests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Discovery)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def steps(name: str, text: str, replaced: dict[str, str]) -> list[Fence]:
    found = []
    for fence in in_order(text, "application", name in WHOLE):
        code = fence.code
        for here, there in replaced.items():
            code = code.replace(here, there)
        found.append(Fence(fence.language, code))
    return found


@pytest.fixture(scope="module")
def followed(python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The results of all guides and all mistakes, from one process."""
    folder = tmp_path_factory.mktemp("guides")
    port = free_port()
    key = folder / "AuthKey.p8"
    key.write_bytes(ECKey.generate_key("P-256").as_pem(private=True))
    key.chmod(0o600)
    with identity_provider() as provider, redis_server(folder) as redis:
        replaced = {
            "127.0.0.1:5000": f"127.0.0.1:{port}",
            "localhost:5000": f"localhost:{port}",
            "https://idp.example.com": provider,
            "/run/secrets/AuthKey.p8": str(key),
            "redis://127.0.0.1:6379/0": redis,
        }
        texts = {name: (name, page(name)) for name in GUIDES}
        for mistake, (name, right, wrong, _) in MISTAKES.items():
            source = (DOCS / f"{name}.md").read_text()
            broken = page(name, source.replace(right, wrong))
            assert broken != page(name), f"{name} has no {right!r}"
            texts[mistake] = (name, broken)
        guides = []
        for title, (name, text) in texts.items():
            shown = steps(name, text, replaced)
            guides.append(
                {
                    "name": title,
                    "folder": str(folder / title.replace("/", "-")),
                    "script": script(shown),
                    "edits": [step.code for step in shown],
                    "debug": "in debug mode" in "".join(tabs(text, "application")),
                }
            )
        base = {
            "folder": str(shutil.copytree(ROOT / "examples" / "tutorial", folder / "base")),
            "script": TUTORIAL,
            "edits": [],
        }
        plan = {"port": port, "modules": MODULES, "base": base, "guides": guides}
        plan["providers"] = provider
        (folder / "plan.json").write_text(json.dumps(plan))
        output = run(
            "-P",
            str(FOLLOW),
            str(folder / "plan.json"),
            python=python,
            PUBLIC_URL=f"http://localhost:{port}",
        )
        results = json.loads(output.splitlines()[-1])
        assert results[""]["code"] == 0, results[""]["output"]
        yield results


@pytest.mark.parametrize("name", GUIDES)
def test_reader_who_follows_the_application_tab_gets_a_working_feature(
    name: str, followed: dict[str, Any]
) -> None:
    commands = "\n".join(step.code for step in in_order(page(name), "application"))
    assert "curl" in commands.rpartition(DOCTOR)[2], "the tab ends without a request"
    result = followed[name]
    assert result["code"] == 0, result["output"]
    assert "\n0 errors" in result["output"]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_page_with_a_wrong_step_fails(mistake: str, followed: dict[str, Any]) -> None:
    result = followed[mistake]
    assert result["code"] != 0 or "\n0 errors" not in result["output"], result["output"]
    assert MISTAKES[mistake][-1] in result["output"]


# The real commands: the guide's reader edits a file and restarts the server.
READER = """
edit() { cp "version-$1.py" pinboard/__init__.py; }
restart() {
  if [ -n "${SERVER:-}" ]; then kill "$SERVER"; wait "$SERVER" || true; fi
  flask --app wsgi run --debug --no-reload --port PORT >>server.log 2>&1 &
  SERVER=$!
  for _ in $(seq 200); do
    curl --silent --fail --output health $API/health && return
    sleep 0.1
  done
  exit 1
}
trap 'kill "$SERVER"' EXIT
"""


def test_guide_works_in_a_shell_with_the_real_commands(python: str, tmp_path: Path) -> None:
    folder = shutil.copytree(ROOT / "examples" / "tutorial", tmp_path / "pinboard-app")
    port = free_port()
    shown = steps("sessions", page("sessions"), {"127.0.0.1:5000": f"127.0.0.1:{port}"})
    factory = (folder / FACTORY).read_text()
    for number, step in enumerate(shown):
        if step.language == "python":
            factory = edited(factory, step.code)
            (folder / f"version-{number}.py").write_text(factory)
    prepared = f"set -eu{READER}{TUTORIAL}API=http://127.0.0.1:{port}/api\nrestart\n"
    numbered = [f"edit {n}" if s.language == "python" else s.code for n, s in enumerate(shown)]
    text = prepared + "\n".join([*numbered[:-1], "restart", numbered[-1]])
    (folder / "steps.sh").write_text(text.replace("PORT", str(port)))
    done = subprocess.run(
        ["sh", "steps.sh"],
        cwd=folder,
        env=bare_environment(
            PATH=commands_path(folder, python),
            SECRET_KEY="a key that only this test knows, long enough",
            FRONTDESK_AUTH__BCRYPT_ROUNDS="4",
        ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\n0 errors" in done.stdout
    assert '"current":true' in done.stdout

"""Follows guides in copies of an application, in one process: see tests/project/test_tabs.py.

A guide is a shell script with its commands, and the Python code that its reader adds. The commands
`flask`, `pip` and `edit` of the script are small programs that ask this process, which has imported
Frontdesk once. Each guide runs in a fork, so that it finds only the extras that it installs.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from importlib import metadata
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

FACTORY = Path("pinboard/__init__.py")
PYJWT = ("jwt", "flask_jwt_extended")
FILE = re.compile(r"# ([\w/]+\.py)\n")
SHIM = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as peer:
    peer.connect({address!r})
    request = [{name!r}, sys.argv[1:], dict(os.environ), sys.stdin.read()]
    peer.sendall(json.dumps(request).encode() + b"\\n")
    code, output = json.loads(peer.makefile().readline())
sys.stdout.write(output)
sys.exit(code)
"""
# A guide starts the worker in a second terminal: here in the background, until the guide ends.
WORKER = """#!/bin/sh
{python} -m celery "$@" --pool solo --loglevel info >worker.log 2>&1 &
echo $! >{commands}/worker
for _ in $(seq 300); do
  grep -q " ready." worker.log && exit 0
  sleep 0.1
done
cat worker.log
exit 1
"""


class InstalledPackages(PathFinder):
    """Finds no package that belongs only to extras that the guide has not installed."""

    missing: frozenset[str] = frozenset()

    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] in cls.missing:
            return None
        return super().find_spec(fullname, path, target)


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def dependencies(names: Iterable[str]) -> set[str]:
    """Return the distributions with all that they need."""
    found: set[str] = set()
    queue = [normalized(name) for name in names]
    while queue:
        if (name := queue.pop()) not in found:
            found.add(name)
            queue += [normalized(each) for each, extra in requirements(name) if extra is None]
    return found


def requirements(name: str) -> list[tuple[str, str | None]]:
    """Return the names that a distribution requires, each with its extra."""
    try:
        lines = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return []
    found = []
    for line in lines:
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", line)
        required = re.match(r"[\w.-]+", line)
        if required:
            found.append((required[0], extra and extra[1]))
    return found


class Extras:
    def __init__(self) -> None:
        self.names: dict[str, set[str]] = {}
        for name, extra in requirements("flask-frontdesk"):
            if extra and extra != "all":
                self.names.setdefault(extra, set()).add(name)
        self.modules = metadata.packages_distributions()
        # The tutorial has installed this one.
        self.installed = {"docs"}
        self.hide()

    def install(self, extras: Iterable[str]) -> None:
        if unknown := set(extras) - self.names.keys():
            raise LookupError(f"flask-frontdesk has no extra {', '.join(unknown)}")
        self.installed.update(extras)
        self.hide()
        # PyJWT looks for cryptography when the reader's next command imports it.
        for name in [each for each in sys.modules if each.partition(".")[0] in PYJWT]:
            del sys.modules[name]

    def hide(self) -> None:
        present = ["flask-frontdesk", *(n for e in self.installed for n in self.names[e])]
        hidden = dependencies(n for names in self.names.values() for n in names)
        hidden -= dependencies(present)
        InstalledPackages.missing = frozenset(
            module
            for module, owners in self.modules.items()
            if {normalized(owner) for owner in owners} <= hidden
        )


class Reader:
    """Runs the commands of one guide in its copy of the application."""

    def __init__(self, folder: Path, edits: list[str], extras: Extras) -> None:
        self.folder, self.edits, self.extras = folder, edits, extras
        self.environment: dict[str, str] = {}
        self.served: Any = None

    def forget(self) -> None:
        """Import the application again, as a restart of its processes would."""
        for name in list(sys.modules):
            if name.partition(".")[0] in ("pinboard", "wsgi", "worker"):
                del sys.modules[name]
        importlib.invalidate_caches()
        self.served = None

    def flask(self, words: list[str], stdin: str) -> tuple[int, str]:
        from click.testing import CliRunner
        from flask.cli import cli

        done = CliRunner().invoke(cli, words, input=stdin, prog_name="flask")
        output = done.output
        if done.exception and not isinstance(done.exception, SystemExit):
            output += f"{type(done.exception).__name__}: {done.exception}\n"
        return done.exit_code, output

    def pip(self, words: list[str], stdin: str) -> tuple[int, str]:
        for word in words:
            if found := re.fullmatch(r"flask-frontdesk\[([\w,-]+)\]", word):
                try:
                    self.extras.install(found[1].split(","))
                except LookupError as error:
                    return 1, f"{error}\n"
        return 0, ""

    def edit(self, words: list[str], stdin: str) -> tuple[int, str]:
        code = self.edits[int(words[0])]
        if file := FILE.match(code):
            (self.folder / file[1]).write_text(code)
        else:
            factory = self.folder / FACTORY
            factory.write_text(edited(factory.read_text(), code))
        self.forget()
        return 0, ""

    def respond(self, peer: socket.socket) -> None:
        with peer, peer.makefile("rw") as stream:
            name, words, environment, stdin = json.loads(stream.readline())
            ignored = ("_", "OLDPWD", "PWD", "SHLVL")
            environment = {k: v for k, v in environment.items() if k not in ignored}
            if environment != self.environment:
                self.environment = environment
                os.environ.clear()
                os.environ.update(environment)
                self.forget()
            programs: dict[str, Callable[[list[str], str], tuple[int, str]]] = {
                "flask": self.flask,
                "pip": self.pip,
                "edit": self.edit,
            }
            stream.write(json.dumps(programs[name](words, stdin)) + "\n")

    def serve(self, environ: Any, start_response: Any) -> Any:
        """Respond as the application, which an edit or a new variable has restarted."""
        if self.served is None:
            self.served = importlib.import_module("wsgi").app
        return self.served(environ, start_response)


def edited(factory: str, code: str) -> str:
    """Add code at the places that a guide names: imports to the imports, settings below the
    settings, and everything else below the blueprints."""
    lines, added = factory.splitlines(), code.splitlines()
    places: dict[str, list[str]] = {"import": [], "config": [], "rest": []}
    factory_lines = {line.strip() for line in lines}
    tree = ast.parse(code)
    starts = [
        min([n.lineno, *(d.lineno for d in getattr(n, "decorator_list", []))]) for n in tree.body
    ]
    for node, start, end in zip(tree.body, starts, [*starts[1:], len(added) + 1], strict=True):
        if added[start - 1] in factory_lines:
            # The page says to leave out what the application mounts already.
            continue
        place = "rest"
        if isinstance(node, ast.Import | ast.ImportFrom):
            place = "import"
        elif added[start - 1].startswith("app.config"):
            place = "config"
        places[place] += added[start - 1 : end - 1]
    for place, before in (
        ("rest", "    return app"),
        ("config", "    db.init_app(app)"),
        ("import", "import os"),
    ):
        at = lines.index(before)
        indent = "" if place == "import" else "    "
        lines[at:at] = [indent + line if line else "" for line in places[place]]
    return "\n".join(lines) + "\n"


def follow(plan: dict[str, Any], guide: dict[str, Any], extras: Extras) -> dict[str, Any]:
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        def log(self, type: str, message: str, *args: object) -> None:
            """Write nothing about requests."""

    folder = Path(guide["folder"])
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    reader = Reader(folder, guide["edits"], extras)
    commands = folder / ".commands"
    commands.mkdir()
    address = str(commands / "socket")
    for name in ("flask", "pip", "edit"):
        program = commands / name
        program.write_text(SHIM.format(python=sys.executable, address=address, name=name))
        program.chmod(0o755)
    worker = commands / "celery"
    worker.write_text(WORKER.format(python=sys.executable, commands=commands))
    worker.chmod(0o755)
    (commands / ".curlrc").write_text("silent\nshow-error\nfail-with-body\n")
    (commands / "script").write_text(guide["script"])
    environment = {
        **os.environ,
        # Cookies work without TLS only in debug mode, which the guide then asks for.
        **({"FLASK_DEBUG": "1"} if guide.get("debug") else {}),
        "PATH": f"{commands}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "CURL_HOME": str(commands),
    }
    server = make_server(
        "127.0.0.1", plan["port"], reader.serve, threaded=True, request_handler=Quiet
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with socket.socket(socket.AF_UNIX) as listener, (commands / "output").open("wb") as output:
        listener.bind(address)
        listener.listen()
        listener.settimeout(0.02)
        shell = subprocess.Popen(
            ["sh", str(commands / "script")],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        while shell.poll() is None:
            try:
                peer, _ = listener.accept()
            except TimeoutError:
                continue
            peer.settimeout(60)
            reader.respond(peer)
    if (started := commands / "worker").exists():
        os.kill(int(started.read_text()), signal.SIGTERM)
    return {"code": shell.returncode, "output": (commands / "output").read_text()}


def in_fork(plan: dict[str, Any], guide: dict[str, Any], extras: Extras) -> dict[str, Any]:
    """Return the result of a guide that a fork of this process follows."""
    started = time.monotonic()
    reading, writing = os.pipe()
    if os.fork() == 0:
        result: dict[str, Any]
        try:
            result = follow(plan, guide, extras)
        except BaseException as error:
            result = {"code": -1, "output": f"{type(error).__name__}: {error}"}
        with os.fdopen(writing, "w") as stream:
            json.dump(result, stream)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        text = stream.read()
    os.wait()
    return {**json.loads(text), "seconds": round(time.monotonic() - started, 2)}


def main() -> None:
    plan = json.loads(Path(sys.argv[1]).read_text())
    sys.meta_path[sys.meta_path.index(PathFinder)] = InstalledPackages
    extras = Extras()
    for module in (*plan["modules"], "click.testing", "werkzeug.serving"):
        importlib.import_module(module)
    kinds = importlib.import_module("flask_frontdesk.auth.idp.provider").KINDS
    for name, kind in kinds.items():
        # The documents of large providers are on the plan's server, by host.
        url = kind.metadata_url.replace("https://", f"{plan['providers']}/https/")
        kinds[name] = kind._replace(metadata_url=url)
    base = plan["base"]
    results = {"": in_fork(plan, base, extras)}
    if results[""]["code"] == 0:
        shutil.rmtree(Path(base["folder"]) / ".commands")
        for guide in plan["guides"]:
            shutil.copytree(base["folder"], guide["folder"])
            results[guide["name"]] = in_fork(plan, guide, extras)
    sys.stdout.write(json.dumps(results))


if __name__ == "__main__":
    main()

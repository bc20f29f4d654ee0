"""The image, compose.yaml and the systemd units refer to things that exist.

These tests compare the files with the tree and need no container engine. `make image` builds an
image, and test_systemd.py starts the units.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from flask import Flask

from scripts import digests

from ..conftest import MakeApp
from ..rigs.servers import ROOT

UNIT_FOLDER = ROOT / "deploy" / "etc" / "systemd" / "system"
UNITS = sorted(path for path in UNIT_FOLDER.iterdir() if path.is_file())


@pytest.fixture(scope="module")
def compose() -> Any:
    return yaml.safe_load((ROOT / "compose.yaml").read_text())


@pytest.fixture
def commands(app: Flask) -> click.Group:
    return app.cli


def dockerfile() -> list[tuple[str, str]]:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    parts = [line.partition(" ") for line in lines if line and not line.startswith("#")]
    return [(word, rest) for word, _, rest in parts]


def unit(path: Path) -> ConfigParser:
    parser = ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(path.read_text())
    return parser


def assert_command_exists(command: str, group: click.Group) -> None:
    """Assert that each program and subcommand of a command line exists."""
    for part in re.split(r"&&", command):
        words = shlex.split(part)
        program = Path(words[0]).name
        if program == "gunicorn":
            assert words[1:] == ["-c", "gunicorn.conf.py", "wsgi:app"]
            assert (ROOT / "gunicorn.conf.py").is_file()
        elif program == "celery":
            assert words[1:4] == ["-A", "wsgi:celery", "worker"]
        elif program == "flask":
            assert words[1:3] == ["--app", "wsgi"]
            assert_subcommand_exists(group, words[3:])
        else:
            raise AssertionError(f"{program} is not a program of the service")


def assert_subcommand_exists(group: click.Group, words: list[str]) -> None:
    found = group.get_command(click.Context(group), words[0])
    assert found is not None, f"{group.name} {words[0]}"
    if isinstance(found, click.Group):
        assert_subcommand_exists(found, words[1:])


def test_image_copies_existing_files_that_are_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    for word, rest in dockerfile():
        if word != "COPY" or rest.startswith("--from"):
            continue
        *sources, _ = rest.split()
        for source in sources:
            assert (ROOT / source).exists(), source
            assert f"!{source}" in ignored, source


def test_image_contains_every_part_of_the_service() -> None:
    copied = {
        source for word, rest in dockerfile() if word == "COPY" for source in rest.split()[:-1]
    }
    assert {"app", "migrations", "templates", "wsgi.py", "config.py", "gunicorn.conf.py"} <= copied


def test_image_starts_gunicorn_as_unprivileged_user(commands: click.Group) -> None:
    words = dict(dockerfile())
    assert_command_exists(shlex.join(json.loads(words["CMD"])), commands)
    assert words["USER"] == "frontdesk"
    assert "HEALTHCHECK" in words


def test_compose_runs_existing_commands(compose: Any, commands: click.Group) -> None:
    for name in ("migrate", "worker"):
        command = compose["services"][name]["command"]
        assert_command_exists(command.removeprefix("sh -c ").strip('"'), commands)


def base_image() -> str:
    text = (ROOT / "Dockerfile").read_text()
    [found] = re.findall(r"^ARG PYTHON=(\S+)$", text, re.MULTILINE)
    return str(found)


# Three numbers. PostgreSQL has two: within a major version the data format does not change.
FULL_VERSION = re.compile(
    r"(postgres:\d+\.\d+|[\w./-]+:v?\d+\.\d+\.\d+)(-[a-z-]+)?(@sha256:\w{64})?"
)


def test_images_have_full_versions(compose: Any) -> None:
    used = {name: service["image"] for name, service in compose["services"].items()}
    third_party = {name: image for name, image in used.items() if image != "frontdesk"}
    assert set(third_party) == {"postgres", "redis", "mail"}
    for image in (*third_party.values(), base_image()):
        assert FULL_VERSION.fullmatch(image), image


@pytest.mark.parametrize("image", ["redis", "redis:7", "redis:7.4", "postgres:16", "x/y:latest"])
def test_floating_tag_is_recognized(image: str) -> None:
    assert FULL_VERSION.fullmatch(image) is None


@pytest.mark.parametrize("program", ["docker", "skopeo"])
def test_digests_are_written_once_for_each_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    """A fake `docker` or `skopeo` replaces the registry and logs its arguments."""
    fake = tmp_path / program
    fake.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/asked\nprintf "sha256:%064d\\n" 7\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.setattr("scripts.digests.shutil.which", lambda name: name == program or None)
    monkeypatch.setattr(digests, "ROOT", tmp_path)
    for name in digests.FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for _ in range(2):
        digests.main()
    for name in digests.FILES:
        before, after = (ROOT / name).read_text(), (tmp_path / name).read_text()
        assert after.replace(f"@sha256:{7:064d}", "") == before
        assert after.count("@sha256:") == len(digests.images(before)) > 0
    named = {image for name in digests.FILES for image in digests.images((ROOT / name).read_text())}
    assert len((tmp_path / "asked").read_text().splitlines()) == 2 * len(named) == 12


def test_registry_error_leaves_the_files_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "docker"
    fake.write_text("#!/bin/sh\necho no such image >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.setattr(digests, "ROOT", tmp_path)
    shutil.copy(ROOT / "compose.yaml", tmp_path)
    with pytest.raises(SystemExit, match="no such image"):
        digests.main()
    assert (tmp_path / "compose.yaml").read_text() == (ROOT / "compose.yaml").read_text()


def test_compose_refers_to_existing_services_and_volumes(compose: Any) -> None:
    services = compose["services"]
    assert set(services) >= {"web", "worker", "postgres", "redis", "mail"}
    for name, service in services.items():
        assert set(service.get("depends_on", {})) <= set(services), name
    named = {volume.split(":")[0] for s in services.values() for volume in s.get("volumes", [])}
    files = {name for name in named if name.startswith("./")}
    assert all((ROOT / name).is_file() for name in files)
    assert named - files <= set(compose["volumes"])


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_systemd_unit_starts_existing_commands(path: Path, commands: click.Group) -> None:
    found = unit(path)
    assert found.has_section("Unit")
    for key, value in found.items("Service") if found.has_section("Service") else ():
        if key == "ExecStart":
            assert value.startswith("/srv/frontdesk/.venv/bin/")
            assert_command_exists(value, commands)
    required = found.get("Unit", "Requires", fallback="").split()
    assert {name for name in required if name.startswith("frontdesk")} <= {u.name for u in UNITS}


def test_systemd_stop_timeout_exceeds_the_graceful_timeout() -> None:
    found = re.search(r"^graceful_timeout = (\d+)$", (ROOT / "gunicorn.conf.py").read_text(), re.M)
    waits = int(unit(UNIT_FOLDER / "frontdesk.service").get("Service", "TimeoutStopSec"))
    assert found is not None
    assert waits > int(found[1])


def test_documentation_links_lead_to_existing_files() -> None:
    for document in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", document.read_text()):
            if "://" not in target and not target.startswith("<"):
                assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_every_metric_is_described(make_app: MakeApp) -> None:
    make_app(CORE__METRICS_ENABLED="true")
    from app.monitoring.metrics import Metrics

    found = (ROOT / "docs" / "metrics.md").read_text()
    for metric in vars(Metrics()).values():
        name = getattr(metric, "_name", None)
        assert name is None or f"`{name}" in found, name

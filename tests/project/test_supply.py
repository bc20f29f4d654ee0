"""What Frontdesk is made of: pinned with digests, listed with licences, installed as listed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.pins import DEVELOPMENT, RUNTIME, read
from scripts.sbom import PAGE, SBOM, page, sbom
from scripts.vendored import VENDORED

from ..rigs.backends import missing
from ..rigs.htmx import htmx
from ..rigs.npm import CannotRun
from ..rigs.servers import ROOT, bare_environment

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
INCLUDES = "-r requirements.txt\n"
BOTH = pytest.mark.parametrize("path", [RUNTIME, DEVELOPMENT], ids=lambda path: path.name)


@BOTH
def test_every_package_is_pinned_with_the_digests_of_its_files(path: Path) -> None:
    text = path.read_text()
    pins = read(path)
    assert pins
    assert len(pins) == text.count("==") - sum((pin.marker or "").count("==") for pin in pins)
    assert all(pin.digests for pin in pins)
    assert "".join(pin.text for pin in pins) == text.partition("\n")[2].removesuffix(INCLUDES)


def test_the_development_file_alone_includes_what_the_service_runs_on() -> None:
    """The tests import packages of the extras, such as redis."""
    assert DEVELOPMENT.read_text().endswith(INCLUDES)
    assert INCLUDES not in RUNTIME.read_text()


@pytest.mark.parametrize(
    ("paths", "lines"),
    [
        ([RUNTIME], PROJECT["project"]["dependencies"]),
        ([RUNTIME], chain(*PROJECT["project"]["optional-dependencies"].values())),
        ([RUNTIME], PROJECT["dependency-groups"]["server"]),
        # The second includes the first, and what the service has is not pinned twice.
        ([RUNTIME, DEVELOPMENT], PROJECT["dependency-groups"]["dev"]),
    ],
    ids=["needed", "extras", "server", "development"],
)
def test_what_the_project_asks_for_is_pinned_as_it_asks(
    paths: list[Path], lines: list[str]
) -> None:
    pinned = {pin.name: pin.version for path in paths for pin in read(path)}
    for requirement in map(Requirement, lines):
        name = canonicalize_name(requirement.name)
        assert name == PROJECT["project"]["name"] or pinned[name] in requirement.specifier


def test_the_list_of_what_we_ship_is_that_of_the_pins() -> None:
    """`make sbom` after `make pin`."""
    made = sbom()
    assert json.loads(SBOM.read_text()) == made
    assert PAGE.read_text() == page(made)


def test_the_list_is_in_cyclonedx_form() -> None:
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(SBOM.read_text()) is None


def test_whatever_is_listed_is_there_because_something_needs_it() -> None:
    document = json.loads(SBOM.read_text())
    needs = {entry["ref"]: entry["dependsOn"] for entry in document["dependencies"]}
    found: set[str] = set()
    waiting = [document["metadata"]["component"]["bom-ref"]]
    while waiting:
        ref = waiting.pop()
        found.add(ref)
        waiting.extend(set(needs[ref]) - found)
    listed = {part["bom-ref"] for part in document["components"]}
    assert listed == found - {document["metadata"]["component"]["bom-ref"]}


def test_what_is_carried_as_a_file_is_as_its_project_published_it() -> None:
    """npm checks the package against the digest that its lock file has."""
    [carried] = VENDORED
    lock = json.loads((ROOT / "tests/rigs/htmx/package-lock.json").read_text())
    published = lock["packages"][f"node_modules/{carried.name}"]
    assert (published["version"], published["integrity"]) == (carried.version, carried.integrity)
    try:
        package = htmx()
    except CannotRun as reason:
        missing(str(reason))
    assert carried.file.read_bytes() == package
    assert carried.licence_file.read_text().startswith("Zero-Clause BSD")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The half of `make` that makes the environment, with requirements of its own."""
    folder = tmp_path_factory.mktemp("supply")
    shutil.copytree(ROOT / "scripts", folder / "scripts")
    return folder


@pytest.mark.parametrize(
    ("digest", "said"),
    [("", "Hashes are required"), (f" --hash=sha256:{'0' * 64}", "DO NOT MATCH THE HASHES")],
)
def test_only_a_file_with_the_pinned_digest_is_installed(
    clone: Path, wheel: Path, digest: str, said: str
) -> None:
    (clone / "requirements-dev.txt").write_text("")
    name, _, _ = wheel.name.partition("-")
    (clone / "requirements.txt").write_text(f"{name}=={PROJECT['project']['version']}{digest}\n")
    stopped = subprocess.run(
        [sys.executable, "-m", "scripts.tool", "pip", "--version"],
        cwd=clone,
        env=bare_environment(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheel.parent)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert stopped.returncode == 1
    assert said in stopped.stdout + stopped.stderr


@pytest.mark.parametrize(("digests", "installer"), [("pinned", "uv"), ("0" * 64, None)])
def test_uv_fills_the_environment_and_holds_digests_too(
    tmp_path: Path, digests: str, installer: str | None
) -> None:
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    pins = {pin.name: pin for pin in read(DEVELOPMENT)}
    small, text = pins["iniconfig"], pins["iniconfig"].text
    if digests != "pinned":
        for digest in small.digests:
            text = text.replace(digest, digests)
    (tmp_path / "requirements.txt").write_text(text)
    (tmp_path / "requirements-dev.txt").write_text(pins["uv"].text)
    done = subprocess.run(
        [sys.executable, "-c", "from scripts.environment import *; ensure('requirements.txt')"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    found = list(tmp_path.glob(".venv/lib/*/site-packages/iniconfig-*/INSTALLER"))
    assert [file.read_text().strip() for file in found] == ([installer] if installer else [])
    assert (done.returncode == 0) is (installer is not None), done.stdout + done.stderr

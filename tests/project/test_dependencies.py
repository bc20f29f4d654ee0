"""Dependencies: pinned with digests, listed with licenses, installed as pinned."""

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
def test_every_package_is_pinned_with_digests(path: Path) -> None:
    text = path.read_text()
    pins = read(path)
    assert pins
    assert len(pins) == text.count("==") - sum((pin.marker or "").count("==") for pin in pins)
    assert all(pin.digests for pin in pins)
    assert "".join(pin.text for pin in pins) == text.partition("\n")[2].removesuffix(INCLUDES)


def test_only_the_development_file_includes_the_runtime_file() -> None:
    """The tests import packages of the extras, such as redis."""
    assert DEVELOPMENT.read_text().endswith(INCLUDES)
    assert INCLUDES not in RUNTIME.read_text()


@pytest.mark.parametrize(
    ("paths", "lines"),
    [
        ([RUNTIME], PROJECT["project"]["dependencies"]),
        ([RUNTIME], chain(*PROJECT["project"]["optional-dependencies"].values())),
        ([RUNTIME], PROJECT["dependency-groups"]["server"]),
        # The development file includes the other and does not repeat its pins.
        ([RUNTIME, DEVELOPMENT], PROJECT["dependency-groups"]["dev"]),
    ],
    ids=["needed", "extras", "server", "development"],
)
def test_pins_satisfy_the_declared_requirements(paths: list[Path], lines: list[str]) -> None:
    pinned = {pin.name: pin.version for path in paths for pin in read(path)}
    for requirement in map(Requirement, lines):
        name = canonicalize_name(requirement.name)
        assert name == PROJECT["project"]["name"] or pinned[name] in requirement.specifier


def test_sbom_lists_the_pins() -> None:
    """Run `make sbom` after `make pin`."""
    expected = sbom()
    assert json.loads(SBOM.read_text()) == expected
    assert PAGE.read_text() == page(expected)


def test_sbom_is_valid_cyclonedx() -> None:
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(SBOM.read_text()) is None


def test_sbom_lists_only_required_packages() -> None:
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


def test_vendored_file_equals_the_published_one() -> None:
    """npm checks the package against the digest in its lock file."""
    [vendored] = VENDORED
    lock = json.loads((ROOT / "tests/rigs/htmx/package-lock.json").read_text())
    published = lock["packages"][f"node_modules/{vendored.name}"]
    assert (published["version"], published["integrity"]) == (vendored.version, vendored.integrity)
    try:
        package = htmx()
    except CannotRun as reason:
        missing(str(reason))
    assert vendored.file.read_bytes() == package
    assert vendored.licence_file.read_text().startswith("Zero-Clause BSD")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The part of `make` that creates the environment, with other requirements."""
    folder = tmp_path_factory.mktemp("supply")
    shutil.copytree(ROOT / "scripts", folder / "scripts")
    return folder


@pytest.mark.parametrize(
    ("digest", "message"),
    [("", "Hashes are required"), (f" --hash=sha256:{'0' * 64}", "DO NOT MATCH THE HASHES")],
)
def test_package_without_the_pinned_digest_is_not_installed(
    clone: Path, wheel: Path, digest: str, message: str
) -> None:
    (clone / "requirements-dev.txt").write_text("")
    name, version, *_ = wheel.name.split("-")
    (clone / "requirements.txt").write_text(f"{name}=={version}{digest}\n")
    stopped = subprocess.run(
        [sys.executable, "-m", "scripts.tool", "pip", "--version"],
        cwd=clone,
        env=bare_environment(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheel.parent)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert stopped.returncode == 1
    assert message in stopped.stdout + stopped.stderr


@pytest.mark.parametrize(("digests", "installer"), [("pinned", "uv"), ("0" * 64, None)])
def test_uv_installs_only_packages_with_the_pinned_digest(
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

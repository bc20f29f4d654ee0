"""`make sbom`: writes the software bill of materials (deploy/frontdesk.cdx.json, CycloneDX) and the
list of licenses (docs/licences.md).

The digests come from requirements.txt, everything else from the installed packages. The lists are
for Linux; packages that only another platform needs are in requirements.txt only. The result does
not depend on when and where it is created, so each difference is a difference of the shipped
packages.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from hashlib import sha256
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from app import __version__

from .environment import OLDEST, ROOT, stop
from .licences import ACCEPTED, licence
from .pins import RUNTIME, Pin, read
from .vendored import VENDORED, Vendored

SBOM = ROOT / "deploy" / "frontdesk.cdx.json"
PAGE = ROOT / "docs" / "licences.md"

_VERSION = ".".join(map(str, OLDEST))
_PLATFORM = {
    "sys_platform": "linux",
    "os_name": "posix",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "implementation_name": "cpython",
    "python_version": _VERSION,
    # The highest version, so that no condition about an early patch release applies.
    "python_full_version": f"{_VERSION}.99",
}

_HEAD = """\
# Licences

Find the packages that an installation with every extra contains, and their licences. Frontdesk has
the MIT licence.

`make sbom` generates this page from the packages, at the versions of `requirements.txt`. The last
rows are vendored files (`scripts/vendored.py`), with the licence next to each file.
`deploy/frontdesk.cdx.json` (CycloneDX 1.6) has the same list with digests and dependencies, and the
wheel contains it. `scripts/licences.py` lists the accepted licences and rejects others. Packages
under the LGPL (psycopg, of the extra `postgresql`) or the MPL are used unmodified.

| package | version | licence |
|---|---|---|
"""


def main() -> None:
    document = sbom()
    SBOM.write_text(json.dumps(document, indent=1) + "\n")
    PAGE.write_text(page(document))


def sbom() -> dict[str, Any]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    about = project["project"]
    pins = {pin.name: pin for pin in read(RUNTIME) if _applies(pin.marker)}
    extras = about["optional-dependencies"]
    # One SHA-256 sum over all digests.
    extras.pop("all")
    everything = [
        *about["dependencies"],
        *(line for lines in extras.values() for line in lines),
        *project["dependency-groups"]["server"],
    ]
    direct, needs = _walk(everything, pins)
    _, always = _walk(about["dependencies"], pins)
    refs = {name: _purl(name, pin.version) for name, pin in pins.items()}
    itself = _purl(about["name"], __version__)
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "lifecycles": [{"phase": "pre-build"}],
            "component": {
                "type": "application",
                "bom-ref": itself,
                "name": about["name"],
                "version": __version__,
                "description": about["description"],
                "licenses": [{"expression": about["license"]}],
                "purl": itself,
            },
        },
        "components": [
            *(_component(pin, required=name in always) for name, pin in pins.items()),
            *(_vendored(each) for each in VENDORED),
        ],
        "dependencies": [
            {
                "ref": itself,
                "dependsOn": [
                    *(refs[name] for name in sorted(direct)),
                    *(each.purl for each in VENDORED),
                ],
            },
            *(
                {"ref": ref, "dependsOn": [refs[inner] for inner in sorted(needs[name])]}
                for name, ref in refs.items()
            ),
            *({"ref": each.purl, "dependsOn": []} for each in VENDORED),
        ],
    }
    content = json.dumps(document, sort_keys=True)
    return document | {"serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, content)}"}


def page(document: dict[str, Any]) -> str:
    rows = [
        f"| {part['name']} | {part['version']} | {part['licenses'][0]['expression']} |"
        for part in document["components"]
    ]
    return "\n".join([_HEAD + rows[0], *rows[1:], ""])


def installed(pin: Pin) -> Distribution:
    try:
        found = distribution(pin.name)
    except PackageNotFoundError:
        stop(f"{pin.name} is not installed; run `make lint` to update the environment.")
    if found.version != pin.version:
        stop(f"{pin.name} is pinned to {pin.version}, and {found.version} is installed here.")
    return found


def _component(pin: Pin, *, required: bool) -> dict[str, Any]:
    purl = _purl(pin.name, pin.version)
    return {
        "type": "library",
        "bom-ref": purl,
        "name": pin.name,
        "version": pin.version,
        # Other packages belong to an extra or to the server.
        "scope": "required" if required else "optional",
        "licenses": [{"expression": licence(installed(pin))}],
        "purl": purl,
        "externalReferences": [
            {
                "type": "distribution",
                "url": purl,
                "hashes": [{"alg": "SHA-256", "content": digest} for digest in pin.digests],
            }
        ],
    }


def _vendored(each: Vendored) -> dict[str, Any]:
    """Return a file of this repository, with the digest of the file itself."""
    if each.licence not in ACCEPTED:
        stop(f"{each.name} stands under {each.licence}, which scripts/licences.py does not accept.")
    return {
        "type": "library",
        "bom-ref": each.purl,
        "name": each.name,
        "version": each.version,
        "scope": "required",
        "hashes": [{"alg": "SHA-256", "content": sha256(each.file.read_bytes()).hexdigest()}],
        "licenses": [{"expression": each.licence}],
        "purl": each.purl,
    }


def _walk(lines: Iterable[str], pins: dict[str, Pin]) -> tuple[set[str], dict[str, set[str]]]:
    """Return the packages that the lines require, each with the packages that it requires
    itself."""
    needs: dict[str, set[str]] = {}
    seen: set[tuple[str, str]] = set()
    direct = _named(lines)
    waiting = list(direct)
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        inner = _named(installed(pins[name]).requires or [], extra)
        needs.setdefault(name, set()).update(needed for needed, _ in inner if needed != name)
        waiting.extend(inner)
    return {name for name, _ in direct}, needs


def _named(lines: Iterable[str], extra: str = "") -> set[tuple[str, str]]:
    """Yield the required packages, each with its extras."""
    found = (Requirement(line) for line in lines)
    return {
        (canonicalize_name(requirement.name), more)
        for requirement in found
        if requirement.marker is None or requirement.marker.evaluate(_PLATFORM | {"extra": extra})
        for more in ("", *requirement.extras)
    }


def _applies(marker: str | None) -> bool:
    return marker is None or Marker(marker).evaluate(_PLATFORM)


def _purl(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{version}"


if __name__ == "__main__":
    main()

"""The license of an installed package, as an SPDX expression."""

from __future__ import annotations

import re
from importlib.metadata import Distribution

from .environment import stop

# Licenses with no other conditions than to include their text and, for the last two, to leave the
# package unchanged and replaceable.
ACCEPTED = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "MIT-CMU"),
    *("PSF-2.0", "Unlicense", "LGPL-3.0-only", "MPL-2.0"),
}

# Other names of licenses, as packages state them.
_WORDS = {
    **{name: name for name in ACCEPTED},
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    # python-dateutil, which states these two.
    "Dual License": "Apache-2.0 OR BSD-3-Clause",
    "License :: OSI Approved :: MIT License": "MIT",
}
_BSD = {"BSD", "New BSD", "License :: OSI Approved :: BSD License"}


def licence(package: Distribution) -> str:
    found = _found(package)
    if found is None:
        stop(f"{package.name} states no license that scripts/licences.py knows.")
    if not set(re.findall(r"[\w.-]+", found)) <= {"AND", "OR", *ACCEPTED}:
        stop(f"{package.name} stands under {found}, which scripts/licences.py does not accept.")
    return found


def _found(package: Distribution) -> str | None:
    about = package.metadata
    for expression in about.get_all("License-Expression") or []:
        return str(expression)
    for words in [*(about.get_all("License") or []), *(about.get_all("Classifier") or [])]:
        if words in _BSD:
            return _which_bsd(package)
        if words in _WORDS:
            return _WORDS[words]
    return None


def _which_bsd(package: Distribution) -> str:
    """Distinguish the BSD licenses by the third clause, which forbids advertising with names."""
    files = [file for file in package.files or [] if "licen" in file.name.lower()]
    text = " ".join(file.read_text() for file in files)
    return "BSD-3-Clause" if re.search(r"neither|endorse", text, re.I) else "BSD-2-Clause"

"""`make release`: checks that the translations are complete and the images recent, and builds the
wheel.

A change of an English text needs no translation. Until the release, the text is in English in the
other languages.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from app.core.translations import BUILT_IN

from .digests import FILES, dates
from .environment import ROOT
from .texts import DOMAINS, extract
from .translations import incomplete, malformed

# The languages that are complete in each release.
LANGUAGES = ("ar", "de", "es", "fr")
# An image of the Compose files and the Dockerfile that is older probably has known vulnerabilities.
MAX_IMAGE_DAYS = 120


def main() -> None:
    errors = check_translations(BUILT_IN, {domain: extract(domain) for domain in DOMAINS})
    if errors:
        print("\n".join(errors))
        sys.exit(f"Errors in the translations: {len(errors)}. Run `make texts`, and translate.")
    if old := old_images({name: (ROOT / name).read_text() for name in FILES}, date.today()):
        print("\n".join(old))
        sys.exit("Old images. Write the newest version of each, and the date of its release.")
    wheels = ROOT / "dist"
    shutil.rmtree(wheels, ignore_errors=True)
    run("build", "--wheel", "--no-isolation")
    run("twine", "check", "--strict", *map(str, wheels.glob("*")))


def check_translations(folder: Path, templates: Mapping[str, bytes]) -> list[str]:
    """Return a line for each text that is missing or malformed, in each language of a release."""
    found = []
    for domain, template in templates.items():
        for language in LANGUAGES:
            path = folder / language / "LC_MESSAGES" / f"{domain}.po"
            if not path.exists():
                found.append(f"{language}/{domain}: missing")
                continue
            po = path.read_bytes()
            errors = (*incomplete(po, template, language), *malformed(po, language))
            found += [f"{language}/{domain}: {error}" for error in errors]
    return found


def old_images(texts: Mapping[str, str], today: date) -> list[str]:
    """Return a line for each image whose date is missing or too old, in the texts of files."""
    return [
        f"{name}: {image}: {day or 'no date'}"
        for name, text in texts.items()
        for image, day in dates(text).items()
        if day is None or (today - date.fromisoformat(day)).days > MAX_IMAGE_DAYS
    ]


def run(module: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", module, *arguments], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()

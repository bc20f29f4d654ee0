"""`make release`: checks that the translations are complete, and builds the wheel.

A change of an English text needs no translation. Until the release, the text is in English in the
other languages.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from app.core.translations import BUILT_IN

from .environment import ROOT
from .texts import DOMAINS, extract
from .translations import incomplete, malformed

# The languages that are complete in each release.
LANGUAGES = ("ar", "de", "es", "fr")


def main() -> None:
    errors = check_translations(BUILT_IN, {domain: extract(domain) for domain in DOMAINS})
    if errors:
        print("\n".join(errors))
        sys.exit(f"Errors in the translations: {len(errors)}. Run `make texts`, and translate.")
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


def run(module: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", module, *arguments], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()

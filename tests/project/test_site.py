"""The documentation as a site: built without a warning, asking nobody else for anything."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser

from scripts.screens import CONSOLE, FOLDER, take

from ..rigs.servers import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HOME = PROJECT["urls"]["Documentation"]
# Pages with wide tables, long code or the site's own layout.
SEEN = ("index", "tutorial", "hosts", "settings", "python", "docker", "kubernetes", "search")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    [command] = re.findall(r"\$\(TOOL\) (sphinx .*)", (ROOT / "Makefile").read_text())
    *options, source, _ = command.split()
    done = subprocess.run(
        [sys.executable, "-m", *options, source, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_built(site: Path) -> None:
    pages = (path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md"))
    assert [page for page in pages if not (site / page.with_suffix(".html")).exists()] == []


def test_what_the_readme_and_the_package_link_to_is_there(site: Path) -> None:
    """Whoever reads them at an index has neither the repository nor its folders."""
    readme = (ROOT / "README.md").read_text()
    links = [*re.findall(r"\]\(([^)]+)\)", readme), *PROJECT["urls"].values()]
    ours = [link.removeprefix(HOME) or "index.html" for link in links if link.startswith(HOME)]
    assert len(ours) > 5
    assert [link for link in ours if not (site / link).exists()] == []
    assert [link for link in links if not link.startswith("https://")] == []


def test_pages_load_nothing_from_elsewhere_and_fit_a_small_screen(
    site: Path, browser: Browser
) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 740})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    wide = []
    for name in SEEN:
        page.goto((site / f"{name}.html").as_uri())
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(name)
    page.close()
    assert [url for url in asked if urlsplit(url).scheme not in ("file", "data")] == []
    assert wide == []


def test_no_page_names_a_file_of_elsewhere(site: Path) -> None:
    foreign = re.compile(
        r"""(?:<(?:script|img|iframe)\b[^>]*\bsrc|<link\b[^>]*\bhref)="(\w+:)?//"""
    )
    kept = re.compile(r'<link rel="canonical"[^>]*>')
    for path in site.rglob("*.html"):
        assert not foreign.search(kept.sub("", path.read_text())), path.name
    for path in site.rglob("*.css"):
        assert "url(http" not in path.read_text()


def test_the_pictures_can_be_taken_anew(browser: Browser, tmp_path: Path) -> None:
    taken = take(browser, tmp_path)
    # Those of the console are what tests/console/test_pages.py has seen.
    ours = {path.name for path in taken} | {f"{name}.png" for name in CONSOLE}
    assert ours == {path.name for path in FOLDER.glob("*.png")}
    assert all(path.stat().st_size > 10_000 for path in taken)

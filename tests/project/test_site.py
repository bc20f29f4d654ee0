"""The documentation site: builds without warnings and loads nothing from other servers."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser

from scripts.screens import CONSOLE, FOLDER, take

from ..rigs.backends import missing
from ..rigs.servers import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HOME = PROJECT["urls"]["Documentation"]
LINK = re.compile(r"\]\(([^)]+)\)")
# Pages with wide tables, long code or the site's own layout.
CHECKED_PAGES = ("index", "tutorial", "mfa", "settings", "python", "kubernetes", "search")
REDIRECT = re.compile(r'http-equiv="refresh" content="0; url=([^"]+)"')


# Search queries, and the page that answers each.
QUESTIONS = {
    "how do I install Frontdesk": "installation",
    "how do I add TOTP": "mfa",
    "what does mfa_required mean": "error-codes",
    "run on Kubernetes": "kubernetes",
    "docker": "docker",
    "refresh token": "sessions",
    "rate limits": "rate-limits",
    "passkeys": "passkeys",
    "sign in with google": "cookbook/sso",
    "import users from Django": "import-users",
    "send emails with Celery": "cookbook/celery",
    "gdpr": "gdpr",
    "invite users to a workspace": "invitations",
    "change the email template": "custom-emails",
    "existing users table": "cookbook/existing-users",
    "csrf": "cookies",
    "backup and restore": "backup",
    "users cannot sign in": "troubleshooting",
    "nginx": "reverse-proxy",
    "multi-tenancy by subdomain": "cookbook/subdomains",
    "htmx": "cookbook/htmx",
    "s3 avatars": "cookbook/s3-avatars",
    "prometheus metrics": "metrics",
    "how do I write tests with pytest": "testing",
    "email verification": "registration",
    "roles and permissions": "decorators",
    "audit log": "audit-log",
    "upgrade without downtime": "upgrading",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it."""
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


def test_links_of_the_package_lead_to_pages(site: Path, wheel: Path) -> None:
    """Package indexes show the README without the repository's files."""
    with zipfile.ZipFile(wheel) as files:
        [metadata] = [name for name in files.namelist() if name.endswith(".dist-info/METADATA")]
        description = str(message_from_bytes(files.read(metadata)).get_payload())
    links = [*LINK.findall(description), *PROJECT["urls"].values()]
    assert len(links) == len(LINK.findall((ROOT / "README.md").read_text())) + len(PROJECT["urls"])
    assert [link for link in links if not link.startswith("https://")] == []
    paths = [link.removeprefix(HOME) or "index.html" for link in links if link.startswith(HOME)]
    assert [path for path in paths if not (site / path).exists()] == []


def test_links_of_readme_lead_to_files() -> None:
    links = LINK.findall((ROOT / "README.md").read_text())
    local = [link for link in links if not link.startswith("https://")]
    assert len(local) > 20
    assert [link for link in local if not (ROOT / link).exists()] == []


def test_every_page_is_in_the_navigation(site: Path) -> None:
    home = (site / "index.html").read_text()
    navigation = home.partition('class="sidebar-tree"')[2].partition("</aside>")[0]
    listed = {link.partition("#")[0] for link in re.findall(r'href="([^"]+)"', navigation)}
    # The overview page of a reference lists its pages.
    pages = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    own = {page for page in pages if page.parent.name == "decisions"}
    own -= {Path("decisions/README.md")}
    expected = {page.with_suffix(".html").as_posix() for page in pages - own}
    assert len(expected) > 60
    assert expected - listed - {"index.html"} == set()
    for page in own:
        assert f'href="{page.stem}.html"' in (site / page.parent / "README.html").read_text()


def test_internal_links_lead_to_pages_and_anchors(site: Path) -> None:
    texts = {path: path.read_text() for path in site.rglob("*.html")}
    anchors = {path: set(re.findall(r'\bid="([^"]+)"', text)) for path, text in texts.items()}
    broken = []
    for path, text in texts.items():
        article = text.partition('<article role="main"')[2].partition("</article>")[0]
        for link in re.findall(r'<a [^>]*href="([^":]+)"', article):
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            if not target.exists() or (anchor and anchor not in anchors.get(target, {anchor})):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []


def test_every_setting_and_error_code_has_an_anchor(site: Path) -> None:
    for page, names in {
        "settings": r"^\| `([A-Z_0-9]+)` \|",
        "error-codes": r"^## `?([\w-]+)`?$",
    }.items():
        listed = re.findall(names, (ROOT / "docs" / f"{page}.md").read_text(), re.MULTILINE)
        anchors = set(re.findall(r'\bid="([^"]+)"', (site / f"{page}.html").read_text()))
        assert len(listed) > 50
        assert [name for name in listed if {name, name.replace("_", "-")}.isdisjoint(anchors)] == []


def test_former_page_names_redirect_to_present_pages(site: Path) -> None:
    forwards = {path: REDIRECT.findall(path.read_text()) for path in site.rglob("*.html")}
    targets = {path: path.parent / found[0] for path, found in forwards.items() if found}
    assert {site / "hosts.html", site / "moving-in.html"} <= targets.keys()
    assert [path for path, target in targets.items() if not target.exists()] == []


def test_search_answers_questions_within_its_first_three_results(site: Path) -> None:
    if shutil.which("node") is None:
        missing("node is not installed")
    done = subprocess.run(
        ["node", str(ROOT / "tests" / "rigs" / "search" / "ask.js"), str(site)],
        input="\n".join(json.dumps(question) for question in QUESTIONS),
        capture_output=True,
        text=True,
        check=True,
    )
    responses = [json.loads(line)[:3] for line in done.stdout.splitlines()]
    found = [[address.partition("#")[0] for address in response] for response in responses]
    pairs = zip(QUESTIONS.items(), found, strict=True)
    assert [(question, pages) for (question, page), pages in pairs if page not in pages] == []


def test_pages_load_nothing_from_other_servers_and_fit_a_small_screen(
    site: Path, browser: Browser
) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 740})
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    wide = []
    for path in site.rglob("*.html"):
        if REDIRECT.search(path.read_text()):
            continue
        page.goto(path.as_uri())
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(path.relative_to(site).as_posix())
    page.close()
    assert [url for url in requested if urlsplit(url).scheme not in ("file", "data")] == []
    assert wide == []


def test_phone_has_search_and_navigation_at_the_top(site: Path, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    for name in CHECKED_PAGES:
        page.goto((site / f"{name}.html").as_uri())
        field = page.locator(".page-search input").bounding_box()
        assert field is not None
        assert field["y"] < 150
        assert page.locator(".mobile-header .nav-overlay-icon").is_visible()
    page.fill(".page-search input", "totp")
    page.press(".page-search input", "Enter")
    page.get_by_role("link", name="Multi-factor authentication (MFA)").first.wait_for()
    page.close()


def test_dark_mode_copy_buttons_and_the_current_page(site: Path, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="dark")
    page.goto((site / "mfa.html").as_uri())
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    assert page.locator(".sidebar-tree .current-page").inner_text() == "MFA (TOTP, recovery codes)"
    assert page.locator(".highlight button.copybtn").count() > 3
    page.emulate_media(color_scheme="light")
    assert page.evaluate(background) != dark
    page.close()


def test_no_page_refers_to_a_file_of_another_server(site: Path) -> None:
    external = re.compile(
        r"""(?:<(?:script|img|iframe)\b[^>]*\bsrc|<link\b[^>]*\bhref)="(\w+:)?//"""
    )
    canonical = re.compile(r'<link rel="canonical"[^>]*>')
    for path in site.rglob("*.html"):
        assert not external.search(canonical.sub("", path.read_text())), path.name
    for path in site.rglob("*.css"):
        assert "url(http" not in path.read_text()


def test_screenshots_can_be_updated(browser: Browser, tmp_path: Path) -> None:
    taken = take(browser, tmp_path)
    # tests/console/test_pages.py checks the screenshots of the console.
    expected = {path.name for path in taken} | {f"{name}.png" for name in CONSOLE}
    assert expected == {path.name for path in FOLDER.glob("*.png")}
    assert all(path.stat().st_size > 10_000 for path in taken)

"""The documentation site: builds without warnings and loads nothing from other servers."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import tomllib
import zipfile
from email import message_from_bytes
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Page

from scripts.screens import CONSOLE, EXAMPLES, FOLDER, take

from ..rigs.servers import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HOME = PROJECT["urls"]["Documentation"]
LINK = re.compile(r"\]\(([^)]+)\)")
# Pages with wide tables, long code or the site's own layout.
CHECKED_PAGES = ("index", "tutorial", "mfa", "settings", "python", "kubernetes", "search")
REDIRECT = re.compile(r'http-equiv="refresh" content="0; url=([^"]+)"')


# Search queries, and the pages of which one answers them.
QUESTIONS = {
    "how do I install Frontdesk": "installation",
    "how do I add TOTP": "mfa",
    "what does mfa_required mean": "error-codes",
    "run on Kubernetes": "kubernetes",
    "docker": "docker",
    "rate limits": "rate-limits",
    "passkeys": "passkeys",
    "sign in with google": "cookbook/google cookbook/sso",
    "import users from Django": "import-users",
    "send emails with Celery": "cookbook/celery",
    "gdpr": "gdpr",
    "invite users to a workspace": "invitations",
    "change the email template": "custom-emails",
    "existing users table": "cookbook/existing-users",
    "csrf": "cookies",
    "trusted proxy header": "custom-authentication reverse-proxy",
    "backup and restore": "backup",
    "users cannot sign in": "troubleshooting",
    "nginx": "reverse-proxy",
    "multi-tenancy by subdomain": "cookbook/subdomains",
    "htmx": "cookbook/htmx",
    "react with vite": "react",
    "s3 avatars": "cookbook/s3-avatars",
    "prometheus metrics": "metrics",
    "how do I write tests with pytest": "testing",
    "email verification": "registration",
    "roles and permissions": "decorators",
    "audit log": "audit-log",
    "upgrade without downtime": "upgrading",
    "personal access token": "tokens",
    "scopes of a token": "tokens scopes",
    "leaked token secret scanner": "tokens",
    # Names of the reference.
    "AUTH__LOGIN_LIMIT": "settings",
    "PASSWORD_MIN_LENGTH": "settings",
    "incorrect_credentials": "error-codes",
    "roles_required": "python decorators",
    "flask accounts create": "cli",
}
# Queries that a writer chose before reading the site.
FIRST_QUESTIONS = {
    "add a field to the login response": "custom-schemas",
    "use my own User model": "cookbook/existing-users",
    "JWT in cookie CSRF": "cookies",
    "send emails in development": "email-delivery development-emails",
    "behind nginx": "reverse-proxy",
    "rate limit settings": "rate-limits",
    "test my views": "testing",
    "log in user after sign up form": "use-from-python",
    "rotate SECRET_KEY": "operations",
    "delete a user GDPR": "gdpr",
    "401 Token expired": "accounts",
    "run a worker": "cookbook/celery",
    "change email template": "custom-emails",
    "add a role": "decorators",
    "migrate from Flask-Security": "cookbook/column-mapping import-users",
    "multi-tenancy": "cookbook/multi-tenancy",
    "upload avatar to S3": "cookbook/s3-avatars",
    "React SPA": "react",
    "Google sign-in": "cookbook/google cookbook/sso",
    "API key for scripts": "tokens",
    "CORS": "cookies api",
    "refresh token": "sessions",
    "disable registration": "registration",
    "access token lifetime": "security/lifetimes",
    "create admin user": "cli",
    "login required": "decorators",
    "current_user": "decorators",
    "PostgreSQL database URL": "settings",
    "readiness probe": "kubernetes",
    "impersonate a user": "limitations",
    "password policy": "accounts",
    "unlock account": "cli rate-limits",
    "reset 2FA lost phone": "mfa",
    "webhook": "limitations",
    "upgrade version": "upgrading",
}
# Elements of a page whose content is cut, except boxes with a shadow that shows that they scroll.
CUT = """() => [document.querySelector(".content"), ...document.querySelectorAll("article *")]
    .filter((box) => box.clientWidth > 0 && box.scrollWidth > box.clientWidth + 1)
    .filter((box) => {
        const style = getComputedStyle(box);
        const scrolls = style.backgroundAttachment.startsWith("local, local, scroll, scroll");
        return style.overflowX !== "visible" && !(style.overflowX === "auto" && scrolls);
    })
    .map((box) => `${box.tagName} ${box.className}: ${box.innerText.slice(0, 60)}`)"""
# Names in the first columns of tables that break inside a word.
BROKEN = """() => [...document.querySelectorAll("article td:not(:last-child) code.literal .pre")]
    .filter((name) => name.getClientRects().length > 1)
    .map((name) => name.innerText)"""


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
        "settings": r"^:::{confval} (\w+)$",
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


def test_search_answers_questions_within_its_first_three_results(
    site: Path, browser: Browser
) -> None:
    page = browser.new_page()
    page.goto((site / "search.html").as_uri())
    assert len(FIRST_QUESTIONS) == 35
    asked = QUESTIONS | FIRST_QUESTIONS
    found = {question: first_results(page, question) for question in asked}
    page.close()
    assert {
        question: found[question]
        for question, pages in asked.items()
        if not set(pages.split()) & set(found[question])
    } == {}


def first_results(page: Page, question: str) -> list[str]:
    """Search on the search page, and return the pages of the first three results."""
    page.evaluate(
        """(question) => {
            document.getElementById("search-results").replaceChildren();
            Search.performSearch(question);
        }""",
        question,
    )
    page.wait_for_function("document.querySelector('.search-summary')?.innerText")
    addresses: list[str] = page.locator("#search-results .search > li > a").evaluate_all(
        "links => links.slice(0, 3).map((link) => link.getAttribute('href'))"
    )
    return [address.partition(".html")[0] for address in addresses]


def test_search_finds_pages_with_some_of_the_words(site: Path, browser: Browser) -> None:
    page = browser.new_page()
    page.goto((site / "index.html").as_uri())
    page.fill(".sidebar-search", "passkeys xyzzy quux")
    page.press(".sidebar-search", "Enter")
    page.get_by_role("link", name="Passkeys").first.wait_for()
    page.wait_for_function("document.querySelector('.search-summary').innerText")
    assert first_results(page, "xyzzy") == []
    assert page.locator(".search-summary").inner_text().startswith("Your search did not match")
    page.close()


def test_pages_load_nothing_from_other_servers_and_fit_a_small_screen(
    site: Path, browser: Browser
) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 740})
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    wide, cut = [], {}
    for path in site.rglob("*.html"):
        if REDIRECT.search(path.read_text()) or path.name == "404.html":
            continue
        page.goto(path.as_uri())
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(path.relative_to(site).as_posix())
        if boxes := [*page.evaluate(CUT), *page.evaluate(BROKEN)]:
            cut[path.relative_to(site).as_posix()] = boxes
    page.close()
    assert [url for url in requested if urlsplit(url).scheme not in ("file", "data")] == []
    assert wide == []
    assert cut == {}


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


def test_navigation_has_nine_groups_of_at_most_ten_pages(site: Path) -> None:
    trees = re.findall(r':caption: ".*?"\n\n(.*?)\n```', (ROOT / "docs/index.md").read_text(), re.S)
    assert len(trees) == 9
    assert [tree for tree in trees if len(tree.split("\n")) > 10] == []
    home = (site / "index.html").read_text()
    assert home.count('<details class="nav-group">') == 9


def test_desktop_shows_where_the_reader_is(site: Path, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    for name in ("installation", "settings", "decisions/sign-out", "http-api/tasks", "licences"):
        page.goto((site / f"{name}.html").as_uri())
        box = page.locator(".sidebar-tree .current-page > .reference").bounding_box()
        assert box is not None
        assert 0 < box["y"] < 780, name
        assert page.locator(".nav-group[open]").count() == 1
        assert page.locator(".breadcrumbs li").count() >= 2
    page.goto((site / "cookbook/column-mapping.html").as_uri())
    place = page.locator(".breadcrumbs li").all_inner_texts()
    assert [name.strip() for name in place] == [
        "Frontdesk",
        "Integrate",
        "Existing users table: keep it with Frontdesk",
    ]
    assert page.locator(".toc-tree").get_by_text("From Flask-Security").is_visible()
    page.close()


def test_pages_have_descriptions_and_markdown(site: Path) -> None:
    pages = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    listed = (site / "llms.txt").read_text()
    locations = ElementTree.parse(site / "sitemap.xml").findall("{*}url/{*}loc")
    assert len({each.text for each in locations}) == len(pages)
    for page in pages:
        html = (site / page.with_suffix(".html")).read_text()
        [description] = re.findall(r'<meta name="description" content="([^"]+)"', html)
        assert 20 < len(description) < 200, page
        assert page.parent.name == "decisions" or f"{HOME}{page})" in listed or page.stem == "index"
        assert (site / page).read_text().startswith("# "), page
    assert "(existing-app.md)" in (site / "index.md").read_text()
    assert "toctree" not in (site / "index.md").read_text()
    assert "Page not found" in (site / "404.html").read_text()
    assert '"caption-text">pinboard/__init__.py<' in (site / "tutorial.html").read_text()


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


class QuietFiles(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log nothing."""


def test_openapi_document_is_rendered_within_a_second(site: Path, browser: Browser) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietFiles, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        times = []
        for _ in range(3):
            page = browser.new_page()
            page.goto(f"http://127.0.0.1:{server.server_port}/http-api/openapi.html")
            page.locator("#openapi details").last.wait_for()
            [mark] = page.evaluate("performance.getEntriesByName('operations-shown')")
            times.append(mark["startTime"])
            page.close()
        # The best of three: other tests use the machine too.
        assert min(times) < 1000
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/http-api/openapi.html")
        page.get_by_label("Filter operations").fill("post /login")
        page.locator("#openapi details:visible").filter(has_text="Sign in with email").click()
        page.get_by_role("cell", name="access_token", exact=True).first.wait_for()
        page.close()
        server.shutdown()


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
    # tests/console/test_pages.py and test_tutorial.py check the other pages.
    expected = {path.name for path in taken} | {f"{name}.png" for name in (*CONSOLE, *EXAMPLES)}
    assert expected == {path.name for path in FOLDER.glob("*.png")}
    assert all(path.stat().st_size > 10_000 for path in taken)

"""The documentation page, in a real browser."""

from __future__ import annotations

import gzip
import re
import threading
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Request, Route, expect
from werkzeug.serving import make_server

from app.testing.client import Api

from ..conftest import PASSWORD, MakeApp, Person
from ..rigs.cases import for_each

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)


@pytest.fixture
def base(make_app: MakeApp) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, make_app(), threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.port}/api/v1"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def requested(page: Page) -> list[str]:
    """Collect the hosts that the page requests; requests to other hosts are blocked."""
    hosts: list[str] = []

    def record_and_filter(route: Route, request: Request) -> None:
        host = urlsplit(request.url).hostname or ""
        if request.url.startswith(("data:", "blob:")):
            route.continue_()
            return
        hosts.append(host)
        if host == "127.0.0.1":
            route.continue_()
        else:
            route.abort()

    page.route("**/*", record_and_filter)
    return hosts


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    yield page
    page.close()


def shows_every_route(page: Page, _: Person) -> None:
    expect(page.locator(".info .title")).to_contain_text("Frontdesk")
    expect(page.get_by_text("List tasks")).to_be_visible()


def tries_a_route(page: Page, _: Person) -> None:
    health = page.locator("#operations-health-health")
    health.locator(".opblock-summary-control").click()
    health.get_by_role("button", name="Try it out").click()
    health.get_by_role("button", name="Execute").click()
    expect(health.locator(".live-responses-table")).to_contain_text('"status": "ok"')


def signs_in(page: Page, ada: Person) -> None:
    page.locator(".auth-wrapper .authorize").click()
    form = page.locator(".auth-container", has_text="Token URL: /api/v1/login")
    form.locator("#oauth_username").press_sequentially(ada.email)
    form.locator("#oauth_password").press_sequentially(PASSWORD)
    form.get_by_role("button", name="Apply given OAuth2 credentials").click()
    expect(form.get_by_role("button", name="Remove authorization")).to_be_visible()
    page.locator(".modal-ux").get_by_role("button", name="Close").last.click()
    account = page.locator("#operations-auth-getAccount")
    account.locator(".opblock-summary-control").click()
    account.get_by_role("button", name="Try it out").click()
    account.get_by_role("button", name="Execute").click()
    expect(account.locator(".live-responses-table")).to_contain_text(f'"email": "{ada.email}"')


@pytest.fixture
def errors(page: Page) -> list[str]:
    """Collect the errors of the page's scripts."""
    found: list[str] = []
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on("console", lambda line: found.append(line.text) if line.type == "error" else None)
    return found


@pytest.fixture
def open_page(page: Page, base: str, requested: list[str], errors: list[str]) -> Page:
    """Open the page once for all cases."""
    page.goto(f"{base}/docs")
    return page


def follows_the_color_scheme(page: Page, _: Person) -> None:
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_class("dark-mode")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    page.emulate_media(color_scheme="light")
    expect(page.locator("html")).not_to_have_class("dark-mode")


def shows_sign_in_first_and_examples(page: Page, _: Person) -> None:
    assert page.locator(".opblock-tag").first.get_attribute("data-tag") == "auth"
    expect(page.locator(".info")).to_contain_text('curl "$server/api/v1/login"')


def shows_the_schema_of_a_response(page: Page, _: Person) -> None:
    task = page.locator("#operations-tasks-getTask")
    task.locator(".opblock-summary-control").click()
    expect(task.locator(".response").first).to_contain_text('"priority":')


def links_back_to_the_console(page: Page, _: Person) -> None:
    page.get_by_role("link", name="Back to the console").click()
    expect(page).to_have_url(re.compile("/sign-in$"))


@for_each(
    "use_page",
    [
        shows_every_route,
        tries_a_route,
        signs_in,
        follows_the_color_scheme,
        shows_sign_in_first_and_examples,
        shows_the_schema_of_a_response,
        links_back_to_the_console,
    ],
)
def test_page_works_without_requests_to_other_hosts(
    open_page: Page,
    requested: list[str],
    errors: list[str],
    ada: Person,
    use_page: Callable[[Page, Person], None],
) -> None:
    use_page(open_page, ada)
    assert set(requested) == {"127.0.0.1"}
    assert errors == []


def test_page_cannot_be_framed_or_load_from_other_sites(make_app: MakeApp) -> None:
    policy = Api(make_app()).get("/docs").headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy


@for_each("name", ["nothing.js", "..%2f..%2f__init__.py", "index.html", "%00"])
def test_only_files_of_the_page_are_served(api: Api, name: str) -> None:
    api.get(f"/docs/{name}", 404)


def test_document_is_compressed_and_unchanged_until_the_next_start(api: Api) -> None:
    path, accept = "/api/v1/openapi.json", {"Accept-Encoding": "gzip"}
    plain, packed = api.client.get(path), api.client.get(path, headers=accept)
    assert gzip.decompress(packed.data) == plain.data
    assert len(packed.data) < len(plain.data) / 10
    again = api.client.get(path, headers={**accept, "If-None-Match": packed.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_examples_name_only_mounted_routes(make_app: MakeApp) -> None:
    document = Api(make_app(AUTH__MFA="off", AUTH__SESSIONS="off")).get("/openapi.json").json
    text = document["info"]["description"]
    assert "Sign in with a second factor" not in text
    assert "Send a broadcast" in text
    paths = re.findall(r'curl (?:-X DELETE )?"\$server([^"]+)"', text)
    assert len(paths) >= 4
    assert set(paths) <= set(document["paths"])


def test_page_has_the_name_of_the_brand_as_text(make_app: MakeApp) -> None:
    page = make_app(BRAND__NAME="<Acme>").test_client().get("/api/v1/docs").text
    assert "API reference · &lt;Acme&gt;" in page
    assert "<Acme>" not in page

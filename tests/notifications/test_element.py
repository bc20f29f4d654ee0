"""`<frontdesk-inbox>` in a real browser, on pages with a strict Content-Security-Policy."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect

from app import __version__
from app.notifications.element import SCRIPT
from app.testing.client import Api
from app.testing.people import Person

from ..rigs.axe import violations
from ..rigs.shop import INBOX, Shop, browser_context, serve_shop

COUNT = ("GET", "unread-count")


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with serve_shop(tmp_path) as shop:
        yield shop


@pytest.fixture
def ada(shop: Shop) -> Person:
    return shop.person("ada")


@pytest.fixture
def context(browser: Browser, shop: Shop, ada: Person) -> Iterator[BrowserContext]:
    with browser_context(browser) as context:
        shop.sign_in(context, ada)
        yield context


def part(page: Page, name: str) -> Locator:
    return page.locator(f"frontdesk-inbox [part~={name}]")


def bell(page: Page) -> Locator:
    return part(page, "bell")


def wait_for_requests(
    page: Page, shop: Shop, count: int, method: str, path: str, status: int | None = None
) -> None:
    for _ in range(200):
        if shop.count(method, path, status) >= count:
            break
        page.wait_for_timeout(20)
    # The page reads the response before its clock is moved on.
    page.wait_for_timeout(200)
    assert shop.count(method, path, status) == count, shop.requests


def wait_for_event(page: Page) -> None:
    """Not by `wait_for_function`: it evaluates text in the page, which the policy rejects."""
    for _ in range(500):
        if page.evaluate("events.length"):
            return
        page.wait_for_timeout(20)
    raise AssertionError("no event")


def _height(element: Locator) -> float:
    box = element.bounding_box()
    assert box is not None
    return box["height"]


def states(shop: Shop, person: Person) -> dict[str, bool]:
    """Return whether each item is read, by title."""
    items = person.api().get("/notifications").json
    return {item["title"]: item["is_read"] for item in items}


def wait_for_titles(page: Page, shop: Shop, person: Person, titles: set[str]) -> None:
    for _ in range(100):
        if set(states(shop, person)) == titles:
            break
        page.wait_for_timeout(20)
    assert set(states(shop, person)) == titles


def test_script_is_small_and_cached_under_the_url_of_its_version(shop: Shop) -> None:
    api = Api(shop.app, INBOX)
    script = api.get(f"/element/{__version__}/inbox.js", headers={"Accept-Encoding": "gzip"})
    assert script.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert script.headers["Access-Control-Allow-Origin"] == "*"
    assert script.headers["Content-Type"].startswith("text/javascript")
    assert gzip.decompress(script.response.data) == SCRIPT.read_bytes()
    assert len(script.response.data) <= 10 * 1024
    for path in ("/element/inbox.js", "/element/0/inbox.js", "/element//inbox.js"):
        api.get(path, 404)
    moved = api.get("/element/preferences", 303)
    assert moved.headers["Location"] == "https://shop.example/account/notifications"
    text = SCRIPT.read_text()
    code = [
        line for line in text.splitlines() if line.strip() and not line.strip().startswith("//")
    ]
    assert len(code) <= 600
    assert "innerHTML" not in text


def test_user_opens_reads_and_marks_notifications(
    shop: Shop, ada: Person, context: BrowserContext
) -> None:
    shop.notify(ada, "Order 7 has left", url=f"{shop.base}/orders/7")
    shop.notify(ada, "Terms", "A long text. " * 60)
    shop.notify(ada, "Sale")
    page = shop.open(context)
    expect(bell(page)).to_have_accessible_name("3 new notifications")
    expect(part(page, "badge")).to_have_text("3")
    bell(page).click()
    items = part(page, "item")
    expect(items).to_have_count(3)
    # The badge counts new items, which the list shows now. The items stay unread.
    expect(part(page, "badge")).to_be_hidden()
    expect(part(page, "unread")).to_have_count(3)
    items.filter(has_text="Sale").get_by_role("button", name="Mark as read").click()
    expect(part(page, "unread")).to_have_count(2)
    items.filter(has_text="Sale").get_by_role("button", name="Mark as unread").click()
    expect(part(page, "unread")).to_have_count(3)
    # An item without a link shows its whole text.
    text = items.filter(has_text="Terms").locator("p")
    height = _height(text)
    page.get_by_role("button", name="Terms", exact=True).click()
    expect(part(page, "unread")).to_have_count(2)
    expect(part(page, "expanded")).to_be_visible()
    assert _height(text) > height
    link = page.get_by_role("link", name="Order 7 has left")
    assert link.get_attribute("rel") == "noopener"
    link.click()
    page.wait_for_url("**/orders/7")
    wait_for_requests(page, shop, 1, "PATCH", f"{_notification(ada, 'Order 7 has left')}/mark")
    assert states(shop, ada) == {"Sale": False, "Terms": True, "Order 7 has left": True}
    bell(page).click()
    page.get_by_role("button", name="Mark all as read").click()
    expect(part(page, "unread")).to_have_count(0)
    assert states(shop, ada)["Sale"]
    expect(page.get_by_role("button", name="Mark all as read")).to_be_disabled()


def _notification(person: Person, title: str) -> int:
    items = person.api().get("/notifications").json
    return next(int(item["notification_id"]) for item in items if item["title"] == title)


def test_application_routes_a_plain_click_itself(
    shop: Shop, ada: Person, context: BrowserContext
) -> None:
    shop.notify(ada, "Order", url="/orders/7")
    page = shop.open(context)
    page.evaluate("window.isRouted = true")
    bell(page).click()
    page.get_by_role("link", name="Order", exact=True).click()
    expect(part(page, "panel")).to_be_hidden()
    assert page.evaluate("events") == [["open", "Order"]]
    assert page.url.startswith(f"{shop.base}/?")
    wait_for_requests(page, shop, 1, "PATCH", f"{_notification(ada, 'Order')}/mark")
    assert states(shop, ada) == {"Order": True}


def test_deletion_can_be_undone_for_five_seconds(
    shop: Shop, ada: Person, context: BrowserContext
) -> None:
    for title in ("Plum", "Pear", "Apple"):
        shop.notify(ada, title)
    page = context.new_page()
    page.clock.install()
    page.goto(shop.base)
    bell(page).click()
    page.get_by_role("button", name="Delete: Pear").press("Enter")
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_focused()
    expect(part(page, "status")).to_have_text("Notification deleted")
    page.clock.run_for(4_900)
    undo.press("Enter")
    expect(page.get_by_role("button", name="Pear", exact=True)).to_be_focused()
    page.clock.run_for(6_000)
    assert set(states(shop, ada)) == {"Plum", "Pear", "Apple"}
    page.get_by_role("button", name="Delete: Pear").press("Enter")
    page.clock.run_for(5_100)
    expect(part(page, "item")).to_have_count(2)
    # The focus goes to the item that takes the place.
    expect(page.get_by_role("button", name="Plum", exact=True)).to_be_focused()
    wait_for_titles(page, shop, ada, {"Plum", "Apple"})
    page.get_by_role("button", name="Delete: Apple").click()
    page.goto(f"{shop.base}/orders/1")
    wait_for_titles(page, shop, ada, {"Plum"})


def test_deletion_that_fails_brings_the_notification_back(
    shop: Shop, ada: Person, context: BrowserContext
) -> None:
    shop.notify(ada, "Pear")
    page = context.new_page()
    page.clock.install()
    page.goto(shop.base)
    bell(page).click()
    page.get_by_role("button", name="Delete: Pear").click()
    shop.failure = (503, {})
    page.clock.run_for(5_100)
    expect(part(page, "note")).to_have_text("The notifications cannot be loaded.")
    shop.failure = None
    page.clock.run_for(61_000)
    expect(page.get_by_role("button", name="Pear", exact=True)).to_be_visible()


def test_older_notifications_are_shown_in_pages(
    shop: Shop, ada: Person, context: BrowserContext
) -> None:
    for number in range(25):
        shop.notify(ada, f"Title {number}.")
    page = shop.open(context)
    bell(page).click()
    expect(part(page, "item")).to_have_count(20)
    page.get_by_role("button", name="Show older").click()
    expect(part(page, "item")).to_have_count(25)
    expect(page.get_by_role("button", name="Title 4.", exact=True)).to_be_focused()
    expect(page.get_by_role("button", name="Show older")).to_be_hidden()


def test_keyboard_opens_walks_and_closes_the_panel(
    shop: Shop, ada: Person, context: BrowserContext
) -> None:
    shop.notify(ada, "Order", url="/orders/7")
    page = shop.open(context)
    bell(page).focus()
    assert bell(page).get_attribute("aria-expanded") in (None, "false")
    page.keyboard.press("Enter")
    expect(bell(page)).to_have_attribute("aria-expanded", "true")
    expect(part(page, "item")).to_have_count(1)
    for name in ("Mark all as read", "Order", "Mark as read: Order", "Delete: Order"):
        page.keyboard.press("Tab")
        role: Any = "link" if name == "Order" else "button"
        expect(page.get_by_role(role, name=name, exact=True)).to_be_focused()
    page.keyboard.press("Tab")
    expect(part(page, "preferences")).to_be_focused()
    page.keyboard.press("Escape")
    expect(part(page, "panel")).to_be_hidden()
    expect(bell(page)).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="All orders")).to_be_focused()


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("page-lang=de", {"viewport": {"width": 360, "height": 740}}),
        ("page-lang=fr", {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"}),
        ("page-lang=ar", {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"}),
        ("lang=es&theme=dark", {"viewport": {"width": 1280, "height": 800}}),
    ],
    ids=["de-360-light", "fr-1280-dark", "ar-360-dark", "es-dark-theme"],
)
def test_panel_is_accessible_in_each_language_width_and_theme(
    browser: Browser, shop: Shop, ada: Person, query: str, options: dict[str, Any]
) -> None:
    shop.notify(ada, "Order", url="/orders/7")
    shop.notify(ada, "A title that does not fit into one line of a small window" * 2)
    with browser_context(browser, **options) as context:
        shop.sign_in(context, ada)
        page = shop.open(context, query)
        expect(part(page, "badge")).to_have_text(re.compile("2|٢"))
        assert violations(page) == []
        bell(page).click()
        expect(part(page, "item")).to_have_count(2)
        part(page, "delete").first.click()
        assert violations(page) == []
        box, width = part(page, "panel").bounding_box(), options["viewport"]["width"]
        assert box is not None
        assert box["x"] >= 8
        assert box["x"] + box["width"] <= width - 8
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        is_rtl = part(page, "panel").evaluate("(it) => getComputedStyle(it).direction") == "rtl"
        assert is_rtl is ("lang=ar" in query)
        back = part(page, "panel").evaluate("(it) => getComputedStyle(it).backgroundColor")
        is_dark = "dark" in query or options.get("color_scheme") == "dark"
        assert back == ("rgb(31, 35, 40)" if is_dark else "rgb(255, 255, 255)")
        title = {"de": "Benachrichtigungen", "fr": "Notifications", "ar": "الإشعارات"}
        expected = title.get(query.partition("page-lang=")[2], "Notificaciones")
        expect(part(page, "heading")).to_have_text(expected)


def test_polling_is_conditional_and_stops_while_the_page_is_hidden(
    shop: Shop, ada: Person, context: BrowserContext
) -> None:
    page = context.new_page()
    page.clock.install()
    page.goto(f"{shop.base}/?poll=10")
    wait_for_requests(page, shop, 1, *COUNT)
    for count in (1, 2, 3):
        page.clock.run_for(12_000)
        wait_for_requests(page, shop, count, *COUNT, 304)
    shop.notify(ada, "Order")
    page.clock.run_for(12_000)
    expect(part(page, "badge")).to_have_text("1")
    expect(part(page, "status")).to_have_text("1 new notification")
    _set_hidden(page, True)
    before = shop.count(*COUNT)
    page.clock.run_for(60_000)
    assert shop.count(*COUNT) == before
    # The page comes to the front: it asks at once.
    shop.notify(ada, "Order")
    _set_hidden(page, False)
    expect(part(page, "badge")).to_have_text("2")


def _set_hidden(page: Page, is_hidden: bool) -> None:
    """Chromium without a window hides no page."""
    page.evaluate(
        """(hidden) => {
          Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }""",
        is_hidden,
    )


def test_three_tabs_poll_as_one(shop: Shop, ada: Person, context: BrowserContext) -> None:
    pages = [context.new_page() for _ in range(3)]
    pages[0].clock.install()
    for page in pages:
        page.goto(f"{shop.base}/?poll=10")
        wait_for_requests(page, shop, 1, *COUNT)
    shop.notify(ada, "Order")
    # All pages of a context share the clock.
    pages[0].clock.run_for(12_000)
    for page in pages:
        expect(part(page, "badge")).to_have_text("1")
    assert shop.count(*COUNT) == 2
    # One tab shows the list: no tab has a badge then.
    bell(pages[1]).click()
    for page in pages:
        expect(part(page, "badge")).to_be_hidden()
    # Another tab takes over when the one that polls is closed.
    shop.notify(ada, "Order")
    pages[0].close()
    pages[1].clock.run_for(12_000)
    expect(part(pages[1], "item")).to_have_count(2)
    # It is seen at once, in the tab that shows the list.
    wait_for_requests(pages[1], shop, 2, "POST", "seen")


def test_absent_server_is_asked_less_and_less_often(
    shop: Shop, ada: Person, context: BrowserContext
) -> None:
    page = context.new_page()
    page.clock.install()
    # Pauses are longer by a random part, of at most a quarter.
    page.add_init_script("Math.random = () => 0")
    page.goto(f"{shop.base}/?poll=10")
    wait_for_requests(page, shop, 1, *COUNT)
    shop.failure = (503, {"Retry-After": "200"})
    page.clock.run_for(12_000)
    wait_for_requests(page, shop, 1, *COUNT, 503)
    # The server has said when to come back. A page that comes to the front does not ask earlier.
    page.clock.run_for(190_000)
    _set_hidden(page, True)
    _set_hidden(page, False)
    assert shop.count(*COUNT) == 2
    shop.failure = (500, {})
    page.clock.run_for(15_000)
    wait_for_requests(page, shop, 3, *COUNT)
    # After two failures: four intervals.
    page.clock.run_for(30_000)
    assert shop.count(*COUNT) == 3
    shop.failure = None
    page.clock.run_for(15_000)
    wait_for_requests(page, shop, 4, *COUNT)
    page.clock.run_for(12_000)
    wait_for_requests(page, shop, 5, *COUNT)


def test_polling_stops_when_the_session_has_ended(
    shop: Shop, ada: Person, context: BrowserContext
) -> None:
    pages = [context.new_page() for _ in range(2)]
    pages[0].clock.install()
    for page in pages:
        page.goto(f"{shop.base}/?poll=10")
    wait_for_requests(pages[0], shop, 1, *COUNT)
    context.clear_cookies()
    pages[0].clock.run_for(12_000)
    for page in pages:
        wait_for_event(page)
        assert page.evaluate("events") == [["unauthorized", None]]
    # The request was repeated once: the cookie may have been replaced in the meantime.
    assert shop.count(*COUNT, 401) == 2
    pages[0].clock.run_for(100_000)
    assert shop.count(*COUNT, 401) == 2
    bell(pages[0]).click()
    expect(part(pages[0], "note")).to_have_text("You are signed out.")
    shop.sign_in(context, ada)
    shop.notify(ada, "Order")
    pages[0].evaluate("document.querySelector('frontdesk-inbox').refresh()")
    expect(part(pages[0], "item")).to_have_count(1)


def test_token_is_used_instead_of_the_cookie(
    browser: Browser, shop: Shop, ada: Person, context: BrowserContext
) -> None:
    bob = shop.person("bob")
    shop.notify(bob, "For Bob")
    shop.notify(ada, "For Ada")
    page = shop.open(context, f"api=/api/v1/&token={bob.token()}")
    expect(part(page, "badge")).to_have_text("1")
    bell(page).click()
    expect(part(page, "item")).to_have_text(re.compile("For Bob"))
    # A tab with the cookie of another account polls for itself.
    other = shop.open(context)
    bell(other).click()
    expect(part(other, "item")).to_have_text(re.compile("For Ada"))
    # `getToken` returns nothing after a sign-out.
    page.evaluate("window.token = ''")
    page.get_by_role("button", name="Mark all as read").click()
    wait_for_event(page)
    expect(part(page, "item")).to_have_count(0)


def test_page_of_another_site_uses_the_api_with_a_token(
    browser: Browser, shop: Shop, ada: Person
) -> None:
    shop.notify(ada, "Order")
    with browser_context(browser) as context:
        page = context.new_page()
        # The property is set before the script is loaded.
        page.add_init_script(
            f"""document.addEventListener("readystatechange", () => {{
              document.querySelector("frontdesk-inbox").getToken ??= async () => "{ada.token()}";
            }}, {{ once: true }});"""
        )
        page.goto(f"{shop.other_base}/elsewhere")
        expect(part(page, "badge")).to_have_text("1")
        bell(page).click()
        page.get_by_role("button", name="Delete: Order").click()
        page.goto(f"{shop.base}/")
        wait_for_titles(page, shop, ada, set())


def test_texts_of_a_notification_are_neither_markup_nor_a_script(
    shop: Shop, ada: Person, context: BrowserContext
) -> None:
    shop.notify(ada, "<b onclick=alert(1)>Sale</b>", "<img src=x onerror=alert(1)>")
    page = context.new_page()

    def add_link(route: Route) -> None:
        response = route.fetch()
        [item] = response.json()
        item["links"]["open"] = "javascript:alert(1)"
        route.fulfill(response=response, json=[item])

    # The API rejects such a link.
    page.route("**/notifications/?limit=*", add_link)
    page.goto(shop.base)
    bell(page).click()
    expect(part(page, "link")).to_have_text("<b onclick=alert(1)>Sale</b>")
    expect(part(page, "text")).to_have_text("<img src=x onerror=alert(1)>")
    assert part(page, "link").evaluate("(it) => it.localName") == "button"
    assert part(page, "item").locator("img, b, a").count() == 0


def test_times_and_numbers_have_the_language_of_the_page(
    shop: Shop, ada: Person, context: BrowserContext
) -> None:
    shop.notify(ada, "Order")
    page = context.new_page()
    page.clock.install()
    page.goto(f"{shop.base}/?page-lang=fr-CA")
    expect(bell(page)).to_have_accessible_name("1 nouvelle notification")
    bell(page).click()
    expect(part(page, "time")).to_have_text("maintenant")
    for minutes, text in ((3, "il y a 3 minutes"), (120, "il y a 2 heures"), (24 * 60, "hier")):
        page.clock.fast_forward(minutes * 60_000)
        page.clock.run_for(31_000)
        expect(part(page, "time")).to_have_text(text)
    page.evaluate("document.querySelector('frontdesk-inbox').lang = 'es'")
    expect(part(page, "time")).to_have_text("ayer")
    # The texts of an unknown language are English, and so are its times.
    page.evaluate("document.querySelector('frontdesk-inbox').lang = 'nl'")
    expect(part(page, "time")).to_have_text("yesterday")


def test_every_language_has_all_texts() -> None:
    languages = re.findall(
        r"^  (\w\w): \{(.*?)^  \},", SCRIPT.read_text(), re.DOTALL | re.MULTILINE
    )
    keys = {name: set(re.findall(r"(\w+): [\"{]", text)) for name, text in languages}
    assert keys.keys() == {"en", "de", "fr", "es", "ar"}
    assert len(keys["en"]) > 15
    plurals = {"one", "two", "few", "many", "other"}
    assert {name: found - plurals for name, found in keys.items()} == dict.fromkeys(
        keys, keys["en"] - plurals
    )


def test_two_elements_of_a_page_show_the_same(
    shop: Shop, ada: Person, context: BrowserContext
) -> None:
    shop.notify(ada, "Order")
    page = shop.open(context)
    page.evaluate(
        "document.querySelector('main').append(document.createElement('frontdesk-inbox'))"
    )
    expect(part(page, "badge")).to_have_text(["1", "1"])
    page.evaluate("document.querySelector('header frontdesk-inbox').remove()")
    bell(page).click()
    expect(part(page, "item")).to_have_count(1)
    assert shop.count(*COUNT) <= 3

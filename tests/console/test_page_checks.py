"""The checks of pages find each kind of error on a page that has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from flask import Flask, Response
from playwright.sync_api import Browser, Page

from app.console.blueprint import POLICY

from ..rigs.axe import serious_violations
from ..rigs.console.cells import SMALL, WIDE, Cell, in_cells
from ..rigs.console.faults import Faults
from ..rigs.console.keyboard import Keyboard, tab_through
from ..rigs.console.overlaps import overlaps
from ..rigs.console.structure import structure_errors
from ..rigs.console.wire import weighed
from ..rigs.web_sites import serve_site

SOUND = (
    "<main><h1>Sound</h1><form method='post' action='/done'><label>Name <input name='name'></label>"
    "<button>Send</button></form><a href='/'>Home</a></main>"
)
BODIES = {
    "sound": SOUND,
    "warns": '<script src="/warn.js"></script>',
    "throws": '<script src="/throw.js"></script>',
    "inline": '<p style="color: red">Red</p>',
    "asks-others": '<img src="http://example.com/a.png" alt="">',
    "lacks": '<img src="/none.png" alt="">',
    "breaks": '<script src="/broken.js"></script>',
    "jumps": '<p>Up</p><p class="tall">Down</p><script src="/jump.js"></script>',
    "wide": '<p class="wide">Wide</p>',
    "crossed": '<p class="narrow"><button class="button">Unfinished</button></p><p>Text</p>',
    "crossed-lines": '<p class="low">Below</p><p>Text</p>',
    "beside": '<p class="cut">Far too long for its place</p><p>Text</p><p hidden>Text</p>',
    "lost": "<main><h1>A</h1><h1>B</h1><h4>C</h4><form method=post action=/nowhere></form></main>",
    "pale": '<main><h1>A</h1><p class="pale">Pale</p><input></main>',
    "unseen": '<main><h1>A</h1><button class="unseen">Unseen</button></main>',
    "reversed": "<main><h1>A</h1><div class='up'><button>A</button><button>B</button></div></main>",
    "nameless": "<main><h1>A</h1><button></button></main>",
    "forgets": '<main><h1>A</h1><button aria-label="Send"></button></main>'
    '<script src="/forget.js"></script>',
}
FILES = {
    "/warn.js": "console.warn('careful')",
    "/throw.js": "throw new Error('thrown')",
    "/jump.js": "setTimeout(() => document.querySelector('p').className = 'high', 50)",
    "/forget.js": "const it = document.querySelector('button');"
    " it.addEventListener('focus', () => it.removeAttribute('aria-label'))",
    "/page.css": ".wide { width: 900px } .pale { color: #ddd } .unseen:focus { outline: none }"
    " .up { display: flex; flex-direction: column-reverse }"
    " body:has(.narrow, .cut) { display: flex } .narrow, .cut { width: 40px; flex: none }"
    " .cut { overflow: hidden; white-space: nowrap } .low { height: 0; margin: 0 0 -16px }"
    " .high { height: 500px } .tall { height: 300px }",
}


@pytest.fixture(scope="module")
def stub() -> Flask:
    app = Flask("stub", static_folder=None)

    @app.get("/")
    @app.get("/<name>")
    def page(name: str = "sound") -> Response:
        if f"/{name}" in FILES:
            kind = "text/css" if name.endswith("css") else "text/javascript"
            return Response(FILES[f"/{name}"], mimetype=kind)
        if name not in BODIES:
            return Response("no", 500 if name == "broken.js" else 404)
        head = (
            f'<!doctype html><html lang="en"><title>{name}</title><link rel="icon" href="data:,">'
            '<meta name="viewport" content="width=device-width"><link rel="stylesheet"'
            ' href="/page.css">'
        )
        headers = {"Content-Security-Policy": POLICY}
        return Response(head + BODIES[name], mimetype="text/html", headers=headers)

    @app.post("/done")
    def done() -> Response:
        return Response(f"<title>rejected</title>{SOUND}", 422, mimetype="text/html")

    return app


@pytest.fixture(scope="module")
def base(stub: Flask) -> Iterator[str]:
    with serve_site(stub) as port:
        yield f"http://localhost:{port}"


Show = Callable[[str], list[str]]


@pytest.fixture
def page(browser: Browser, cell: Cell) -> Iterator[Page]:
    context = cell.context(browser)
    yield context.new_page()
    context.close()


@pytest.fixture
def show(page: Page, base: str) -> Show:
    faults = Faults(page.context, base)

    def show(name: str) -> list[str]:
        page.goto(f"{base}/{name}")
        page.wait_for_load_state("networkidle")
        return faults.take()

    return show


@in_cells(WIDE)
def test_sound_page_has_no_errors(page: Page, show: Show, stub: Flask) -> None:
    assert show("sound") == []
    assert structure_errors(page, stub) == []
    assert serious_violations(page) == []
    assert tab_through(page) == []


@in_cells(WIDE)
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("warns", "careful"),
        ("throws", "thrown"),
        ("inline", "violates the following Content Security Policy"),
        ("asks-others", "requests another site: GET http://example.com"),
        ("lacks", "404: GET"),
        ("breaks", "500: GET"),
        ("jumps", "moved by"),
        ("missing", "404: GET"),
    ],
)
def test_browser_errors_are_found(show: Show, name: str, found: str) -> None:
    assert any(found in fault for fault in show(name))
    assert show("sound") == []


@in_cells(WIDE)
def test_rejected_form_is_no_error(page: Page, show: Show) -> None:
    show("sound")
    page.get_by_role("button", name="Send").click()
    page.wait_for_url("**/done")
    assert show("sound") == []


@in_cells(SMALL)
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("wide", "is 9"),
        ("lost", "has 2 first headings"),
        ("lost", "skips a level"),
        ("lost", "has a form without a route"),
        ("inline", "has inline"),
        ("inline", "has 0 main parts"),
    ],
)
def test_structural_errors_are_found(
    page: Page, show: Show, stub: Flask, name: str, found: str
) -> None:
    show(name)
    assert any(found in fault for fault in structure_errors(page, stub))


@in_cells(WIDE)
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("crossed", ['<button class="button">Unfinished</button> crosses <p>Text</p>']),
        ("crossed-lines", ['<p class="low">Below</p> crosses <p>Text</p>']),
        ("beside", []),
        ("sound", []),
    ],
)
def test_texts_that_cross_are_found(page: Page, show: Show, name: str, found: list[str]) -> None:
    show(name)
    assert overlaps(page) == found


@in_cells(WIDE)
def test_accessibility_violations_are_found(page: Page, show: Show) -> None:
    show("pale")
    found = " ".join(serious_violations(page))
    assert "color-contrast" in found
    assert "label" in found


@in_cells(WIDE, Cell(360, False, "dark"))
@pytest.mark.parametrize(
    ("name", "found"), [("unseen", "does not show the focus"), ("nameless", "no name")]
)
def test_keyboard_errors_are_found(page: Page, show: Show, name: str, found: str) -> None:
    show(name)
    assert any(found in fault for fault in tab_through(page))


@in_cells(WIDE)
@pytest.mark.parametrize(
    ("name", "control", "found"),
    [
        ("unseen", "Unseen", "does not show the focus"),
        ("reversed", "B", "is above the control before it"),
        ("sound", "Nothing", "is not reached by Tab"),
    ],
)
def test_errors_on_the_way_of_the_keyboard_are_found(
    page: Page, show: Show, name: str, control: str, found: str
) -> None:
    show(name)
    with pytest.raises(AssertionError, match=found):
        Keyboard(page).to(control)


@in_cells(WIDE)
def test_name_is_checked_when_the_element_has_the_focus(page: Page, show: Show) -> None:
    show("forgets")
    assert any("no name" in fault for fault in tab_through(page))


@in_cells(WIDE)
def test_cached_files_have_no_weight(page: Page, base: str) -> None:
    with weighed(page) as first:
        page.goto(f"{base}/sound")
    assert 300 < first.total < 2000
    assert len(first.by_url) == 2

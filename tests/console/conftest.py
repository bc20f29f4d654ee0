"""The console in a real browser: `visitors()` is a new user of `site`, in the variant `cell`.

    def test_user_signs_in(site: Site, visitors: Visitors) -> None:
        ada, visitor = site.person("ada"), visitors()
        visitor.open("/sign-in")
        visitor.page.get_by_label("Email").fill(ada.email)

Any error, from a warning in the browser's console to a shift of the layout, fails the test at its
end (tests/rigs/console/faults.py). Tests run on a wide screen with scripts and on a small screen
without; with FRONTDESK_EVERY_CELL=1 in all eight variants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from app.testing.clock import SteppingClock
from app.testing.outbox import MailOutbox

from ..conftest import MakeApp
from ..rigs.backends import free_port
from ..rigs.chromium import launch_chromium
from ..rigs.console.cells import Cell, journey_cells
from ..rigs.console.site import FEATURES, Site, Visitors, serve
from ..rigs.console.world import World
from ..rigs.cookie_browsers import HOST
from ..rigs.manual_engine import ManualEngine
from .page_visits import PageVisits
from .populated_site import populated_site

OpenSite = Callable[..., Site]

# No requests leave this machine, and elements have computed accessible names.
_OPTIONS = (
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
    "--enable-blink-features=ComputedAccessibilityInfo",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launch_chromium(*_OPTIONS) as browser:
        yield browser


@pytest.fixture(params=journey_cells(), ids=str)
def cell(request: pytest.FixtureRequest) -> Cell:
    found: Cell = request.param
    return found


@pytest.fixture
def open_site(
    make_app: MakeApp, mails: MailOutbox, clock: SteppingClock, engine: ManualEngine
) -> Iterator[OpenSite]:
    """Serve the console with other settings: `open_site(AUTH__MFA="required")`."""
    with ExitStack() as stack:

        def open_one(port: int = 0, **environment: str) -> Site:
            port = port or free_port()
            host = f"http://localhost:{port}"
            app = make_app(**{**FEATURES, "CORE__CLIENT_HOST": host, **environment})
            return stack.enter_context(serve(app, port, mails, clock, engine))

        yield open_one


@pytest.fixture(scope="module")
def visits(
    browser: Browser, _migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PageVisits]:
    """Share one service among all tests of a file, since viewing pages changes nothing."""
    with populated_site(_migrated_sqlite, tmp_path_factory.mktemp("console")) as site:
        yield PageVisits(browser, World(site))


@pytest.fixture
def world(
    make_app: MakeApp, mails: MailOutbox, clock: SteppingClock, engine: ManualEngine
) -> World:
    """A service with data, for tests without a browser."""
    app = make_app(**FEATURES, CORE__CLIENT_HOST=HOST)
    return World(Site(app, HOST, mails, clock, engine))


@pytest.fixture
def site(open_site: OpenSite) -> Site:
    return open_site()


@pytest.fixture
def visitors(browser: Browser, site: Site, cell: Cell) -> Iterator[Visitors]:
    visitors = Visitors(browser, site, cell)
    yield visitors
    visitors.leave()

"""`make screens`: takes the screenshots of the documentation with the installed Chromium.

It shows the API documentation page, an email, and pages of the console, with the test's pages.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from flask import Flask
from playwright.sync_api import Browser, Page, sync_playwright
from werkzeug.serving import make_server

from app import create_app
from app.auth.mails import Mails
from app.core.context import service

from .environment import ROOT, stop

FOLDER = ROOT / "docs" / "_static" / "screens"
# Pages of the console, with their size and theme.
CONSOLE = {
    "inbox": "1280-script-light",
    "accounts": "1280-script-light",
    "broadcast": "1280-script-light",
    "sign-in": "360-script-dark",
}
# The pictures of examples, which the tests of the examples take.
EXAMPLES = ("pinboard", "console-entries", "console-panel", "console-message", "console-brand")
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")


def main() -> None:
    program = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    if program is None:
        stop("No Chromium is installed: on Debian, install the package chromium.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        take(browser, FOLDER)
        browser.close()
    take_console(FOLDER)
    take_example("test_tutorial.py", FOLDER)
    take_example("test_console_pages.py", FOLDER)


def take(browser: Browser, folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.update(SECRET_KEY="a key for pictures alone, long enough", CORE__LOG_LEVEL="ERROR")
    os.environ["CORE__DATABASE_URL"] = "sqlite://"
    app = create_app()
    taken = [folder / "api.png", folder / "mail.png"]
    with _tab(browser, 1200, 800) as page, _serve(app) as address:
        page.goto(f"{address}/api/v1/docs")
        page.locator("#operations-auth-login").wait_for()
        page.screenshot(path=taken[0])
    with _tab(browser, 640, 620) as page, app.app_context():
        # An email has the language of its recipient's account.
        app.extensions["sqlalchemy"].create_all()
        mail = service(Mails).recovery("ada@example.com", "eyJhbGciOiJIUzI1NiJ9", "01234567")
        page.set_content(mail.html or "")
        page.screenshot(path=taken[1])
    return taken


def take_console(folder: Path) -> None:
    with TemporaryDirectory() as kept:
        for name, cell in CONSOLE.items():
            window, _, _ = cell.rpartition("-")
            test = f"tests/console/test_pages.py::test_page_passes_all_checks[{window}-{name}]"
            subprocess.run(
                [sys.executable, "-m", "pytest", "-q", test],
                cwd=ROOT,
                env={**os.environ, "FRONTDESK_SCREENS": kept},
                check=True,
            )
            shutil.copy(Path(kept) / f"{name}-{cell}.png", folder / f"{name}.png")


def take_example(test: str, folder: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", f"tests/project/{test}"],
        cwd=ROOT,
        env={**os.environ, "FRONTDESK_SCREENS": str(folder)},
        check=True,
    )


@contextmanager
def _tab(browser: Browser, width: int, height: int) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": width, "height": height})
    yield page
    page.close()


@contextmanager
def _serve(app: Flask) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.port}"
    server.shutdown()
    thread.join()
    server.server_close()


if __name__ == "__main__":
    main()

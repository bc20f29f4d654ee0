"""Firefox as Debian ships it, which Playwright drives over WebDriver BiDi."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partialmethod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import pytest
from playwright._impl._driver import compute_driver_executable
from playwright.sync_api import Browser, Locator, sync_playwright

from .backends import missing
from .console.cells import Cell

PROGRAMS = ("firefox-esr", "firefox")
_DRIVER = "playwright._impl.transport.compute_driver_executable"
# Playwright sends a command that Firefox ESR does not have; a preference sets the theme instead.
_COMMAND = 'await this._browser._browserSession.send("emulation.setMediaFeaturesOverride"'
# The policy of the pages blocks the style that Playwright inserts for a screenshot.
_STYLE = "const syncAnimations = "
_THEME = "layout.css.prefers-color-scheme.content-override"


@contextmanager
def launch_firefox(cell: Cell, marionette: int | None = None) -> Iterator[Browser]:
    """Start Firefox. All its contexts have the script setting and the theme of the variant.

    The port of Marionette, Firefox's own protocol, is for what BiDi lacks: `add_authenticator`.
    """
    program = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    if program is None:
        missing("Firefox is not installed")
    preferences: dict[str, str | float | bool] = {
        "javascript.enabled": cell.script,
        _THEME: 0 if cell.theme == "dark" else 1,
        "ui.prefersReducedMotion": 1,
        "marionette.port": marionette or 0,
        # Passkeys are those of virtual authenticators, not of USB devices.
        "security.webauth.webauthn_enable_softtoken": True,
        "security.webauth.webauthn_enable_usbtoken": False,
    }
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        driver = _patched_driver(Path(folder))
        patch.setattr(_DRIVER, lambda: driver)
        # Fonts are local, and without scripts Playwright would wait for them forever.
        patch.setenv("PW_TEST_SCREENSHOT_NO_FONTS_READY", "1")
        if not cell.script:
            _act_without_waiting(patch)
        with sync_playwright() as playwright:
            browser = playwright.firefox.launch(
                channel="moz-firefox",
                executable_path=program,
                args=["--marionette"] if marionette else [],
                firefox_user_prefs=preferences,
            )
            try:
                yield browser
            finally:
                browser.close()


def add_authenticator(marionette: int) -> socket.socket:
    """Add a virtual authenticator that verifies its user and confirms each request. Return the
    connection: Firefox ends when it is closed."""
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserConsenting": True,
        "isUserVerified": True,
    }
    command = json.dumps([0, 1, "WebAuthn:AddVirtualAuthenticator", options])
    connection = socket.create_connection(("127.0.0.1", marionette))
    with connection.makefile("rb") as messages:
        _read_message(messages)  # the greeting
        connection.sendall(f"{len(command)}:{command}".encode())
        _, _, error, _ = _read_message(messages)
    assert error is None, error
    return connection


def _read_message(messages: IO[bytes]) -> Any:
    length = b"".join(iter(lambda: messages.read(1), b":"))
    return json.loads(messages.read(int(length)))


def _act_without_waiting(patch: pytest.MonkeyPatch) -> None:
    """Let Playwright act on elements as they are: it waits for them with promises, which Firefox
    resolves only with scripts. `wait_for` works, `expect` does not."""
    for name in ("click", "check"):
        patch.setattr(Locator, name, partialmethod(getattr(Locator, name), force=True))
    patch.setattr(Locator, "fill", _type)
    patch.setattr(Locator, "select_option", _choose)


def _type(field: Locator, value: str) -> None:
    field.focus()
    field.page.keyboard.press("Control+a")
    field.page.keyboard.insert_text(value)


def _choose(field: Locator, *, label: str) -> None:
    index = field.evaluate(
        "(it, label) => [...it.options].findIndex((o) => o.label === label)", label
    )
    field.focus()
    for key in ("Home", *["ArrowDown"] * index):
        field.page.keyboard.press(key)


def _patched_driver(folder: Path) -> tuple[str, str]:
    """Copy Playwright's driver and return its Node and its script."""
    node, script = compute_driver_executable()
    copy = shutil.copytree(Path(script).parent, folder / "package")
    bundle = copy / "lib" / "coreBundle.js"
    text = bundle.read_text()
    for part, change in ((_COMMAND, "if (false) " + _COMMAND), (_STYLE, _STYLE + "false && ")):
        assert text.count(part) == 1, "Playwright's driver has changed"
        text = text.replace(part, change)
    bundle.write_text(text)
    return node, str(copy / "cli.js")

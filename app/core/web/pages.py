"""Headers of HTML pages, and of responses that sign out.

Only our own responses get them: an application that mounts our blueprints keeps its own headers.
"""

from collections.abc import Callable
from typing import NamedTuple

from flask import Response, after_this_request

# Passkeys and copy buttons work on pages of the same origin. No page needs more.
_ALLOWED = ("clipboard-write", "publickey-credentials-create", "publickey-credentials-get")
_DENIED = (
    "accelerometer",
    "autoplay",
    "camera",
    "display-capture",
    "encrypted-media",
    "fullscreen",
    "geolocation",
    "gyroscope",
    "hid",
    "idle-detection",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "picture-in-picture",
    "screen-wake-lock",
    "serial",
    "usb",
    "xr-spatial-tracking",
)
PAGE_HEADERS = {
    "Permissions-Policy": ", ".join(
        [*(f"{name}=(self)" for name in _ALLOWED), *(f"{name}=()" for name in _DENIED)]
    ),
    # A sign-in through a provider is a redirect in the same window, which this does not affect.
    "Cross-Origin-Opener-Policy": "same-origin",
    # Avatars set `cross-origin`, because clients on other origins show them.
    "Cross-Origin-Resource-Policy": "same-origin",
}


class StartPage(NamedTuple):
    """A feature's page that the page of the API documentation links to."""

    # Return the name of the service and the path of the page.
    name: Callable[[], str]
    path: Callable[[], str]
    link_text: str


def protect_page(response: Response) -> None:
    """Add the headers that the response does not have yet, if it is a page and no redirect."""
    if response.mimetype == "text/html" and response.location is None:
        for name, value in PAGE_HEADERS.items():
            response.headers.setdefault(name, value)


def clear_browser_cache() -> None:
    """Clear the browser's HTTP cache of this origin with the response to this request.

    Never its cookies or storage: trusted devices and the data of an application on the same origin
    stay.
    """

    @after_this_request
    def add_header(response: Response) -> Response:
        response.headers["Clear-Site-Data"] = '"cache"'
        return response

"""Device labels, derived from the User-Agent header."""

from __future__ import annotations

import pytest

from app.auth.sessions.devices import label_of

from .test_sessions import FIREFOX, IPHONE

LABELS = {
    FIREFOX: "Firefox on Linux",
    IPHONE: "Safari on iPhone",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/138.0.0.0 Safari/537.36 Edg/138.0.0.0": "Edge on Windows",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/138.0.0.0 Safari/537.36": "Chrome on Windows",
    "Mozilla/5.0 (Linux; Android 15; SM-S931B) AppleWebKit/537.36 (KHTML, like Gecko)"
    " SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36": "Samsung Internet on Android",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)"
    " Version/18.5 Safari/605.1.15": "Safari on macOS",
    "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0"
    " Mobile Safari/537.36 OPR/90.0.0.0": "Opera on Android",
    "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/138.0.0.0 Safari/537.36": "Chrome on ChromeOS",
    "Library-App/2.1 (iPhone; iOS 18.5)": "Library-App on iPhone",
    "curl/8.5.0": "curl",
    "python-requests/2.32.4": "python-requests",
    "Mozilla/5.0": None,
    "<script>alert(1)</script>": None,
    "x" * 255: None,
    "": None,
}


@pytest.mark.parametrize(("user_agent", "label"), LABELS.items())
def test_label_names_the_browser_and_the_system(user_agent: str, label: str | None) -> None:
    assert label_of(user_agent) == label

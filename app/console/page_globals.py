"""What every template of the console may call."""

from __future__ import annotations

from typing import Any

from .assets import version
from .forms import form_state
from .texts import _, _n, language
from .times import iso, moment
from .ways import to


def asset(name: str) -> str:
    return to(".static_asset", digest=version(), name=name)


def url(endpoint: str, **values: Any) -> str:
    return to(endpoint, **values)


GLOBALS = {
    "_": _,
    "_n": _n,
    "asset": asset,
    "form_state": form_state,
    "language": language,
    "url": url,
}
FILTERS = {"moment": moment, "iso": iso}

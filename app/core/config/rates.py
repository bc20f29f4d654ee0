"""Limits as Flask-Limiter writes them: `5 per 5 minutes`, `100/hour`, several with `;` between."""

from __future__ import annotations

import re
from typing import NamedTuple

_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "month": 2592000}
_ONE = re.compile(
    rf"\s*(\d+)\s*(?:/|\s+per\s+)\s*(\d*)\s*({'|'.join(_SECONDS)})s?\s*", re.ASCII | re.IGNORECASE
)


class Rate(NamedTuple):
    """An amount in a number of seconds, which start with the first request."""

    amount: int
    seconds: int


def parse_rates(notation: str) -> list[Rate]:
    rates = []
    for part in re.split("[,;|]", notation):
        match = _ONE.fullmatch(part)
        if match is None:
            raise ValueError(f"not a limit: {part.strip()!r}")
        rates.append(Rate(int(match[1]), int(match[2] or 1) * _SECONDS[match[3].lower()]))
    return rates

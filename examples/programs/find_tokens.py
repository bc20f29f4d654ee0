"""Prints where files contain tokens of Frontdesk: the lines, without the tokens."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

# Tokens for programs, and refresh tokens.
TOKEN = re.compile(r"\bfd[pw]_[0-9A-Za-z]{38}\b|\bfdr_[0-9A-Za-z_-]{76}", re.ASCII)
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


# [checksum]
def has_checksum(token: str) -> bool:
    """Return whether the last 6 characters of a `fdp_` or `fdw_` token belong to the first 36."""
    value = 0
    for digit in token[36:]:
        value = value * 62 + DIGITS.index(digit)
    return value == crc32(token[:36].encode())


# [end]


def tokens(text: str) -> Iterator[str]:
    for token in TOKEN.findall(text):
        # The checksum of a refresh token is keyed: only the server can verify it.
        if token.startswith("fdr_") or has_checksum(token):
            yield token


def main(names: list[str]) -> int:
    found = unread = 0
    for name in names:
        try:
            lines = Path(name).read_text(errors="replace").splitlines()
        except OSError as error:
            unread += 1
            print(f"{name}: {error.strerror}", file=sys.stderr)
            continue
        for number, line in enumerate(lines, start=1):
            for token in tokens(line):
                found += 1
                print(f"{name}:{number}: {token[:8]}…")
    if found:
        return 1
    return 2 if unread else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

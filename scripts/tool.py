"""Runs a tool of the environment, and creates the environment first: `make lint`, `make types`."""

from __future__ import annotations

import sys

from .environment import become, ensure


def main() -> None:
    become(ensure("requirements.txt", "requirements-dev.txt"), *sys.argv[1:])


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)

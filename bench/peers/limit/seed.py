"""Prints the credentials of the first accounts as a JSON list of headers."""

import json
import os
import sys
import time

import jwt


def header(number: int) -> str:
    now = time.time()
    claims = {"sub": f"account{number}@bench.example", "iat": now, "exp": now + 86_400}
    return "Authorization: Bearer " + jwt.encode(claims, os.environ["SECRET_KEY"], "HS256")


def main() -> None:
    print(json.dumps([header(number) for number in range(1, int(sys.argv[1]) + 1)]))


if __name__ == "__main__":
    main()

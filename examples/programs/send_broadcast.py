"""Sends a broadcast with a personal token, and waits until its emails are delivered."""

from __future__ import annotations

import json
import os
import sys
import time
import urllib.error
import urllib.request
from typing import Any

API = os.environ["FRONTDESK_API"]
TOKEN = os.environ["FRONTDESK_TOKEN"]
SECONDS_BETWEEN_POLLS = 2
# The server asks to wait with these statuses: too many requests, and unavailable.
WAIT = (429, 503)


def call(method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """Return the JSON of a response; wait and repeat as long as the server asks for it."""
    request = urllib.request.Request(
        API + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
    )
    while True:
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code not in WAIT:
                raise
            time.sleep(int(error.headers.get("Retry-After", SECONDS_BETWEEN_POLLS)))


def send(title: str, message: str, key: str) -> dict[str, Any]:
    """Send to all accounts. A repeated call with the key sends nothing, and returns the same."""
    data = {"title": title, "message": message, "channels": ["inapp", "email"], "key": key}
    sent: dict[str, Any] = call("POST", "/admin/notifications/", {"data": data})
    return sent


def wait_for_emails(notification: dict[str, Any]) -> dict[str, Any]:
    while notification["deliveries"]["email"]["pending"]:
        time.sleep(SECONDS_BETWEEN_POLLS)
        notification = call("GET", f"/admin/notifications/{notification['id']}")
    return notification


def main(title: str, message: str, key: str) -> int:
    try:
        notification = wait_for_emails(send(title, message, key))
    except urllib.error.HTTPError as error:
        problem = json.load(error)
        print(f"{error.code} {problem['code']}: {problem['detail']}", file=sys.stderr)
        return 1
    emails = notification["deliveries"]["email"]
    print(f"{notification['receivers']} recipients, {emails['sent']} emails sent", end="")
    print(f", {emails['failed']} failed, {emails['skipped']} skipped")
    return 1 if emails["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

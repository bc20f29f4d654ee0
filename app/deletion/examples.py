"""What the OpenAPI document shows of these routes; nothing that is answered comes from here."""

from __future__ import annotations

WITH_PASSWORD = {"password": "correct horse"}
ASKED = {
    "message": "The account will be deleted; a mail tells how to keep it",
    "deletes_at": "2030-01-15T12:00:00+00:00",
}
GONE = {"message": "Account deleted"}
KEPT = {"message": "The account is kept"}

"""What the OpenAPI document shows of these routes; nothing that is answered comes from here."""

from __future__ import annotations

from .models import WRITABLE

ADA = {
    "first_name": "Ada",
    "last_name": "Lovelace",
    "date_of_birth": "1815-12-10",
    "gender": "female",
    "marital_status": "married",
    "city": "London",
    "nickname": "Countess",
}
ADA_READ = {
    "id": 5,
    "account_id": 3,
    **dict.fromkeys(sorted(WRITABLE)),
    **ADA,
    "created_at": "2030-01-01T12:00:00+00:00",
    "updated_at": "2030-01-01T12:00:00+00:00",
}
PICTURE = "https://api.example.com/api/v1/profiles/avatars/00112233445566778899aabbccddeeff.jpg"
WITH_PICTURE = {**ADA_READ, "avatar": PICTURE}
MOVED = {"city": "London"}

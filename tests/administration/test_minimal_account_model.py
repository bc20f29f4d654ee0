"""An account model without any optional column."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from flask import Flask
from sqlalchemy import DateTime
from sqlalchemy.orm import mapped_column

from app.testing.kit import Kit

from .test_application_accounts import ACCOUNTS, host_at, pages
from .test_application_accounts import url as url


@pytest.fixture
def app(url: str) -> Iterator[Flask]:
    naive = mapped_column(DateTime, default=lambda: datetime.now(UTC).replace(tzinfo=None))
    lacking = dict.fromkeys(
        ("last_login_date", "suspended_until", "suspended_reason", "email_unverified_since")
    )
    host = host_at(url, "uuid", created_at=naive, **lacking)
    yield host
    with host.app_context():
        host.extensions["sqlalchemy"].engine.dispose()


def test_model_without_dates_suspends_permanently(frontdesk: Kit) -> None:
    root, ada = frontdesk.account("root", role="root"), frontdesk.account("ada")
    api, path = root.api(), f"{ACCOUNTS}/{ada.id}"
    until = {"suspended_until": "2100-01-01T00:00:00+00:00"}
    rejected = api.patch(path, 422, json={"status": "suspended", **until})
    assert rejected.faults == ["json:suspended_until"]
    suspended = api.patch(path, json={"status": "suspended"}).json
    assert (suspended["status"], suspended["suspended_until"]) == ("suspended", None)
    assert suspended["email_verified"] is True


def test_unsupported_filters_are_named(frontdesk: Kit) -> None:
    api = frontdesk.account("root", role="root").api()
    for query, field in (
        ("sort=last_login_date", "sort"),
        ("last_login_before=2100-01-01T00:00:00Z", "last_login_before"),
        ("verified=true", "verified"),
    ):
        assert api.get(f"{ACCOUNTS}?{query}", 422).faults == [f"query:{field}"]


def test_timestamps_without_an_offset_are_read(frontdesk: Kit) -> None:
    for name in ("ada", "bob"):
        frontdesk.account(name)
    api = frontdesk.account("root", role="root").api()
    assert list(pages(api, "limit=1")) == ["root", "bob", "ada"]
    moment = api.get(f"{ACCOUNTS}?search=ada").json[0]["created_at"]
    later = api.get(ACCOUNTS, query_string={"created_after": moment}).json
    assert len(later) == 2


def test_doctor_reports_missing_columns(app: Flask) -> None:
    output = app.test_cli_runner().invoke(args=["frontdesk", "doctor"]).output
    assert "The account model has no column suspended_until" in output

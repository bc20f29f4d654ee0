"""The list of accounts as a file, with the filters of the page."""

from __future__ import annotations

import re
from html import unescape

import orjson
import pytest
from flask import Flask

from app.testing.clock import SteppingClock

from ..administration.test_search import add_members
from ..conftest import MakeApp, MakePerson, Person
from ..profiles.test_profiles import ADA
from ..rigs.console.site import FEATURES
from ..rigs.cookie_browsers import HOST
from .form_client import FormClient
from .test_audit_log import download, read_csv

ACCOUNTS = "/admin/accounts"


@pytest.fixture
def app(make_app: MakeApp) -> Flask:
    return make_app(**FEATURES)


@pytest.fixture
def boss(person: MakePerson) -> Person:
    return person("boss", role="admin")


@pytest.fixture
def desk(app: Flask, boss: Person) -> FormClient:
    return FormClient(app, boss)


def test_files_have_the_accounts_of_the_filtered_list(
    desk: FormClient, person: MakePerson, boss: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.administration.search.EXPORT_ROWS", 2)
    emails = [person(f"member{number}", status="inactive").email for number in range(5)]
    page = unescape(desk.get(f"{ACCOUNTS}?status=inactive&sort=email"))
    links = re.findall(r'href="(/admin/accounts\.\w+\?[^"]+)"', page)
    assert [each.partition("?")[0] for each in links] == [f"{ACCOUNTS}.csv", f"{ACCOUNTS}.jsonl"]
    file = download(desk, links[0])
    assert (file.mimetype, file.is_streamed) == ("text/csv", True)
    assert [row["email"] for row in read_csv(file.text)] == emails
    lines = [orjson.loads(line) for line in download(desk, links[1]).data.splitlines()]
    assert lines == boss.api().get(f"{ACCOUNTS}?status=inactive&sort=email").json


def test_file_has_every_match_of_a_frequent_text(
    desk: FormClient, person: MakePerson, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_members(person)
    path = f"{ACCOUNTS}.jsonl?search=example.com&sort=-created_at"
    expected = download(desk, path).data
    assert len(expected.splitlines()) >= 7
    monkeypatch.setattr("app.accounts.search.MAX_MATCHES", 2)
    # More and fewer matches than a batch has rows are among the accounts that are read for it.
    for rows, checked in ((2, 5), (2, 1), (5, 3)):
        monkeypatch.setattr("app.administration.search.EXPORT_ROWS", rows)
        monkeypatch.setattr("app.administration.search.MAX_CHECKED", checked)
        assert download(desk, path).data == expected, (rows, checked)


def test_csv_of_accounts_has_the_names_of_profiles(
    desk: FormClient, person: MakePerson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.administration.search.EXPORT_ROWS", 2)
    for number in range(3):
        api = person(f"member{number}").api()
        if number:
            api.post("/profiles", json={**ADA, "first_name": f"Ada {number}"})
    rows = read_csv(download(desk, f"{ACCOUNTS}.csv?search=member&sort=email").text)
    assert [row["name"] for row in rows] == ["", "Ada 1 Lovelace", "Ada 2 Lovelace"]


def test_names_of_files_have_the_date(desk: FormClient, clock: SteppingClock) -> None:
    day = f"{clock.now():%Y-%m-%d}"
    for path, name in (
        (f"{ACCOUNTS}.csv", f"accounts-{day}.csv"),
        (f"{ACCOUNTS}.jsonl", f"accounts-{day}.jsonl"),
        ("/admin/events.csv", f"events-{day}.csv"),
    ):
        sent = download(desk, path).headers["Content-Disposition"]
        assert sent == f'attachment; filename="{name}"'


def test_csv_of_accounts_contains_no_formulas(desk: FormClient, person: MakePerson) -> None:
    person("=1+1")
    [row] = read_csv(download(desk, f"{ACCOUNTS}.csv?search=%3D").text)
    assert row["email"] == "'=1+1@example.com"


def test_csv_without_accounts_has_only_the_columns(desk: FormClient) -> None:
    [columns] = download(desk, f"{ACCOUNTS}.csv?search=nobody").text.splitlines()
    assert columns.startswith('\ufeff"id","email","status","role","phone",')
    assert columns.endswith('"name"')


def test_download_is_in_the_audit_log_without_the_searched_text(
    desk: FormClient, boss: Person
) -> None:
    download(desk, f"{ACCOUNTS}.csv?search=ada%40example.com&role=user")
    [entry] = boss.api().get("/admin/events?type=accounts.downloaded").json
    assert entry["actor_id"] == boss.id
    assert entry["data"] == {"format": "csv", "filters": ["role", "search"]}


def test_invalid_filter_of_a_download_leads_to_the_page_with_the_error(desk: FormClient) -> None:
    for query in ("created_after=soon", "mfa=maybe", "sort=bad"):
        found = desk.browser.client.get(f"{ACCOUNTS}.csv?{query}", base_url=HOST)
        assert (found.status_code, found.headers["Location"]) == (303, f"{ACCOUNTS}?{query}")
        # Names that mean something else to the redirect.
        others = desk.browser.client.get(
            f"{ACCOUNTS}.csv?{query}&endpoint=x&_method=y", base_url=HOST
        )
        assert others.headers["Location"] == f"{ACCOUNTS}?{query}"


def test_only_admins_download_the_list_of_accounts(app: Flask, ada: Person) -> None:
    for path in (f"{ACCOUNTS}.csv", f"{ACCOUNTS}.jsonl"):
        FormClient(app, ada).get(path, 403)
        found = FormClient(app).browser.client.get(path, base_url=HOST)
        assert "/sign-in" in found.headers["Location"]

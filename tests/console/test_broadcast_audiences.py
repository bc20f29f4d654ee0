"""The recipients of a broadcast: by filter, from a list, and selected on another page."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any
from uuid import uuid4

import pytest
from flask import Flask
from sqlalchemy import select

from app.accounts.service import Accounts
from app.broadcasts import recipient_lists
from app.console.admin.audiences import AudienceChoice
from app.core.context import current_frontdesk, service
from app.notifications.models import InboxItem
from app.testing.people import Person

from ..conftest import MakePerson
from .page_reader import PageReader, error_of, hidden_fields, visible_text

PATH = "/admin/broadcasts"
SELECTED = "/admin/accounts/selected/email"
DRAFT = {"data.title": "Closed", "data.message": "On Friday.", "data.channels": ["email"]}


@pytest.fixture
def app(make_app: Any) -> Flask:
    made: Flask = make_app(AUTH__COOKIE_SESSIONS="on")
    return made


@pytest.fixture
def admin(app: Flask, person: MakePerson) -> PageReader:
    return PageReader(app, person("boss", role="admin"))


@pytest.fixture
def people(admin: PageReader, person: MakePerson) -> dict[str, Person]:
    names = {"ada": "active", "bob": "active", "eve": "suspended"}
    return {name: person(name, status=status) for name, status in names.items()}


def check(admin: PageReader, expected: int = 200, **form: Any) -> str:
    sent = {**DRAFT, "step": "check", "count": "1", **form}
    return admin.post(f"{PATH}/new", expected, data=sent).text


def send(admin: PageReader, checked: str) -> str:
    form = hidden_fields(checked, PATH)
    return admin.get(admin.post(PATH, data={**form, "data.channels": "email"}).headers["Location"])


def recipients(app: Flask) -> set[Any]:
    """Return the ids of all accounts with a message."""
    with app.app_context():
        return {*current_frontdesk.session.scalars(select(InboxItem.receiver_id))}


def test_new_broadcast_reaches_active_accounts_with_a_verified_address(
    admin: PageReader, people: dict[str, Person], app: Flask
) -> None:
    with app.app_context():
        account: Any = service(Accounts).by_id(people["bob"].id)
        account.email_unverified_since = current_frontdesk.clock.now()
        current_frontdesk.session.commit()
    checked = check(admin)
    assert "Active accounts with a verified email address" in visible_text(checked)
    assert "2 of 2" in checked
    send(admin, checked)
    assert people["ada"].id in recipients(app)
    assert len(recipients(app)) == 2


def test_recipients_are_filtered_by_role_workspace_and_language(
    admin: PageReader, people: dict[str, Person], app: Flask
) -> None:
    people["ada"].api().post("/workspaces", json={"name": "Engines", "slug": "engines"})
    people["ada"].api().patch("/account", json={"locale": "en-GB"})
    checked = visible_text(
        check(admin, status="active", role="user", workspace="engines", language="en")
    )
    words = "Active accounts Role: User Active members of the workspace Engines Language: English"
    assert words in checked
    assert "1 of 1" in checked
    assert "0 of 0" in check(admin, status="suspended", workspace="engines")
    assert "1 of 1" in check(admin, status="suspended")
    assert "4 of 4" in check(admin, status="")
    refused = check(admin, 422, workspace="nowhere")
    assert error_of(refused, "workspace") == "No workspace has the name or address nowhere."


def test_workspace_is_found_by_its_name(admin: PageReader, people: dict[str, Person]) -> None:
    ada, found = people["ada"].api(), "/admin/workspaces/found"
    for name, slug in (("Ferry Café", "ferry"), ("Pier", "north-pier"), ("Pier", "south-pier")):
        ada.post("/workspaces", json={"name": name, "slug": slug})
    assert "Active members of the workspace Ferry Café" in check(admin, workspace="ferry café")
    refused = error_of(check(admin, 422, workspace="pier"), "workspace")
    assert refused == "Enter the address of one workspace, such as: south-pier, north-pier."
    assert "ferry" in error_of(check(admin, 422, workspace="Fer"), "workspace")
    listed = admin.get(found, query_string={"workspace": "Pie"})
    assert re.findall(r'value="(.*?)"', listed) == ["south-pier", "north-pier"]
    assert "ferry" in admin.get(found)
    assert "value" not in admin.get(found, query_string={"workspace": "\0x"})


def test_listed_lines_are_checked_one_by_one(
    admin: PageReader, people: dict[str, Person], app: Flask
) -> None:
    ada, bob, eve = people.values()
    lines = [
        ada.email.upper(),
        "",
        "not an address",
        "unknown@example.com",
        eve.email,
        str(bob.id),
        ada.email,
        "999999",
        "<b>@",
    ]
    checked = check(admin, audience="list", list="\r\n".join(lines))
    text = visible_text(checked)
    for refused in (
        "not an address 3 Not an email address or an account ID",
        "unknown@example.com 4 No account",
        f"{eve.email} 5 The status of the account is: Suspended",
        "999999 8 No account",
        "<b>@ 9 Not an email address or an account ID",
        "5 lines cannot be used.",
        "One line names an account again and is ignored.",
        "2 selected accounts",
        "2 of 2",
    ):
        assert refused in text, refused
    send(admin, checked)
    assert recipients(app) == {ada.id, bob.id}


def test_column_of_an_uploaded_table_is_added_to_the_list(
    admin: PageReader, people: dict[str, Person]
) -> None:
    table = f'\ufeffName;Email\r\n"Ada ""A""";{people["ada"].email}\r\nBroken;x\r\n'
    file = (BytesIO(table.encode()), "people.csv")
    text = check(admin, audience="list", list=str(people["bob"].id), list_file=file)
    assert "2 of 2" in text
    assert "x 3 Not an email address" in visible_text(text)
    assert "One line cannot be used." in visible_text(text)
    only_file = (BytesIO(table.encode()), "people.csv")
    text = check(admin, audience="list", list_file=only_file)
    assert "1 of 1" in text
    assert "x 3 Not an email address or an account ID" in visible_text(text)
    rejected = check(
        admin,
        422,
        audience="list",
        list_file=(BytesIO(table.encode()), "people.csv"),
        **{"data.title": ""},
    )
    assert f"{people['ada'].email}" in rejected.partition('name="list"')[2]


def test_rows_of_a_table_may_have_empty_or_missing_cells(
    admin: PageReader, people: dict[str, Person], app: Flask
) -> None:
    ada, bob = people["ada"], people["bob"]
    # The row numbers of the first table have no title, and are not account IDs.
    for table in (
        f"\tEmail\n{bob.id}\t{ada.email}\n",
        f"Name\tEmail\tCity\n\t{ada.email}\tParis\n",
        f"Name\tEmail\nOnly a name\nAda\t{ada.email}\n",
    ):
        file = (BytesIO(table.encode()), "people.tsv")
        send(admin, check(admin, audience="list", list_file=file))
        assert recipients(app) == {ada.id}


def test_useless_lists_are_rejected(
    admin: PageReader, people: dict[str, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = check(admin, 422, audience="list", list=" \n\n")
    assert error_of(empty, "list") == "Enter at least one email address or account ID."
    useless = check(admin, 422, audience="list", list="\nx\ny")
    assert "No line has an active account. Line 2: Not an email" in error_of(useless, "list")
    monkeypatch.setattr(recipient_lists, "MAX_LINES", 2)
    assert "The list is too long." in error_of(
        check(admin, 422, audience="list", list="1\n2\n3"), "list"
    )


def test_longest_list_can_have_uuids() -> None:
    longest = "\n".join(str(uuid4()) for _ in range(recipient_lists.MAX_LINES))
    assert "\n".join(recipient_lists.recipients_of(longest)) == longest


def test_other_pages_open_a_draft_with_selected_accounts(
    admin: PageReader, people: dict[str, Person]
) -> None:
    ids = [str(people["ada"].id), str(people["bob"].id)]
    form = {"audience": "chosen", "account_receiver_ids": ids}
    page = admin.post(f"{PATH}/new", 200, data=form).text
    assert "2 accounts selected" in page
    assert people["ada"].email in page
    assert 'value="email" checked' in page
    listed = admin.post(f"{PATH}/new", 200, data={"audience": "list", "list": "\n".join(ids)}).text
    assert "\n".join(ids) in listed


def test_broadcast_to_all_accounts_of_the_list_reaches_their_number(
    admin: PageReader,
    people: dict[str, Person],
    person: MakePerson,
    app: Flask,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    person("dan", status="online")
    with app.app_context():
        bob, fay = (service(Accounts).by_id(each.id) for each in (people["bob"], person("fay")))
        some: Any = (bob, fay)
        some[0].email_unverified_since = current_frontdesk.clock.now()
        # The suspension has expired.
        some[1].status, some[1].suspended_until = "suspended", some[1].created_at
        current_frontdesk.session.commit()
    monkeypatch.setattr("app.console.admin.selected_accounts.MAX_ACCOUNTS", 1)
    numbers = []
    for query in (
        *({}, {"role": "user"}, {"verified": "true", "role": "user"}, {"verified": "false"}),
        *({"status": "active"}, {"status": "suspended"}, {"status": "online", "role": "user"}),
    ):
        listed = admin.get("/admin/accounts", query_string=query)
        number = re.search(r"<span>(One|\d+) accounts?</span>", listed)
        page = admin.get(SELECTED, query_string={**query, "all": "true", "sort": "email"})
        checked = check(admin, **_chosen_recipients(page))
        assert number, query
        numbers.append(int(number[1].replace("One", "1")))
        assert f"{numbers[-1]} of {numbers[-1]}" in checked, query
    assert numbers == [6, 5, 4, 1, 4, 1, 1]
    refused = admin.get(SELECTED, query_string={"all": "true", "search": "example"})
    assert "can be filtered only by status, role or verification" in refused
    admin.get(SELECTED, 422, query_string={"all": "true", "verified": "x"})


def _chosen_recipients(page: str) -> dict[str, Any]:
    chosen = re.search(r'name="audience" value="(\w+)" checked', page)
    assert chosen
    selects = re.findall(r'(?s)<select[^>]* name="(\w+)"[^>]*>(.*?)</select>', page)
    found = {name: re.search(r'value="([^"]*)" selected', options) for name, options in selects}
    return {"audience": chosen[1], **{name: each[1] for name, each in found.items() if each}}


def test_a_thousand_selected_accounts_are_read_from_a_form_with_a_file(admin: PageReader) -> None:
    selected = [str(number) for number in range(10_001, 11_001)]
    file = (BytesIO(b"email\n"), "list.csv")
    page = check(admin, 422, audience="chosen", account_receiver_ids=selected, list_file=file)
    assert "No account has the id: 10001, 10002" in page


def test_choice_of_recipients_survives_storage() -> None:
    choice = AudienceChoice(kind="list", role="admin", lines="ada@example.com\n7", ids=["1"])
    assert AudienceChoice.from_json(choice.to_json()) == choice

"""Broadcasts: an admin writes, previews and sends them, and sees their delivery."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.core.errors import Conflict
from app.core.keystore import KeystoreUnavailable
from app.testing.outbox import MailOutbox

from ..conftest import MakePerson, Person
from ..rigs.console.requests import plain_html
from ..rigs.cookie_browsers import HOST, NAME, SAME_ORIGIN, CookieBrowser
from ..rigs.manual_engine import ManualEngine

PATH = "/admin/broadcasts"
DRAFT = {"data.title": "Closed", "data.message": "On <Friday>.", "data.channels": ["email"]}

Ask = Callable[..., TestResponse]


@pytest.fixture
def app(make_app: Any) -> Flask:
    made: Flask = make_app(AUTH__COOKIE_SESSIONS="on")
    return made


@pytest.fixture
def root(person: MakePerson) -> Person:
    return person("root", role="admin")


@pytest.fixture
def people(person: MakePerson) -> list[Person]:
    return [person("ada", phone="+441632960961"), person("bob")]


def client_of(app: Flask, person: Person) -> Ask:
    browser = CookieBrowser(app)
    browser.sign_in(person)
    client = app.test_client(use_cookies=False)

    def ask(method: str, path: str, cookie: str = "", **form: Any) -> TestResponse:
        headers = {"Cookie": f"{NAME}={browser.cookie}; {cookie}", **SAME_ORIGIN}
        return client.open(path, method=method, base_url=HOST, headers=headers, data=form or None)

    return ask


@pytest.fixture
def ask(app: Flask, root: Person) -> Ask:
    return client_of(app, root)


def field_of(page: str, name: str) -> str:
    return page.partition(f'name="{name}" value="')[2].partition('"')[0]


@pytest.mark.usefixtures("people")
def test_link_is_previewed_sent_and_duplicated(ask: Ask) -> None:
    draft = {**DRAFT, "audience": "everyone", "data.kind": "announcements"}
    rejected = ask("POST", f"{PATH}/new", step="check", **draft, **{"data.url": "//evil.example"})
    assert rejected.status_code == 422
    assert "-data-url-fault" in rejected.text
    draft["data.url"] = "https://example.com/news?a=1"
    checked = ask("POST", f"{PATH}/new", step="check", **draft)
    assert "On &lt;Friday&gt;.\n\nhttps://example.com/news?a=1\n" in checked.text
    assert 'href="https://example.com/news?a=1" rel="noopener"' in checked.text
    mail = ask("POST", f"{PATH}/mail", **draft)
    assert 'href="https://example.com/news?a=1"' in mail.text
    counted = ask("POST", f"{PATH}/reach", **draft)
    sent = ask("POST", PATH, counted=field_of(counted.text, "counted"), **draft)
    page = sent.headers["Location"]
    assert 'href="https://example.com/news?a=1" rel="noopener"' in ask("GET", page).text
    copy = ask("POST", f"{page}/duplicate").headers["Location"]
    assert 'value="https://example.com/news?a=1"' in ask("GET", copy).text
    unknown = {**draft, "data.kind": "unknown"}
    assert ask("POST", f"{PATH}/new", step="check", **unknown).status_code == 422


@pytest.mark.usefixtures("people")
def test_broadcast_is_written_checked_counted_and_sent(ask: Ask, engine: ManualEngine) -> None:
    draft = {**DRAFT, "audience": "everyone"}
    checked = ask("POST", f"{PATH}/new", step="check", **draft)
    assert checked.status_code == 200
    assert "On &lt;Friday&gt;." in checked.text
    # The plain-text version of the email.
    assert "Closed\n\nOn &lt;Friday&gt;.\n\nhttp" in checked.text
    counted = ask("POST", f"{PATH}/reach", **draft)
    assert "3 of 3" in counted.text
    sent = ask("POST", PATH, counted=field_of(counted.text, "counted"), **draft)
    assert sent.status_code == 303
    page = ask("GET", sent.headers["Location"]).text
    assert (
        "The broadcast is being sent to 3 accounts." not in page
    )  # the notice is in a cookie that this client ignores
    assert "3 queued" in page
    engine.deliver()
    assert "3 of 3 sent" in ask("GET", f"{sent.headers['Location']}/progress").text


def test_missing_sms_setup_is_shown_without_names_of_settings(ask: Ask) -> None:
    draft = {**DRAFT, "audience": "everyone", "data.channels": ["inapp", "sms"]}
    shown = ask("POST", f"{PATH}/reach", **draft).text
    assert "SMS is not set up on this server" in shown
    assert "SMS_ACCOUNT_SID" not in shown


def test_button_counts_recipients_without_javascript(ask: Ask) -> None:
    checked = ask("POST", f"{PATH}/new", count="1", audience="everyone", **DRAFT)
    assert "1 of 1" in checked.text
    assert field_of(checked.text, "counted")


def test_missing_title_is_reported_and_other_input_kept(ask: Ask) -> None:
    answer = ask(
        "POST", f"{PATH}/new", step="check", audience="everyone", **{**DRAFT, "data.title": ""}
    )
    assert answer.status_code == 422
    assert 'id="compose-data-title-fault"' in answer.text
    assert "On &lt;Friday&gt;." in answer.text


def test_recipients_are_searched_and_selected(ask: Ask, people: list[Person]) -> None:
    draft = {**DRAFT, "audience": "chosen"}
    found = ask("POST", f"{PATH}/new", step="search", search="ada", **draft).text
    assert people[0].email in found
    assert people[1].email not in found
    chosen = {**draft, "account_receiver_ids": [str(people[0].id)]}
    checked = ask("POST", f"{PATH}/new", step="check", **chosen)
    assert "1 of 1" in checked.text
    sent = ask("POST", PATH, counted=field_of(checked.text, "counted"), **chosen)
    assert sent.status_code == 303
    assert len(people[0].api().get("/notifications/").json) == 1
    assert people[1].api().get("/notifications/").json == []


def test_empty_selection_is_rejected(ask: Ask, people: list[Person]) -> None:
    draft = {**DRAFT, "audience": "chosen"}
    assert "Select at least one account." in ask("POST", f"{PATH}/new", step="check", **draft).text
    everyone = ask("POST", f"{PATH}/reach", audience="everyone", **DRAFT).text
    refused = ask("POST", PATH, counted=field_of(everyone, "counted"), **draft)
    assert refused.status_code == 422
    assert people[0].api().get("/notifications/").json == []


def test_broadcast_is_not_sent_before_recipients_are_counted(
    ask: Ask, people: list[Person]
) -> None:
    for counted in ("", "3", "made.up"):
        refused = ask("POST", PATH, audience="everyone", counted=counted, **DRAFT)
        assert refused.status_code == 422
        assert "Wait until the recipients are counted." in refused.text
    assert people[0].api().get("/notifications/").json == []


def test_count_of_one_audience_does_not_confirm_another(ask: Ask, people: list[Person]) -> None:
    ids = [str(people[0].id)]
    one = ask("POST", f"{PATH}/reach", audience="chosen", account_receiver_ids=ids, **DRAFT).text
    for audience in (
        {"audience": "everyone"},
        {"audience": "everyone", "account_receiver_ids": ids},
    ):
        refused = ask("POST", PATH, counted=field_of(one, "counted"), **audience, **DRAFT)
        assert refused.status_code == 422
        assert "Wait until the recipients are counted." in refused.text
    assert people[0].api().get("/notifications/").json == []


def test_count_of_a_list_is_accepted_with_the_line_ends_of_a_browser(
    ask: Ask, people: list[Person]
) -> None:
    lines = [each.email for each in people]
    shown = ask("POST", f"{PATH}/reach", audience="list", list="\n".join(lines), **DRAFT).text
    form = {"audience": "list", "list": "\r\n".join(lines), **DRAFT}
    assert ask("POST", PATH, counted=field_of(shown, "counted"), **form).status_code == 303


def test_many_recipients_need_a_confirmation(
    ask: Ask, people: list[Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.console.admin.compose.CONFIRM_ABOVE", 2)
    draft = {**DRAFT, "audience": "everyone"}
    counted = ask("POST", f"{PATH}/reach", **draft)
    assert "Enter 3 to confirm the number of recipients" in counted.text
    signed = field_of(counted.text, "counted")
    for typed in ("", "2", "all"):
        refused = ask("POST", PATH, counted=signed, typed=typed, **draft)
        assert refused.status_code == 422
        assert "This is not the number of recipients." in refused.text
    assert people[0].api().get("/notifications/").json == []
    assert ask("POST", PATH, counted=signed, typed="3", **draft).status_code == 303


def test_form_that_is_sent_twice_sends_one_broadcast(ask: Ask, people: list[Person]) -> None:
    draft = {**DRAFT, "audience": "everyone"}
    counted = field_of(ask("POST", f"{PATH}/reach", **draft).text, "counted")
    first, second = (ask("POST", PATH, counted=counted, **draft) for _ in range(2))
    assert first.headers["Location"] != PATH
    assert (second.status_code, second.headers["Location"]) == (303, PATH)
    cookie = second.headers["Set-Cookie"].partition(";")[0]
    assert "This broadcast has already been sent." in ask("GET", PATH, cookie=cookie).text
    assert len(people[0].api().get("/notifications/").json) == 1
    again = field_of(ask("POST", f"{PATH}/reach", **draft).text, "counted")
    assert ask("POST", PATH, counted=again, **draft).headers["Location"] != PATH


def test_broadcast_whose_sending_failed_can_be_sent_again(
    ask: Ask, people: list[Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = {**DRAFT, "audience": "everyone"}
    counted = field_of(ask("POST", f"{PATH}/reach", **draft).text, "counted")

    def fail(*_args: object, **_more: object) -> None:
        raise Conflict

    with monkeypatch.context() as patch:
        patch.setattr("app.broadcasts.sent.SentNotifications.send", fail)
        assert ask("POST", PATH, counted=counted, **draft).status_code == 409
    assert ask("POST", PATH, counted=counted, **draft).status_code == 303
    assert len(people[0].api().get("/notifications/").json) == 1


def test_broadcast_is_not_sent_without_the_state_store(
    app: Flask, ask: Ask, people: list[Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = {**DRAFT, "audience": "everyone"}
    counted = field_of(ask("POST", f"{PATH}/reach", **draft).text, "counted")

    def unavailable(*_args: object) -> bool:
        raise KeystoreUnavailable

    with monkeypatch.context() as patch:
        patch.setattr(app.extensions["frontdesk"].keystore, "add", unavailable)
        assert ask("POST", PATH, counted=counted, **draft).status_code == 503
    assert people[0].api().get("/notifications/").json == []


def test_test_message_is_sent_only_to_its_author_by_email(
    ask: Ask, root: Person, people: list[Person], engine: ManualEngine, app: Flask
) -> None:
    answer = ask("POST", f"{PATH}/test", audience="everyone", **DRAFT)
    assert f"Test email sent to {root.email}." in answer.text
    assert root.api().get("/notifications/").json == []
    assert people[0].api().get("/notifications/").json == []
    assert engine.woken == ["email"]


def test_email_preview_is_escaped_and_sandboxed(ask: Ask) -> None:
    answer = ask("POST", f"{PATH}/mail", **{**DRAFT, "data.title": "<script>alert(1)</script>"})
    assert "&lt;script&gt;" in answer.text
    assert "<script>" not in answer.text
    assert answer.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")


def test_deleted_broadcast_is_removed_from_every_inbox(ask: Ask, people: list[Person]) -> None:
    counted = field_of(ask("POST", f"{PATH}/reach", audience="everyone", **DRAFT).text, "counted")
    sent = ask("POST", PATH, audience="everyone", counted=counted, **DRAFT)
    assert ask("POST", f"{sent.headers['Location']}/delete").status_code == 303
    assert people[0].api().get("/notifications/").json == []
    assert ask("GET", sent.headers["Location"]).status_code == 404


def test_only_admins_see_broadcasts(app: Flask, people: list[Person]) -> None:
    ask_as_ada = client_of(app, people[0])
    assert ask_as_ada("GET", PATH).status_code == 403
    assert ask_as_ada("POST", f"{PATH}/new", step="check", **DRAFT).status_code == 403
    assert ask_as_ada("POST", f"{PATH}/test", **DRAFT).status_code == 403
    assert "Broadcasts" not in ask_as_ada("GET", "/dashboard").text


def test_every_email_can_be_previewed_and_sent_as_a_sample(
    ask: Ask, root: Person, mails: MailOutbox
) -> None:
    listed = plain_html(ask("GET", "/admin/mails").text)
    for name in ("reset_password", "notification", "invitation"):
        assert f"{name}.html" in listed
        assert ask("GET", f"/admin/mails/{name}").status_code == 200
        framed = ask("GET", f"/admin/mails/{name}/html")
        assert framed.headers["Content-Security-Policy"].startswith("sandbox;")
    assert ask("GET", "/admin/mails/nothing").status_code == 404
    assert ask("POST", "/admin/mails/invitation/test").status_code == 303
    assert [mail.to for mail in mails.sent] == [root.email]

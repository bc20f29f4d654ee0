"""Personal fields of broadcasts in emails, SMS, inboxes and data exports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from app.broadcasts.sent import SentNotifications
from app.core.context import current_frontdesk, service
from app.core.data_export import DataSubject, ExportReader
from app.delivery.personal import unknown_fields
from app.notifications.export import export_notifications
from app.notifications.models import InboxItem, Notification
from app.notifications.personal import PersonalFields
from app.notifications.receivers import Audience
from app.testing.database import noted_queries

from ..conftest import MakeApp, MakePerson, Person
from ..profiles.test_profiles import ADA
from ..rigs.manual_engine import ManualEngine
from ..rigs.smtp import Sink
from ..rigs.twilio import Gateway, sms_gateway

TITLE = "News for {{ first_name|you }}"
MESSAGE = "Dear {{name | reader}},\nsee https://example.com/?to={{ email }} <b>. {{last_name}}"
SMS = {"SMS_ACCOUNT_SID": "AC1", "SMS_AUTH_TOKEN": "hidden", "SMS_PHONE_NUMBER": "+15550001111"}


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    with sms_gateway() as gateway:
        yield gateway


@pytest.fixture
def app(make_app: MakeApp, sink: Sink, gateway: Gateway) -> Flask:
    return make_app(
        MAIL_SERVER="127.0.0.1",
        MAIL_PORT=str(sink.port),
        SMS_API_URL=gateway.url,
        NOTIFICATIONS__INLINE_RECEIVERS="2",
        **SMS,
    )


@pytest.fixture
def ada(person: MakePerson) -> Person:
    """Return a person whose name tries to break out of a title, of HTML and into a link."""
    ada = person("ada", phone="+491511234567")
    names = {"first_name": "A\n{{ email }}", "last_name": '<i>"http://evil.example'}
    ada.api().post("/profiles", json={**ADA, **names})
    return ada


@pytest.fixture
def bob(person: MakePerson) -> Person:
    return person("bob")


def send(app: Flask, sender: Person, *, is_personal: bool = True, to: Any = None) -> None:
    with app.app_context():
        data: Any = {"title": TITLE, "message": MESSAGE, "channels": ["inapp", "email", "sms"]}
        sent = service(SentNotifications)
        sent.send(sender.id, data, to or Audience(), is_personal=is_personal)


def newest(person: Person) -> tuple[str, str]:
    item = person.api().get("/notifications/").json[0]
    assert person.api().get(f"/notifications/{item['id']}").json["title"] == item["title"]
    return item["title"], item["message"]


@pytest.mark.parametrize("is_large", [False, True], ids=["inline", "expanded"])
def test_fields_are_replaced_on_every_channel(
    app: Flask,
    ada: Person,
    bob: Person,
    person: MakePerson,
    engine: ManualEngine,
    sink: Sink,
    gateway: Gateway,
    is_large: bool,
) -> None:
    if is_large:
        person("carol")
    send(app, bob)
    engine.deliver()
    mails = {mail.to: mail for mail in sink.received}
    to_ada, to_bob = mails[ada.email], mails[bob.email]
    assert to_ada.message["Subject"] == "News for A {{ email }}"
    assert to_bob.message["Subject"] == "News for you"
    html = to_ada.part("html")
    assert "Dear A {{ email }} &lt;i&gt;&#34;http://evil.example," in html
    assert 'href="http://evil.example' not in html
    assert f'href="https://example.com/?to={ada.email}"' in html
    assert "Dear reader,<br>" in to_bob.part("html").replace("\r\n", "\n").replace("<br>\n", "<br>")
    text = (
        f'Dear A {{{{ email }}}} <i>"http://evil.example,\nsee https://example.com/?to={ada.email}'
    )
    assert text in to_ada.part("plain").replace("\r\n", "\n")
    [sms] = gateway.sent
    assert sms["Body"].startswith(f"News for A {{{{ email }}}}\n{text}")
    assert newest(ada)[0] == "News for A {{ email }}"
    assert newest(ada)[1].startswith(text)
    assert newest(bob) == (
        "News for you",
        f"Dear reader,\nsee https://example.com/?to={bob.email} <b>. ",
    )


def test_text_of_the_api_is_not_changed(
    app: Flask, ada: Person, bob: Person, engine: ManualEngine, sink: Sink
) -> None:
    send(app, bob, is_personal=False)
    engine.deliver()
    assert {str(mail.message["Subject"]) for mail in sink.received} == {TITLE}
    assert newest(ada) == (TITLE, MESSAGE)


def test_inbox_shows_the_current_name_and_an_export_has_it(
    app: Flask, ada: Person, bob: Person
) -> None:
    send(app, bob)
    ada.api().put("/profiles", json={"first_name": "Ada"})
    assert newest(ada)[0] == "News for Ada"
    ada.api().delete("/profiles")
    assert newest(ada)[0] == "News for you"
    with app.app_context():
        engine = current_frontdesk.db.engine
        tables = {each.__tablename__ for each in (InboxItem, Notification)}
        reader = ExportReader(engine, tables, lambda: None)
        subject = DataSubject(ada.id, ada.email, ada.id)
        files = dict(export_notifications(service(PersonalFields), subject, reader))
        inbox: Any = files["inbox.jsonl"]
        [row] = inbox
        assert row["title"] == "News for you"
        assert "is_personal" not in row


def test_plain_messages_need_no_further_statement(app: Flask, ada: Person, bob: Person) -> None:
    with app.app_context():
        data: Any = {"title": "Plain", "message": "Text", "channels": ["inapp"]}
        service(SentNotifications).send(bob.id, data, Audience())
    api = ada.api()
    with noted_queries(app) as plain:
        api.get("/notifications/")
    send(app, bob)
    with noted_queries(app) as personal:
        api.get("/notifications/")
    assert len(personal) == len(plain) + 2


def test_unknown_and_broken_fields_are_found() -> None:
    assert [*unknown_fields("{{ first_name|x }} {{email}} {{ age|7 }} {{ a.b }} {{ first")] == [
        "age",
        "",
    ]
    assert [*unknown_fields("Hello }} {")] == []


@pytest.mark.parametrize(
    ("text", "is_linked"),
    [
        ("https://example.com/{{ last_name }}", True),
        ("https://example.com{{ last_name }}/x", False),
        ("https://{{ last_name }}", False),
    ],
)
def test_field_never_becomes_part_of_the_host_of_a_link(
    app: Flask,
    ada: Person,
    bob: Person,
    engine: ManualEngine,
    sink: Sink,
    text: str,
    is_linked: bool,
) -> None:
    with app.app_context():
        data: Any = {"title": "News", "message": f"See {text} now", "channels": ["inapp", "email"]}
        service(SentNotifications).send(bob.id, data, Audience(ids=[ada.id]), is_personal=True)
    engine.deliver()
    [mail] = sink.received
    assert ('href="https://' in mail.part("html").partition("See ")[2]) is is_linked

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from flask_frontdesk.testing import PASSWORD, Kit, Person

from app import Order, create_app, db

OWN = {"Sec-Fetch-Site": "same-origin"}
SignedIn = Callable[[Person], FlaskClient]


@pytest.fixture
def app() -> Flask:
    app = create_app("sqlite://")
    app.debug = True  # cookies without TLS
    return app


@pytest.fixture
def signed_in(app: Flask) -> SignedIn:
    def sign_in(account: Person) -> FlaskClient:
        client = app.test_client()
        form = {"email": account.email, "password": PASSWORD}
        assert client.post("/desk/sign-in", data=form, headers=OWN).status_code == 303
        return client

    return sign_in


def order(app: Flask, account: Person, article: str) -> None:
    with app.app_context():
        db.session.add(Order(account_id=account.id, article=article))
        db.session.commit()


def test_customer_sees_own_orders(app: Flask, frontdesk: Kit, signed_in: SignedIn) -> None:
    ada, bob = frontdesk.account("ada"), frontdesk.account("bob")
    order(app, ada, "A kettle")
    page = signed_in(ada).get("/desk/orders").text
    assert "A kettle" in page
    assert "The Shop" in page
    assert 'href="/desk/dashboard"' in page
    assert "Orders to send" not in page
    assert "A kettle" not in signed_in(bob).get("/desk/orders").text


def test_order_comes_back_after_the_session_has_ended(
    app: Flask, frontdesk: Kit, signed_in: SignedIn
) -> None:
    ada = frontdesk.account("ada")
    desk = signed_in(ada)
    form = {"article": "A kettle"}
    page = {**OWN, "Referer": "http://localhost/desk/orders"}
    assert (
        "A kettle"
        in desk.post("/desk/orders/new", data=form, headers=OWN, follow_redirects=True).text
    )
    other_browser = signed_in(ada)
    assert other_browser.post("/desk/security/sessions", headers=OWN).status_code == 303
    form["article"] = "A teapot"
    ended = desk.post("/desk/orders/new", data=form, headers=page)
    assert ended.headers["Location"] == "/desk/sign-in?next=/desk/orders"
    sign_in = {"email": ada.email, "password": PASSWORD}
    assert desk.post("/desk/sign-in", data=sign_in, headers=OWN).status_code == 303
    orders = desk.get("/desk/orders").text
    assert 'value="A teapot"' in orders
    assert "You were signed out before your changes were saved." in orders


def test_admin_marks_an_order_as_sent_and_the_customer_is_notified(
    app: Flask, frontdesk: Kit, signed_in: SignedIn
) -> None:
    ada, boss = frontdesk.account("ada"), frontdesk.account("boss", role="admin")
    order(app, ada, "A kettle")
    desk = signed_in(boss)
    assert "A kettle" in desk.get("/desk/sending").text
    assert desk.post("/desk/sending/1", headers=OWN).status_code == 303
    assert "No orders to send" in desk.get("/desk/sending").text
    assert "We have sent you: A kettle." in signed_in(ada).get("/desk/dashboard").text


def test_only_admins_send_orders(app: Flask, frontdesk: Kit, signed_in: SignedIn) -> None:
    ada = frontdesk.account("ada")
    order(app, ada, "A kettle")
    asked = app.test_client().get("/desk/orders")
    assert asked.headers["Location"] == "/desk/sign-in?next=/desk/orders"
    mine = signed_in(ada)
    assert mine.get("/desk/sending").status_code == 403
    assert mine.post("/desk/sending/1", headers=OWN).status_code == 403
    other_site = {"Sec-Fetch-Site": "cross-site"}
    assert (
        signed_in(frontdesk.account("boss", role="admin"))
        .post("/desk/sending/1", headers=other_site)
        .status_code
        == 403
    )

"""Flask-WTF's `CSRFProtect` for the application, next to Frontdesk's blueprints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Blueprint, Flask
from flask_sqlalchemy import SQLAlchemy
from flask_wtf import CSRFProtect
from flask_wtf.csrf import CSRFError, generate_csrf

from app import Frontdesk
from app.accounts.account import Account
from app.blueprints import auth, tasks
from app.testing.client import Api
from app.testing.people import PASSWORD, make_person

from ..rigs.hosts import HostSettings, plain_app

KEY = "the key that the host signs its session with"


def frontdesk(host: Flask, db: SQLAlchemy) -> None:
    Frontdesk().init_app(host, db, settings=HostSettings(), account_model=Account)


def blueprints(host: Flask, _db: SQLAlchemy) -> None:
    outer = Blueprint("outer", __name__)
    outer.register_blueprint(tasks, url_prefix="/tasks")
    host.register_blueprint(auth, url_prefix="/desk")
    host.register_blueprint(outer, url_prefix="/outer")


def protection(host: Flask, _db: SQLAlchemy) -> None:
    CSRFProtect(host)


Step = Callable[[Flask, SQLAlchemy], None]
ORDERS = [
    (protection, frontdesk, blueprints),
    (frontdesk, protection, blueprints),
    (frontdesk, blueprints, protection),
]


@pytest.fixture(params=ORDERS, ids=lambda order: "-".join(step.__name__ for step in order))
def host(request: pytest.FixtureRequest) -> Flask:
    host, db = plain_app(SECRET_KEY=KEY)
    steps: tuple[Step, ...] = request.param
    for step in steps:
        step(host, db)
    host.add_url_rule("/own", "own", lambda: "bought", methods=["POST"])
    host.add_url_rule("/form", "form", generate_csrf)
    with host.app_context():
        db.create_all()
    return host


def test_frontdesk_routes_need_no_form_token(host: Flask) -> None:
    ada = make_person(host, "ada")
    login = {"username": ada.email, "password": PASSWORD}
    token = Api(host, "/desk").post("/login", data=login).json["access_token"]
    Api(host, "/desk", token).delete("/logout")
    Api(host, "/outer").post("/tasks/", 201, json={"title": "Water the plants"})


def test_application_routes_need_a_form_token(host: Flask) -> None:
    client = host.test_client()
    assert client.post("/own").status_code == 400
    token = client.get("/form").text
    assert client.post("/own", data={"csrf_token": token}).text == "bought"


def test_flask_wtf_errors_reach_the_applications_handler(host: Flask) -> None:
    @host.errorhandler(CSRFError)
    def handle_error(error: CSRFError) -> tuple[str, int]:
        return f"custom page: {error.description}", 400

    assert host.test_client().post("/own").text == "custom page: The CSRF token is missing."


def test_flask_wtf_errors_of_frontdesk_routes_are_problems(host: Flask) -> None:
    """The application protects every route with an explicit call."""
    protection: Any = host.extensions["csrf"]
    host.before_request(lambda: protection.protect())
    response = Api(host, "/outer").post("/tasks/", 400, json={"title": "x"})
    assert response.detail == "The CSRF token is missing."
    assert response.json["code"] == "bad_request"

"""`BRAND__NAME`: the one name that users see."""

from __future__ import annotations

from app.testing.client import Api
from app.testing.outbox import MailOutbox

from ..conftest import MakeApp, MakePerson

NAME = "Acme Harbour"


def test_users_see_only_the_brand_name(
    make_app: MakeApp, person: MakePerson, mails: MailOutbox
) -> None:
    app = make_app(
        BRAND__NAME=NAME,
        CORE__PROJECT_NAME="acme-service",
        AUTH__MFA="optional",
        AUTH__PASSKEYS="on",
        AUTH__LOGIN_BY_CODE="on",
        AUTH__REGISTRATION="open",
    )
    ada, api = person("ada", into=app), Api(app)
    api.post("/password-recovery", json={"email": ada.email})
    api.post("/login/code", 202, json={"email": ada.email})
    api.post(
        "/registration", 202, json={"email": "bob@example.com", "password": "never seen before"}
    )
    here = ada.api()
    setup = here.post("/authenticators/totp", 201).json
    options = here.post("/authenticators/passkey/options").json
    page = app.test_client().get("/sign-in").text
    assert len(mails.sent) == 3
    for mail in mails.sent:
        assert mail.subject.startswith(f"{NAME}: ")
        assert NAME in mail.text
    shown = [*(mail.subject + mail.text + mail.html for mail in mails.sent), setup["uri"], page]
    assert [text for text in shown if "acme-service" in text] == []
    assert setup["uri"].startswith("otpauth://totp/Acme%20Harbour%3Aada@example.com?")
    assert options["rp"]["name"] == NAME
    assert f"{NAME}</title>" in page
    assert api.get("/health").json["project"] == "acme-service"

"""The order of the features changes nothing, and a missing feature stops the start."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from flask import Flask

from app import Frontdesk, SetupError, blueprints
from app.auth.settings import AuthSettings
from app.auth.sign_in.policy import SignInPolicy
from app.core.context import Context
from app.core.services import Services
from app.extension import assembly
from app.testing.client import Api
from app.testing.people import PASSWORD, make_person

from ..rigs.cases import for_each
from ..rigs.hosts import HostSettings, host_with

MOUNTED = ("auth", "mfa", "passkeys", "login_codes", "sessions", "registration", "administration")
ENABLED = AuthSettings(
    BCRYPT_ROUNDS=4,
    MFA="required",
    PASSKEYS="on",
    LOGIN_BY_CODE="on",
    SESSIONS="on",
    COOKIE_SESSIONS="on",
    REFRESH_TOKEN_DAYS=30,
    REGISTRATION="open",
)
in_order = assembly.features


def application() -> Flask:
    settings = HostSettings()
    settings.AUTH = ENABLED
    mounted = [(getattr(blueprints, name), f"/{name}") for name in MOUNTED]
    host = host_with(*mounted, frontdesk=Frontdesk(), settings=settings)
    context: Context = host.extensions["frontdesk"]
    context.assemble_all()
    context.build()
    return host


def described(host: Flask) -> dict[str, Any]:
    """The services with the types of their parts, and what the features contribute."""
    context: Context = host.extensions["frontdesk"]
    policy = context.get(SignInPolicy)
    return {
        "services": {
            kind.__name__: {name: type(part) for name, part in vars(each).items()}
            for kind, each in context.services.items()
            if hasattr(each, "__dict__")
        },
        "stages": [type(stage) for stage in policy.stages],
        "contributions": {
            kind: Counter(str(getattr(each, "name", "")) for each in found)
            for kind, found in context._contributions.items()
            if found
        },
        "listeners": {
            name: len(signal.receivers) for name, signal in context.actions._signals.items()
        },
    }


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return described(application())


@for_each("seed", range(50))
def test_shuffled_features_are_the_same_application_and_ask_for_the_second_factor(
    seed: int, expected: dict[str, Any]
) -> None:
    def shuffled(context: Context) -> list[assembly.Feature]:
        found = list(in_order(context))
        random.Random(seed).shuffle(found)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assembly, "features", shuffled)
        host = application()
    assert described(host) == expected
    ada = make_person(host, "ada")
    form = {"username": ada.email, "password": PASSWORD}
    refused = Api(host, "/auth").post("/login", 403, data=form).json
    assert refused["code"] == "mfa_enrolment_required"


def without(package: str) -> Any:
    return lambda context: [each for each in in_order(context) if each.package != package]


@for_each("package", ["auth.mfa", "auth.passkeys", "auth.sessions", "auth.login_codes", "accounts"])
def test_missing_feature_stops_the_start(package: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assembly, "features", without(package))
        with pytest.raises(SetupError, match=r"This application has no \w+, which \w+ needs"):
            application()


class Tea:
    pass


class Milk:
    pass


def test_services_that_need_each_other_are_named() -> None:
    services = Services[Any]()
    services.provide(Tea, lambda known: known.make(Milk) and Tea())
    services.provide(Milk, lambda known: known.make(Tea) and Milk())
    with pytest.raises(SetupError, match=r"Services need each other: Tea needs Milk needs Tea\."):
        services.make(Tea)


def test_missing_service_is_named_with_the_service_that_needs_it() -> None:
    services = Services[Any]()
    services.provide(Tea, lambda known: known.make(Milk) and Tea())
    with pytest.raises(SetupError, match="This application has no Milk, which Tea needs"):
        services.build()


def test_service_that_two_features_provide_is_an_error() -> None:
    services = Services[Any]()
    services.add(Tea())
    with pytest.raises(SetupError, match="Two features provide Tea"):
        services.add(Tea())

"""Stages of the sign-in policy that a test adds to an application."""

from __future__ import annotations

from typing import cast

from flask import Flask

from app.auth.sign_in.policy import Challenge, SignIn, Stage


class AddedStages(list[Stage]):
    """A stage that runs each stage a test adds: `Parts(sign_in_stages=[AddedStages()])`."""

    def __call__(self, sign_in: SignIn) -> Challenge | None:
        for stage in self:
            challenge = stage(sign_in)
            if challenge is not None:
                return challenge
        return None


def added_stages(app: Flask) -> AddedStages:
    [stages] = app.extensions["frontdesk"].parts["sign_in_stages"]
    return cast(AddedStages, stages)

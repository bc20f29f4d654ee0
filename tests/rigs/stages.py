"""Stages of the sign-in policy that a test adds to an application and takes away again."""

from __future__ import annotations

from typing import cast

from flask import Flask

from app.auth.sign_in.policy import Challenge, SignIn, Stage


class AddedStages(list[Stage]):
    """The application's own stage, which asks those that are in it: `Parts(sign_in_stages=…)`."""

    def __call__(self, sign_in: SignIn) -> Challenge | None:
        for stage in self:
            challenge = stage(sign_in)
            if challenge is not None:
                return challenge
        return None


def added_stages(app: Flask) -> AddedStages:
    [stages] = app.extensions["frontdesk"].parts["sign_in_stages"]
    return cast(AddedStages, stages)

from __future__ import annotations

import flask_frontdesk


# [settings]
class Settings(flask_frontdesk.ComposedSettings):
    """Read from the environment and `.env`: CORE__PROJECT_NAME, AUTH__ACCESS_TOKEN_EXPIRE_MINUTES…

    The defaults here are this application's own.
    """

    CORE: flask_frontdesk.CoreSettings = flask_frontdesk.CoreSettings(
        PROJECT_NAME="Pinboard", CLIENT_HOST="https://pinboard.example.com"
    )
    AUTH: flask_frontdesk.AuthSettings = flask_frontdesk.AuthSettings(
        ACCESS_TOKEN_EXPIRE_MINUTES=60,
        PASSWORD_RESET_PATH="/new-password",
        ACTIVE_STATUSES=["trial", "paid", "overdue"],
        REGISTRATION="open",
        ACCOUNT_EXPORTS="on",
        ACCOUNT_DELETION="on",
    )


# [end]

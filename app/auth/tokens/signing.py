"""What signs: Flask-JWT-Extended, on an application of its own.

It keeps its settings, its callbacks and sixteen error handlers on an application. A host may use it
too, for tokens and cookies of its own, and what is right for ours would weaken those.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flask import Flask
from flask_jwt_extended import JWTManager, create_access_token

ALGORITHM = "HS256"

_HERE = str(Path(__file__).parent)


class Signer:
    def __init__(self, secret: str, host: Flask) -> None:
        """Claims are written as the host writes JSON."""
        self._own = Flask(__name__, static_folder=None, root_path=_HERE, instance_path=_HERE)
        self._own.json_provider_class = host.json_provider_class
        self._own.config.update(
            JWT_SECRET_KEY=secret,
            JWT_ALGORITHM=ALGORITHM,
            # Claims that nobody reads here are left out.
            JWT_ENCODE_NBF=False,
            JWT_COOKIE_CSRF_PROTECT=False,
        )
        JWTManager(self._own)

    def sign(self, email: str, claims: Mapping[str, Any]) -> str:
        with self._own.app_context():
            signed = create_access_token(
                email, expires_delta=False, additional_claims={**claims, "type": "access"}
            )
        return str(signed)

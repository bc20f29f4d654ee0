from __future__ import annotations

from ..core.errors import Forbidden


class RegistrationClosed(Forbidden):
    code = "registration_closed"
    detail = "Registration is closed"
    security_event = "account_creation"


class RegistrationRefused(Forbidden):
    """Told to the client only where addresses need not be proven; otherwise a mail tells it."""

    code = "registration_refused"
    detail = "This address cannot be registered here"
    security_event = "account_creation"

"""The service's own account, imported by the service alone: a host's model takes the same table."""

from __future__ import annotations

from ..core.database import Base
from .models import AccountMixin


class Account(AccountMixin, Base):
    pass

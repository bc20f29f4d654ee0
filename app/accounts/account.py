"""The service's own account, and the metadata that all of its tables are in."""

from __future__ import annotations

from sqlalchemy import MetaData
from sqlalchemy.orm import DeclarativeBase

from ..core.db.base import NAMES
from .models import AccountMixin


class ServiceBase(DeclarativeBase):
    metadata = MetaData(naming_convention=NAMES)


class Account(AccountMixin, ServiceBase):
    pass

"""The existing tables as Django models."""
# mypy: disable-error-code="import-not-found, import-untyped"
# mypy: allow-subclassing-any

from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import models


class JSONField(models.JSONField):
    """Django's field expects `jsonb`; the driver returns a `json` column already parsed."""

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        if isinstance(value, str):
            return super().from_db_value(value, expression, connection)
        return value


class Account(AbstractBaseUser):
    password = models.CharField(max_length=128, db_column="password_hash")
    last_login = models.DateTimeField(null=True, db_column="last_login_date")
    email = models.EmailField(unique=True)
    status = models.CharField(max_length=32)
    role = models.CharField(max_length=16)
    phone = models.CharField(max_length=32, null=True)
    current_workspace_id = models.BigIntegerField(null=True)
    created_at = models.DateTimeField()

    USERNAME_FIELD = "email"

    class Meta:
        managed = False
        db_table = "accounts"


class Notification(models.Model):
    title = models.CharField(max_length=200)
    message = models.TextField()
    channels = JSONField()
    sender_id = models.BigIntegerField(null=True)
    notification_type = models.CharField(max_length=16)
    scope = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "frontdesk_notifications"


class InboxItem(models.Model):
    notification = models.ForeignKey(Notification, on_delete=models.CASCADE)
    receiver = models.ForeignKey(Account, on_delete=models.CASCADE)
    is_read = models.BooleanField()

    class Meta:
        managed = False
        db_table = "frontdesk_inbox"

"""Model serializers, flat like the responses of the other peers."""
# mypy: disable-error-code="import-not-found, import-untyped"
# mypy: allow-subclassing-any

from rest_framework import serializers

from bench.peers.drf.models import Account, InboxItem


class AccountRead(serializers.ModelSerializer):
    last_login_date = serializers.DateTimeField(source="last_login")

    class Meta:
        model = Account
        fields = [
            "id",
            "email",
            "status",
            "role",
            "phone",
            "last_login_date",
            "current_workspace_id",
            "created_at",
        ]


class InboxItemRead(serializers.ModelSerializer):
    title = serializers.CharField(source="notification.title")
    message = serializers.CharField(source="notification.message")
    channels = serializers.JSONField(source="notification.channels")
    sender_id = serializers.IntegerField(source="notification.sender_id")
    notification_type = serializers.CharField(source="notification.notification_type")
    scope = serializers.CharField(source="notification.scope")
    created_at = serializers.DateTimeField(source="notification.created_at")

    class Meta:
        model = InboxItem
        fields = [
            "id",
            "notification_id",
            "receiver_id",
            "is_read",
            "title",
            "message",
            "channels",
            "sender_id",
            "notification_type",
            "scope",
            "created_at",
        ]

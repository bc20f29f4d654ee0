"""The responses, as marshmallow schemas."""

from marshmallow import Schema, fields


class AccountRead(Schema):
    id = fields.Integer()
    email = fields.String()
    status = fields.String()
    role = fields.String()
    phone = fields.String()
    last_login_date = fields.DateTime()
    current_workspace_id = fields.Integer()
    created_at = fields.DateTime()


class InboxItemRead(Schema):
    id = fields.Integer()
    notification_id = fields.Integer()
    receiver_id = fields.Integer()
    is_read = fields.Boolean()
    title = fields.String(attribute="notification.title")
    message = fields.String(attribute="notification.message")
    channels = fields.List(fields.String(), attribute="notification.channels")
    sender_id = fields.Integer(attribute="notification.sender_id")
    notification_type = fields.String(attribute="notification.notification_type")
    scope = fields.String(attribute="notification.scope")
    created_at = fields.DateTime(attribute="notification.created_at")

"""`@auth_required("token")` loads the account and its roles by `fs_uniquifier`.

A new uniquifier of the account revokes a token, so the library needs no keystore.
"""
# mypy: disable-error-code="import-not-found, import-untyped, untyped-decorator"
# mypy: allow-subclassing-any, allow-untyped-calls

import os
from datetime import datetime

from flask import Flask, Response, jsonify, request
from flask_security import Security, SQLAlchemyUserDatastore, auth_required, current_user
from flask_security.models import fsqla_v3 as fsqla
from sqlalchemy import DateTime, select
from sqlalchemy.orm import Mapped, joinedload, mapped_column

from bench.peers.usual.models import InboxItem, db

app = Flask(__name__)
app.config["SECRET_KEY"] = os.environ["SECRET_KEY"]
app.config["SECURITY_PASSWORD_SALT"] = "bench"
app.config["SQLALCHEMY_DATABASE_URI"] = os.environ["BENCH_DATABASE_URL"].replace(
    "postgresql://", "postgresql+psycopg://"
)
db.init_app(app)

fsqla.FsModels.set_db_info(
    db, user_table_name="security_accounts", role_table_name="security_roles"
)


class Role(db.Model, fsqla.FsRoleMixin):  # type: ignore[name-defined]
    __tablename__ = "security_roles"


class User(db.Model, fsqla.FsUserMixin):  # type: ignore[name-defined]
    __tablename__ = "security_accounts"

    status: Mapped[str]
    role: Mapped[str]
    phone: Mapped[str | None]
    last_login_date: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    current_workspace_id: Mapped[int | None]
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


users = SQLAlchemyUserDatastore(db, User, Role)
security = Security(app, users)


def iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


@app.get("/account")
@auth_required("token")
def account() -> Response:
    return jsonify(
        id=current_user.id,
        email=current_user.email,
        status=current_user.status,
        role=current_user.role,
        phone=current_user.phone,
        last_login_date=iso(current_user.last_login_date),
        current_workspace_id=current_user.current_workspace_id,
        created_at=iso(current_user.created_at),
    )


@app.get("/inbox")
@auth_required("token")
def inbox() -> Response:
    offset = request.args.get("offset", 0, type=int)
    limit = request.args.get("limit", 100, type=int)
    items = db.session.scalars(
        select(InboxItem)
        .where(InboxItem.receiver_id == current_user.id)
        .options(joinedload(InboxItem.notification))
        .order_by(InboxItem.id.desc())
        .offset(offset)
        .limit(limit)
    )
    return jsonify([in_json(item) for item in items])


def in_json(item: InboxItem) -> dict[str, object]:
    return {
        "id": item.id,
        "notification_id": item.notification_id,
        "receiver_id": item.receiver_id,
        "is_read": item.is_read,
        "title": item.notification.title,
        "message": item.notification.message,
        "channels": item.notification.channels,
        "sender_id": item.notification.sender_id,
        "notification_type": item.notification.notification_type,
        "scope": item.notification.scope,
        "created_at": iso(item.notification.created_at),
    }

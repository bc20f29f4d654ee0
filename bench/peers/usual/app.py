"""Flask-JWT-Extended with a blocklist in Redis, ORM objects, marshmallow dumps."""

import os
from typing import Any

import redis
from flask import Flask, Response, jsonify, request
from flask_jwt_extended import JWTManager, current_user, jwt_required
from sqlalchemy import select
from sqlalchemy.orm import joinedload

from bench.peers.usual.models import Account, InboxItem, db
from bench.peers.usual.schemas import AccountRead, InboxItemRead

app = Flask(__name__)
app.config["JWT_SECRET_KEY"] = os.environ["SECRET_KEY"]
app.config["SQLALCHEMY_DATABASE_URI"] = os.environ["BENCH_DATABASE_URL"].replace(
    "postgresql://", "postgresql+psycopg://"
)
db.init_app(app)
jwt = JWTManager(app)
blocklist = redis.Redis.from_url(os.environ["BENCH_REDIS_URL"])

account_schema = AccountRead()
inbox_schema = InboxItemRead(many=True)


@jwt.token_in_blocklist_loader
def is_revoked(_header: dict[str, Any], payload: dict[str, Any]) -> bool:
    return blocklist.get(f"revoked:{payload['sub']}") is not None


@jwt.user_lookup_loader
def load_account(_header: dict[str, Any], payload: dict[str, Any]) -> Account | None:
    found: Account | None = db.session.scalar(
        select(Account).where(Account.email == payload["sub"])
    )
    return found


@app.get("/account")
@jwt_required()  # type: ignore[untyped-decorator]
def account() -> Any:
    return account_schema.dump(current_user)


@app.get("/inbox")
@jwt_required()  # type: ignore[untyped-decorator]
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
    return jsonify(inbox_schema.dump(items))

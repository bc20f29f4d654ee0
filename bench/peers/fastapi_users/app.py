"""Tokens in Redis, the library's revocable strategy: one GET and one SELECT for each request."""
# mypy: disable-error-code="import-not-found, import-untyped, untyped-decorator"
# mypy: allow-subclassing-any, allow-untyped-calls

import os
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Annotated, Any

import redis.asyncio
from fastapi import Depends, FastAPI
from fastapi_users import BaseUserManager, FastAPIUsers, IntegerIDMixin
from fastapi_users.authentication import AuthenticationBackend, BearerTransport, RedisStrategy
from fastapi_users.db import SQLAlchemyUserDatabase
from pydantic import BaseModel, ConfigDict
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from bench.peers.fastapi_users.models import InboxItem, Notification, User, get_session

keystore = redis.asyncio.from_url(os.environ["BENCH_REDIS_URL"], decode_responses=True)


class UserManager(IntegerIDMixin, BaseUserManager[User, int]):
    pass


async def get_user_db(
    session: Annotated[AsyncSession, Depends(get_session)],
) -> AsyncIterator[SQLAlchemyUserDatabase[User, int]]:
    yield SQLAlchemyUserDatabase(session, User)


async def get_user_manager(
    user_db: Annotated[SQLAlchemyUserDatabase[User, int], Depends(get_user_db)],
) -> AsyncIterator[UserManager]:
    yield UserManager(user_db)


def get_strategy() -> RedisStrategy[User, int]:
    return RedisStrategy(keystore, lifetime_seconds=3 * 3600)


backend = AuthenticationBackend(
    name="redis", transport=BearerTransport(tokenUrl="login"), get_strategy=get_strategy
)
fastapi_users = FastAPIUsers[User, int](get_user_manager, [backend])
CurrentUser = Annotated[User, Depends(fastapi_users.current_user())]
Session = Annotated[AsyncSession, Depends(get_session)]

app = FastAPI()


class AccountRead(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: int
    email: str
    status: str
    role: str
    phone: str | None
    last_login_date: datetime | None
    current_workspace_id: int | None
    created_at: datetime


class InboxItemRead(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: int
    notification_id: int
    receiver_id: int
    is_read: bool
    title: str
    message: str
    channels: list[str]
    sender_id: int | None
    notification_type: str
    scope: str
    created_at: datetime


@app.get("/account", response_model=AccountRead)
async def account(user: CurrentUser) -> User:
    return user


@app.get("/inbox", response_model=list[InboxItemRead])
async def inbox(
    user: CurrentUser, session: Session, offset: int = 0, limit: int = 100
) -> Sequence[Any]:
    rows = await session.execute(
        select(
            InboxItem.id,
            InboxItem.notification_id,
            InboxItem.receiver_id,
            InboxItem.is_read,
            Notification.title,
            Notification.message,
            Notification.channels,
            Notification.sender_id,
            Notification.notification_type,
            Notification.scope,
            Notification.created_at,
        )
        .join(Notification, Notification.id == InboxItem.notification_id)
        .where(InboxItem.receiver_id == user.id)
        .order_by(InboxItem.id.desc())
        .offset(offset)
        .limit(limit)
    )
    return rows.all()

"""Copies the accounts into the library's table and prints the credentials of the first accounts."""
# mypy: disable-error-code="import-not-found"

import asyncio
import json
import sys

from sqlalchemy import func, select, text

from bench.peers.fastapi_users.app import get_strategy
from bench.peers.fastapi_users.models import User, engine, sessions

COPY = """
INSERT INTO fastapi_accounts
    (id, email, hashed_password, is_active, is_superuser, is_verified,
     status, role, phone, last_login_date, current_workspace_id, created_at)
SELECT id, email, password_hash, true, false, true,
       status, role, phone, last_login_date, current_workspace_id, created_at
FROM accounts
"""


async def copy_accounts() -> None:
    async with engine.begin() as connection:
        await connection.run_sync(User.metadata.create_all)
        if not await connection.scalar(select(func.count()).select_from(User)):
            await connection.execute(text(COPY))
            await connection.execute(text("ANALYZE fastapi_accounts"))


async def main(count: int) -> list[str]:
    await copy_accounts()
    async with sessions() as session:
        users = await session.scalars(select(User).order_by(User.id).limit(count))
        tokens = [await get_strategy().write_token(user) for user in users]
    return [f"Authorization: Bearer {token}" for token in tokens]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(int(sys.argv[1])))))

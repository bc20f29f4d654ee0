"""Copies the accounts into the library's table and prints the credentials of the first accounts."""
# mypy: disable-error-code="import-not-found"

import json
import sys

from sqlalchemy import func, select, text

from bench.peers.security.app import User, app
from bench.peers.usual.models import db

COPY = """
INSERT INTO security_accounts
    (id, email, password, active, fs_uniquifier, create_datetime, update_datetime,
     status, role, phone, last_login_date, current_workspace_id, created_at)
SELECT id, email, password_hash, true, md5(random()::text || id), now(), now(),
       status, role, phone, last_login_date, current_workspace_id, created_at
FROM accounts
"""


def copy_accounts() -> None:
    db.create_all()
    if not db.session.scalar(select(func.count()).select_from(User)):
        db.session.execute(text(COPY))
        db.session.commit()
        with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("ANALYZE security_accounts"))


if __name__ == "__main__":
    with app.app_context():
        copy_accounts()
        first = db.session.scalars(select(User).order_by(User.id).limit(int(sys.argv[1])))
        print(json.dumps([f"Authentication-Token: {user.get_auth_token()}" for user in first]))

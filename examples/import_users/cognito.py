"""Users of Amazon Cognito, which exports no passwords: the users reset theirs.

aws cognito-idp list-users --user-pool-id eu-central-1_EXAMPLE > users.json
python cognito.py users.json > accounts.jsonl
"""

from __future__ import annotations

import json
import sys

from accounts import User, google, profile, write


def account(user: User) -> User:
    attributes = {each["Name"]: each.get("Value") for each in user.get("Attributes", [])}
    return {
        "email": attributes.get("email"),
        "id": attributes.get("sub"),
        "email_verified": attributes.get("email_verified") == "true",
        "status": "active" if user.get("Enabled", True) else "suspended",
        "phone": attributes.get("phone_number"),
        "created_at": user.get("UserCreateDate"),
        "identities": google(
            json.loads(attributes.get("identities") or "[]"), "providerName", ("Google",), "userId"
        ),
        "profile": profile(attributes, "given_name", "family_name"),
    }


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        write(json.load(file)["Users"], account)

"""The scenario of journey.ts in Python, with the client of openapi-python-client."""

from __future__ import annotations

import sys

from frontdesk_client import AuthenticatedClient, Client
from frontdesk_client.api.admin_notifications import send_notification
from frontdesk_client.api.auth import get_account, login, logout
from frontdesk_client.api.notifications import delete_inbox_item, list_inbox, mark_inbox_item
from frontdesk_client.api.tasks import create_task, list_tasks
from frontdesk_client.models import (
    AccountRead,
    AccountRole,
    Broadcast,
    Channel,
    GetAccountProblem,
    GetAccountProblemCode,
    InboxItemRead,
    LoginForm,
    LoginProblem,
    LoginProblemCode,
    NotificationCreate,
    NotificationRead,
    TaskCreate,
    TaskRead,
    WorkspaceLoginRead,
)


def main(base: str, username: str, password: str) -> None:
    anonymous = Client(base_url=base)
    wrong = login.sync(client=anonymous, body=LoginForm(username=username, password="wrong"))
    assert isinstance(wrong, LoginProblem)
    assert wrong.code is LoginProblemCode.INCORRECT_CREDENTIALS

    answer = login.sync(client=anonymous, body=LoginForm(username=username, password=password))
    assert isinstance(answer, WorkspaceLoginRead)
    client = AuthenticatedClient(base_url=base, token=answer.access_token)
    account = get_account.sync(client=client)
    assert isinstance(account, AccountRead)
    assert account.role is AccountRole.ROOT

    task = create_task.sync(client=client, body=TaskCreate(title="Water the plants"))
    assert isinstance(task, TaskRead)
    assert task.priority == "normal"
    tasks = list_tasks.sync_detailed(client=client, limit=1)
    assert tasks.headers["X-Total-Count"] == "1"

    draft = NotificationCreate(title="Hello", message="A message.", channels=[Channel.INAPP])
    sent = send_notification.sync(client=client, body=Broadcast(data=draft))
    assert isinstance(sent, NotificationRead)
    inbox = list_inbox.sync(client=client)
    assert isinstance(inbox, list)
    item = inbox[0]
    marked = mark_inbox_item.sync(item.notification_id, client=client, status=True)
    assert isinstance(marked, InboxItemRead)
    assert marked.is_read
    gone = delete_inbox_item.sync(item.id, client=client)
    assert isinstance(gone, InboxItemRead)
    assert list_inbox.sync(client=client) == []

    logout.sync_detailed(client=client)
    late = get_account.sync(client=client)
    assert isinstance(late, GetAccountProblem)
    assert late.code is GetAccountProblemCode.TOKEN_EXPIRED


if __name__ == "__main__":
    main(*sys.argv[1:])
    print("done")

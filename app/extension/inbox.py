"""`frontdesk.inbox`: the inbox of an account, for pages and commands of an application."""

from typing import Any

from ..core.context import service
from ..core.types import JsonObject
from ..notifications.inbox import Inbox


class AccountInbox:
    """The inbox of any account, as the routes of `blueprints.notifications` show it.

    Use it as `frontdesk.inbox`. An item has two ids, as in the API: `mark` takes the
    `notification_id`, and all other methods take the `id` of the item.

    Example::

        @app.get("/inbox")
        @active_account_required
        def inbox():
            return render_template("inbox.html", items=frontdesk.inbox.page(current_account))
    """

    def page(
        self,
        account: Any,
        *,
        limit: int = 50,
        before: int | None = None,
        is_read: bool | None = None,
        workspace: str | None = None,
        kind: str | None = None,
    ) -> list[JsonObject]:
        """Return the newest items of the inbox.

        Args:
            account: The account.
            limit: Maximum number of items.
            before: Return only items older than this item. Pass the `id` of the last item to get
                the next page.
            is_read: Return only read or unread items.
            workspace: Return only items about the workspace with this slug, of which the account
                is an active member.
            kind: Return only items of this kind.

        Returns:
            The items of the API, without `links`.

        Example::

            older = frontdesk.inbox.page(account, before=items[-1]["id"])
        """
        return service(Inbox).page(
            account.id, limit=limit, before=before, is_read=is_read, workspace=workspace, kind=kind
        )

    def unread(self, account: Any) -> int:
        """Return the number of unread items.

        Args:
            account: The account.

        Returns:
            The number.

        Example::

            count = frontdesk.inbox.unread(account)
        """
        return service(Inbox).unread(account.id)

    def mark(self, account: Any, notification_id: int, is_read: bool) -> JsonObject:
        """Mark an item as read or unread.

        Args:
            account: The account.
            notification_id: The `notification_id` of the item.
            is_read: Whether the item is read.

        Returns:
            The changed item.

        Raises:
            Problem: With the code `notification_not_found`, if the inbox has no such item.

        Example::

            frontdesk.inbox.mark(account, item["notification_id"], True)
        """
        return service(Inbox).mark(account.id, notification_id, is_read)

    def mark_all(self, account: Any, is_read: bool) -> int:
        """Mark all items as read or unread.

        Args:
            account: The account.
            is_read: Whether the items are read.

        Returns:
            The number of changed items.

        Example::

            frontdesk.inbox.mark_all(account, True)
        """
        return service(Inbox).mark_all(account.id, is_read)

    def delete(self, account: Any, item_id: int) -> JsonObject:
        """Delete an item.

        Args:
            account: The account.
            item_id: The `id` of the item.

        Returns:
            The deleted item.

        Raises:
            Problem: With the code `notification_not_found`, if the inbox has no such item.

        Example::

            frontdesk.inbox.delete(account, item["id"])
        """
        return service(Inbox).delete(account.id, item_id)

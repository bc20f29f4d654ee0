"""The views of banners: for everyone who sees them, and for the admins who create them."""

from collections.abc import Sequence

from flask import Response, after_this_request

from ..auth.caller import caller, find_caller
from ..auth.decorators import (
    account_optional,
    account_required,
    active_account_required,
    roles_required,
)
from ..core.context import service
from ..core.errors import QuotaReached
from ..core.types import JsonObject
from ..core.web.fields import Message, Page
from ..core.web.operation import View, example, raises
from ..core.web.request_data import takes
from ..core.web.responses import answers, polled
from . import schemas
from .errors import BannerNotDismissible, BannerNotFound
from .models import Banner
from .schemas import BannerCreate, BannerRead, BannerUpdate, ManagedBannerRead
from .service import Banners


def admins_only(view: View) -> View:
    return active_account_required(roles_required("admin", "root")(view))


@account_optional
@example(answer=[schemas.SHOWN])
@polled
@answers(200, BannerRead, many=True, ready=True)
def list_banners() -> list[JsonObject]:
    """List the banners to show to the caller, critical ones first

    Visitors get the banners for everyone. Banners that the caller has dismissed are omitted. Send
    the `ETag` as `If-None-Match` to poll.
    """
    after_this_request(_vary_by_caller)
    found = find_caller(optional=True)
    return service(Banners).list_for(found.account if found else None)


def _vary_by_caller(response: Response) -> Response:
    response.vary.update(("Authorization", "Cookie"))
    return response


@account_required
@example(answer=schemas.DISMISSED)
@raises(BannerNotFound, BannerNotDismissible)
@answers(200, Message)
def dismiss_banner(banner_id: int) -> dict[str, str]:
    """Hide a banner from the caller from now on"""
    service(Banners).dismiss(caller().account, banner_id)
    return {"message": "Banner dismissed"}


@admins_only
@example(answer=[schemas.MANAGED])
@takes(query=Page)
@answers(200, ManagedBannerRead, paged=True)
def list_managed_banners(query: Page.Input) -> Sequence[Banner]:
    """List all banners, the newest first"""
    return service(Banners).page(**query)


@admins_only
@example(json=schemas.MAINTENANCE, answer=schemas.MANAGED)
@raises(QuotaReached)
@takes(json=BannerCreate)
@answers(201, ManagedBannerRead)
def create_banner(json: BannerCreate.Input) -> Banner:
    """Create a banner

    At most 20 banners can be in force at any time.
    """
    return service(Banners).create(json)


@admins_only
@example(answer=schemas.MANAGED)
@raises(BannerNotFound)
@answers(200, ManagedBannerRead)
def get_managed_banner(banner_id: int) -> Banner:
    """Get a banner"""
    return service(Banners).get(banner_id)


@admins_only
@example(json=schemas.LONGER, answer=schemas.LATER_END)
@raises(BannerNotFound, QuotaReached)
@takes(json=BannerUpdate)
@answers(200, ManagedBannerRead)
def update_banner(banner_id: int, json: BannerUpdate.Input) -> Banner:
    """Change a banner

    Accounts that have dismissed the banner do not see it again.
    """
    return service(Banners).change(banner_id, json)


@admins_only
@example(answer=schemas.MANAGED)
@raises(BannerNotFound)
@answers(200, ManagedBannerRead)
def delete_banner(banner_id: int) -> Banner:
    """End and delete a banner"""
    return service(Banners).delete(banner_id)

from ..core.errors import Conflict, NotFound


class BannerNotFound(NotFound):
    code = "banner_not_found"
    detail = "Banner not found"
    title = "The banner does not exist"
    cause = "No banner has this id, or the banner is not shown to the caller."
    fix = "List the banners, and use one of their ids."


class BannerNotDismissible(Conflict):
    code = "banner_not_dismissible"
    detail = "This banner cannot be dismissed"
    title = "The banner cannot be dismissed"
    cause = "The banner has `dismissible: false`: it is shown until it ends."
    fix = "Offer no button to dismiss a banner with `dismissible: false`."

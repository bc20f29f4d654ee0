"""The actions of banners, apart from the service, which loads the tables."""

from ..core.actions import Action

AREAS = {"Banners": ("banner",)}

_TEXT = {"text": "the text of the banner"}
BANNER_CREATED = Action("banner.created", "Banner created", _TEXT)
BANNER_CHANGED = Action(
    "banner.changed", "Banner changed", {**_TEXT, "changed": "the names of what changed"}
)
BANNER_DELETED = Action("banner.deleted", "Banner deleted", _TEXT)

"""The actions of this package, apart from the service, which loads the tables."""

from ..core.actions import Action

AREAS = {"Profiles": ("profile",)}

PROFILE_CREATED = Action("profile.created", "Profile created")
PROFILE_UPDATED = Action(
    "profile.updated",
    "Profile changed",
    {"changed": "the names of the properties; `extra` stands for all additional properties"},
)
PROFILE_DELETED = Action("profile.deleted", "Profile deleted")

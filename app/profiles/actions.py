"""What happens to profiles; apart from the service, which loads the tables of profiles."""

from __future__ import annotations

from ..core.actions import Action

PROFILE_CREATED = Action("profile.created", "Profile created")
PROFILE_UPDATED = Action(
    "profile.updated",
    "Profile changed",
    {"changed": "the names of the properties; `extra` stands for all of a client's own"},
)
PROFILE_DELETED = Action("profile.deleted", "Profile deleted")

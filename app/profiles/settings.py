from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from ..core.config.settings import Namespace


class ProfilesSettings(Namespace):
    VISIBILITY: Literal["everyone", "workspaces", "private"] = Field(
        default="everyone",
        description="Who reads a profile by its account's id, beside oneself, admins and root:"
        " every active account, those who share a workspace, or nobody.",
    )
    PUBLIC_FIELDS: list[str] | None = Field(
        default=None,
        description="What those others see of it, beside `id` and `account_id`; unset: all.",
    )
    AVATAR_STORAGE: Literal["local", "s3"] = Field(
        default="local",
        description="Where avatars are kept: in a folder, or in an S3-compatible bucket.",
    )
    AVATAR_FOLDER: str = Field(
        default="avatars", description="Folder for avatars; a relative one lies under `instance/`."
    )
    AVATAR_S3_BUCKET: str = Field(default="", description="Bucket for avatars.")
    AVATAR_S3_PREFIX: str = Field(default="avatars/", description="What their keys begin with.")
    AVATAR_S3_ENDPOINT_URL: str = Field(default="", description="Address of a server not Amazon's.")
    AVATAR_S3_REGION: str = Field(default="", description="Region of the bucket.")
    AVATAR_S3_ACCESS_KEY: SecretStr = Field(
        default=SecretStr(""), description="Access key; empty: boto3 looks in its usual places."
    )
    AVATAR_S3_SECRET_KEY: SecretStr = Field(
        default=SecretStr(""), description="Secret of that key."
    )

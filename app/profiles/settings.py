from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from ..core.config.settings import Namespace


class ProfilesSettings(Namespace):
    VISIBILITY: Literal["everyone", "workspaces", "private"] = Field(
        default="everyone",
        description="Who reads a profile by account id, next to its owner, admins and root: every"
        " active account, members of a common workspace, or nobody.",
    )
    PUBLIC_FIELDS: list[str] | None = Field(
        default=None,
        description="Properties that others see, next to `id` and `account_id`; unset: all.",
    )
    AVATAR_STORAGE: Literal["local", "s3"] = Field(
        default="local",
        description="Where avatars are stored: in a folder, or in an S3-compatible bucket.",
    )
    AVATAR_FOLDER: str = Field(
        default="avatars", description="Folder for avatars; a relative path is below `instance/`."
    )
    AVATAR_S3_BUCKET: str = Field(default="", description="Bucket for avatars.")
    AVATAR_S3_PREFIX: str = Field(default="avatars/", description="Prefix of the keys of avatars.")
    AVATAR_S3_ENDPOINT_URL: str = Field(
        default="", description="URL of an S3-compatible server; empty: Amazon S3."
    )
    AVATAR_S3_REGION: str = Field(default="", description="Region of the bucket.")
    AVATAR_S3_ACCESS_KEY: SecretStr = Field(
        default=SecretStr(""), description="Access key; empty: boto3's default credentials."
    )
    AVATAR_S3_SECRET_KEY: SecretStr = Field(
        default=SecretStr(""), description="Secret of the access key."
    )

from typing import Literal

from pydantic import Field, SecretStr

from ..core.config.settings import Namespace


class ProfilesSettings(Namespace):
    """Settings of profiles and avatars, the namespace PROFILES."""

    VISIBILITY: Literal["everyone", "workspaces", "private"] = Field(
        default="everyone",
        description="Who can read a profile by account ID in addition to its owner and"
        " administrators: every active account, members of a common workspace, or"
        " no other account.",
    )
    PUBLIC_FIELDS: list[str] | None = Field(
        default=None,
        description="Profile properties that other accounts can see, with `id` and"
        ' `account_id`. If unset, all. Example: `["first_name", "avatar"]`.',
    )
    FORM_REQUIRED: list[
        Literal[
            "first_name",
            "last_name",
            "date_of_birth",
            "gender",
            "marital_status",
            "phone",
            "address",
            "postal_code",
            "city",
            "state",
            "country",
            "bio",
        ]
    ] = Field(
        default=["first_name", "last_name"],
        description="Properties that the console's profile form requires. Others can be empty"
        " (`null`).",
    )
    AVATAR_STORAGE: Literal["local", "s3"] = Field(
        default="local",
        description="Where avatars are stored: in a local folder, or in an S3-compatible bucket.",
    )
    AVATAR_FOLDER: str = Field(
        default="avatars", description="Folder for avatars. A relative path is below `instance/`."
    )
    AVATAR_S3_BUCKET: str = Field(default="", description="Name of the bucket for avatars.")
    AVATAR_S3_PREFIX: str = Field(
        default="avatars/", description="Prefix of the keys of avatars in the bucket."
    )
    AVATAR_S3_ENDPOINT_URL: str = Field(
        default="",
        description="URL of an S3-compatible server. If empty, Amazon S3. Example:"
        " `https://minio.example.com`.",
    )
    AVATAR_S3_REGION: str = Field(
        default="", description="Region of the bucket. Example: `eu-central-1`."
    )
    AVATAR_S3_ACCESS_KEY: SecretStr = Field(
        default=SecretStr(""),
        description="Access key ID for the bucket. If empty, boto3's default credentials are used.",
    )
    AVATAR_S3_SECRET_KEY: SecretStr = Field(
        default=SecretStr(""), description="Secret access key for the bucket."
    )

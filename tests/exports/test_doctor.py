"""The doctor's check that data exports are not publicly readable."""

from __future__ import annotations

import json
import secrets
from typing import Any

import pytest

from app.storage.s3 import S3Bucket, _new_client

from ..conftest import MakeApp, only_on

PUBLIC_READ = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "*"}],
}


@pytest.fixture
def bucket(s3_endpoint: str) -> S3Bucket:
    name = f"exports-{secrets.token_hex(8)}"
    found = S3Bucket(name, s3_endpoint, "us-east-1", "access", "secret")
    _new_client(found).create_bucket(Bucket=name)
    return found


def find_errors(make_app: MakeApp, bucket: S3Bucket, exports: str = "on") -> list[Any]:
    settings = {
        "AVATAR_STORAGE": "s3",
        "AVATAR_S3_BUCKET": bucket.name,
        "AVATAR_S3_ENDPOINT_URL": bucket.endpoint_url or "",
        "AVATAR_S3_REGION": bucket.region or "",
        "AVATAR_S3_ACCESS_KEY": bucket.access_key or "",
        "AVATAR_S3_SECRET_KEY": bucket.secret_key or "",
    }
    profiles = {f"PROFILES__{name}": value for name, value in settings.items()}
    app = make_app(AUTH__ACCOUNT_EXPORTS=exports, **profiles)
    report = json.loads(app.test_cli_runner().invoke(args=["frontdesk", "doctor", "--json"]).stdout)
    return [each["message"] for each in report["findings"] if each["check"] == "export_store"]


@only_on("sqlite")
def test_private_bucket_is_no_finding(make_app: MakeApp, bucket: S3Bucket) -> None:
    assert find_errors(make_app, bucket) == []
    assert "Contents" not in _new_client(bucket).list_objects_v2(Bucket=bucket.name)


@only_on("sqlite")
def test_public_bucket_is_an_error(make_app: MakeApp, bucket: S3Bucket) -> None:
    policy = json.dumps(PUBLIC_READ)
    _new_client(bucket).put_bucket_policy(Bucket=bucket.name, Policy=policy)
    [message] = find_errors(make_app, bucket)
    assert "is public" in message
    assert find_errors(make_app, bucket, exports="off") == []


@only_on("sqlite")
def test_unreachable_bucket_is_an_error(make_app: MakeApp, bucket: S3Bucket) -> None:
    missing = S3Bucket("gone", bucket.endpoint_url, bucket.region, "access", "secret")
    [message] = find_errors(make_app, missing)
    assert "unavailable" in message

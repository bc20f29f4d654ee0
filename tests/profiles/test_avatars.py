"""Avatars: upload, download, replacement, and cleanup of files."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from flask import Flask
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from app.accounts.service import Accounts
from app.core.config.environment import SettingsError
from app.core.context import current_frontdesk, service
from app.profiles.avatars import Avatars
from app.profiles.models import Profile
from app.profiles.service import Profiles
from app.storage import FileStore, LocalFileStore, S3FileStore, StorageUnavailable
from app.testing.client import Answer, Api
from app.testing.clock import SteppingClock

from ..cli.test_command_line import run
from ..conftest import MakeApp, MakePerson, Person
from ..rigs.cases import for_each
from ..rigs.pictures import RED, animated, bomb_png, opened, photograph, plain, saved
from ..rigs.racing import run_concurrently
from .test_profiles import ADA

SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
FOREIGN = "https://example.com/ada.png"


def with_profile(person: Person) -> Api:
    api = person.api()
    api.post("/profiles", json=ADA)
    return api


@pytest.fixture
def api(ada: Person) -> Api:
    return with_profile(ada)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "avatars"


def stored(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def send(
    api: Api,
    data: bytes,
    status: int = 200,
    *,
    field: str = "avatar",
    name: str = "picture.png",
    kind: str = "image/png",
    **request: Any,
) -> Answer:
    form = {field: (BytesIO(data), name, kind)}
    return api.put("/profiles/avatar", status, data=form, **request)


def path_of(address: str) -> str:
    """Return the path of a URL of this service."""
    assert address.startswith("http://localhost/api/v1/"), address
    return address.removeprefix("http://localhost/api/v1")


def test_avatar_is_served_at_the_url_in_the_profile(api: Api) -> None:
    profile = send(api, plain("PNG")).json
    assert profile["avatar"] == api.get("/profiles").json["avatar"]
    picture = Api(api.app).get(path_of(profile["avatar"])).response
    assert picture.mimetype == "image/jpeg"
    assert opened(picture.data).size == (48, 48)


def test_transparent_picture_is_served_as_png(api: Api) -> None:
    from PIL import Image

    profile = send(api, saved(Image.new("RGBA", (20, 20), (*RED, 90)), "PNG")).json
    picture = Api(api.app).get(path_of(profile["avatar"])).response
    assert picture.mimetype == "image/png"


def test_picture_is_cached_forever_and_never_sniffed(api: Api) -> None:
    path = path_of(send(api, plain("PNG")).json["avatar"])
    headers = Api(api.app).get(path).headers
    assert headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert headers.getlist("X-Content-Type-Options") == ["nosniff"]
    assert headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert "Set-Cookie" not in headers
    again = {"If-None-Match": headers["ETag"]}
    assert Api(api.app).get(path, 304, headers=again).response.data == b""
    assert Api(api.app).send("HEAD", path, 200).response.data == b""


def test_download_has_the_generated_name(api: Api) -> None:
    path = path_of(send(api, plain("PNG"), name='../evil";.exe').json["avatar"])
    headers = Api(api.app).get(path).headers
    name = path.rpartition("/")[2]
    assert re.fullmatch(r"[0-9A-Za-z_-]+\.(png|jpe?g)", name)
    assert headers["Content-Disposition"] == f'inline; filename="{name}"'


def test_file_names_are_random(api: Api) -> None:
    names = {send(api, plain("PNG"), name="ada.png").json["avatar"] for _ in range(3)}
    assert len(names) == 3
    assert all(re.search(r"/avatars/[0-9a-f]{32}\.jpg$", name) for name in names)


@for_each("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_format_is_detected_from_the_content(api: Api, kind: str) -> None:
    send(api, plain(kind), name="evil.html", kind="text/html")
    send(api, animated("GIF"), name="../../evil\0.svg", kind="image/svg+xml")
    send(api, photograph(6), name="x" * 300, kind="unknown")


@for_each("data", [b"", SVG, b"GIF89a<script>", plain("PNG")[:60], plain("BMP"), b"\0" * 1000])
def test_invalid_picture_is_rejected(api: Api, folder: Path, data: bytes) -> None:
    response = send(api, data, 422)
    assert response.faults == ["files:avatar"]
    assert api.get("/profiles").json["avatar"] is None
    assert stored(folder) == []


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_decompression_bomb_is_rejected(api: Api, folder: Path) -> None:
    assert send(api, bomb_png(), 422).faults == ["files:avatar"]
    assert stored(folder) == []


def test_hidden_data_is_removed(api: Api) -> None:
    for data in (photograph(6), plain("GIF") + b"<script>Secret</script>"):
        path = path_of(send(api, data).json["avatar"])
        assert b"Secret" not in Api(api.app).get(path).response.data


def test_too_large_file_is_rejected(api: Api, folder: Path) -> None:
    whole = plain("JPEG")
    send(api, whole.ljust(5 * 1024 * 1024, b"\0"))
    stored_avatar = stored(folder)
    for size in (5 * 1024 * 1024 + 1, 6 * 1024 * 1024, 12 * 1024 * 1024):
        response = send(api, whole.ljust(size, b"\0"), 413)
        assert response.json["code"] == "too_large"
    assert stored(folder) == stored_avatar


def test_exactly_one_file_in_the_right_field_is_required(api: Api, folder: Path) -> None:
    assert send(api, plain("PNG"), 422, field="picture").faults == ["files:avatar"]
    assert api.put("/profiles/avatar", 422, data={"avatar": "text"}, **_form()).faults == [
        "files:avatar"
    ]
    twice = {"avatar": [(BytesIO(plain("PNG")), "a.png"), (BytesIO(plain("PNG")), "b.png")]}
    assert api.put("/profiles/avatar", 422, data=twice).faults == ["files:avatar"]
    assert stored(folder) == []


def _form() -> dict[str, str]:
    return {"content_type": "multipart/form-data"}


@for_each(
    ("content_type", "status"),
    [
        ("application/json", 415),
        ("image/png", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data", 422),
        ("multipart/form-data; boundary=x", 422),
    ],
)
def test_other_content_type_is_rejected(api: Api, content_type: str, status: int) -> None:
    api.put("/profiles/avatar", status, data=plain("PNG"), content_type=content_type)


def test_upload_needs_a_profile(ada: Person, folder: Path) -> None:
    assert send(ada.api(), plain("PNG"), 404).detail == "Profile not found"
    assert stored(folder) == []


def test_missing_pillow_is_reported_and_logged(
    api: Api, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    picture = plain("PNG")
    monkeypatch.setitem(sys.modules, "PIL", None)
    response = send(api, picture, 501)
    assert response.json["code"] == "avatars_unsupported"
    assert "pip install 'flask-frontdesk[avatars]'" in caplog.text
    assert api.put("/profiles", json={"avatar": FOREIGN}).json["avatar"] == FOREIGN
    assert stored(folder) == []


def test_url_is_the_same_within_a_workspace(api: Api) -> None:
    address = send(api, plain("PNG")).json["avatar"]
    assert api.get("/ada/profiles").json["avatar"] == address
    form = {"avatar": (BytesIO(plain("PNG")), "a.png")}
    scoped = api.put("/ada/profiles/avatar", data=form).json["avatar"]
    assert path_of(scoped).startswith("/profiles/avatars/")


# Replacement and cleanup of files.


def test_previous_file_is_deleted(api: Api, folder: Path) -> None:
    first = send(api, plain("PNG")).json["avatar"]
    second = send(api, plain("PNG")).json["avatar"]
    assert stored(folder) == [second.rpartition("/")[2]]
    assert Api(api.app).get(path_of(first), 404).detail == "Picture not found"


def test_unchanged_avatar_in_an_update_keeps_the_file(api: Api, folder: Path) -> None:
    profile = send(api, plain("PNG")).json
    again = api.put("/profiles", json={**profile, "city": "London"}).json
    assert (again["avatar"], again["city"]) == (profile["avatar"], "London")
    relative = "/api/v1" + path_of(profile["avatar"])
    assert api.put("/profiles", json={"avatar": relative}).json["avatar"] == profile["avatar"]
    assert len(stored(folder)) == 1


@pytest.mark.parametrize("address", [FOREIGN, None])
def test_other_url_replaces_the_file(api: Api, folder: Path, address: str | None) -> None:
    send(api, plain("PNG"))
    assert api.put("/profiles", json={"avatar": address}).json["avatar"] == address
    assert stored(folder) == []


def test_file_replaces_a_url(api: Api) -> None:
    api.put("/profiles", json={"avatar": FOREIGN})
    assert send(api, plain("PNG")).json["avatar"] != FOREIGN


def test_file_of_another_account_cannot_be_taken_over(
    api: Api, person: MakePerson, folder: Path
) -> None:
    address = send(api, plain("PNG")).json["avatar"]
    bobs = with_profile(person("bob"))
    bobs.put("/profiles", 422, json={"avatar": "/api/v1" + path_of(address)})
    bobs.put("/profiles", json={"avatar": address})
    bobs.put("/profiles", json={"avatar": None})
    assert stored(folder) == [address.rpartition("/")[2]]


def test_deleting_the_profile_deletes_the_file(api: Api, folder: Path) -> None:
    address = send(api, plain("PNG")).json["avatar"]
    assert api.delete("/profiles").json["avatar"] == address
    assert stored(folder) == []


def test_deleting_the_account_deletes_the_file(app: Flask, ada: Person, folder: Path) -> None:
    send(with_profile(ada), plain("PNG"))
    with app.app_context():
        service(Accounts).delete(service(Accounts).get(ada.email))
    assert stored(folder) == []


def fail_commit(app: Flask) -> None:
    """Simulate a lost database connection when a changed profile is committed."""
    with app.app_context():
        sessions: Any = current_frontdesk.session

    @event.listens_for(sessions.session_factory, "before_commit")
    def fail(session: Session) -> None:
        if any(isinstance(changed, Profile) for changed in session.dirty):
            raise OperationalError("COMMIT", {}, Exception("gone"))


def test_failed_transaction_leaves_no_orphaned_file(api: Api, folder: Path) -> None:
    stored_avatar = send(api, plain("PNG")).json["avatar"]
    fail_commit(api.app)
    send(api, plain("PNG"), 503)
    assert api.get("/profiles").json["avatar"] == stored_avatar
    assert stored(folder) == [stored_avatar.rpartition("/")[2]]


def test_failed_transaction_keeps_the_previous_file(api: Api, folder: Path) -> None:
    stored_avatar = send(api, plain("PNG")).json["avatar"]
    with mock.patch.object(Profiles, "set_avatar_file", side_effect=RuntimeError):
        send(api, plain("PNG"), 500)
    assert Api(api.app).get(path_of(stored_avatar)).response.mimetype == "image/jpeg"
    assert len(stored(folder)) == 1


def test_concurrent_uploads_leave_one_file(api: Api, folder: Path) -> None:
    def put() -> int:
        client = api.app.test_client()
        form = {"avatar": (BytesIO(plain("PNG")), "a.png")}
        headers = {"Authorization": f"Bearer {api.token}"}
        return client.put("/api/v1/profiles/avatar", data=form, headers=headers).status_code

    assert run_concurrently(*[put] * 4) == [200] * 4
    assert stored(folder) == [api.get("/profiles").json["avatar"].rpartition("/")[2]]


class BrokenStore:
    """A file store that is unavailable."""

    def put(self, name: str, data: bytes, content_type: str) -> None:
        raise StorageUnavailable("down")

    def read(self, name: str) -> bytes:
        raise StorageUnavailable("down")

    def delete(self, name: str) -> None:
        raise StorageUnavailable("down")

    def files(self) -> Iterator[Any]:
        raise StorageUnavailable("down")


def use(app: Flask, store: FileStore) -> None:
    with app.app_context():
        service(Avatars).files = service(Profiles).files = store


def test_unavailable_store_is_a_503(app: Flask, api: Api) -> None:
    stored_avatar = send(api, plain("PNG")).json["avatar"]
    use(app, BrokenStore())
    response = send(api, plain("PNG"), 503)
    assert response.detail == "The file storage is unavailable"
    assert response.headers["Retry-After"]
    assert Api(app).get(path_of(stored_avatar), 503).headers["Cache-Control"] == "no-store"
    assert api.get("/profiles").json["avatar"] == stored_avatar


def test_unavailable_store_does_not_block_deleting_a_profile(app: Flask, api: Api) -> None:
    send(api, plain("PNG"))
    use(app, BrokenStore())
    api.delete("/profiles")
    api.get("/profiles", 404)


def test_clean_deletes_orphaned_files(
    app: Flask, api: Api, folder: Path, clock: SteppingClock
) -> None:
    shown = send(api, plain("PNG")).json["avatar"].rpartition("/")[2]
    for name in ("0" * 32 + ".jpg", "0" * 32 + ".jpg.0123.part"):
        (folder / name).write_bytes(b"orphan")
    assert run(app, "profiles", "clean") == '{"deleted":0}\n'
    assert len(stored(folder)) == 3
    clock.step(hours=2)
    assert run(app, "profiles", "clean") == '{"deleted":2}\n'
    assert stored(folder) == [shown]


@for_each(
    "name",
    [
        "0" * 32 + ".jpg",
        "0" * 32 + ".gif",
        "0" * 31 + ".jpg",
        "A" * 32 + ".jpg",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e",
        ".jpg",
        "x" * 300,
        "0" * 32 + ".jpg%00",
        "0" * 32 + ".jpg%0a",
    ],
)
def test_missing_picture_is_not_found(app: Flask, name: str) -> None:
    Api(app).get(f"/profiles/avatars/{name}", 404)


# The URL.


def avatar_of(api: Api, **headers: str) -> str:
    return str(api.get("/profiles", headers=headers).json["avatar"])


@for_each(
    "host", ["evil.example", "localhost.evil.example", "localhost:80@evil", "[::1", "localhost:x"]
)
def test_untrusted_host_header_is_not_used(api: Api, host: str) -> None:
    send(api, plain("PNG"))
    address = avatar_of(api, Host=host)
    assert address.startswith("/api/v1/profiles/avatars/")
    forwarded = avatar_of(api, **{"X-Forwarded-Host": host, "Forwarded": f"host={host}"})
    assert path_of(forwarded)


@for_each("host", ["localhost:5000", "127.0.0.1:8000", "[::1]:80"])
def test_local_host_header_is_used(api: Api, host: str) -> None:
    send(api, plain("PNG"))
    assert avatar_of(api, Host=host).startswith(f"http://{host}/api/v1/profiles/avatars/")


def test_host_header_is_not_used_where_the_client_has_another_host(
    make_app: MakeApp, person: MakePerson
) -> None:
    app = make_app(CORE__CLIENT_HOST="https://app.example.com")
    api = with_profile(person(into=app))
    assert send(api, plain("PNG")).json["avatar"].startswith("/api/v1/profiles/avatars/")


@pytest.mark.parametrize("ending", ["", "/"])
def test_url_starts_with_the_public_url(make_app: MakeApp, person: MakePerson, ending: str) -> None:
    app = make_app(CORE__PUBLIC_URL=f"https://api.example.com{ending}")
    api = with_profile(person(into=app))
    address = send(api, plain("PNG")).json["avatar"]
    assert address.startswith("https://api.example.com/api/v1/profiles/avatars/")
    assert avatar_of(api, Host="evil.example") == address
    assert api.put("/profiles", json={"avatar": address}).json["avatar"] == address


# The file store.


def test_bucket_stores_avatars_if_configured(
    make_app: MakeApp, person: MakePerson, s3_endpoint: str, folder: Path
) -> None:
    from app.storage.s3 import S3Bucket, _new_client

    settings = {
        "AVATAR_STORAGE": "s3",
        "AVATAR_S3_BUCKET": "faces",
        "AVATAR_S3_ENDPOINT_URL": s3_endpoint,
        "AVATAR_S3_REGION": "us-east-1",
        "AVATAR_S3_ACCESS_KEY": "access",
        "AVATAR_S3_SECRET_KEY": "secret",
    }
    client = _new_client(S3Bucket("faces", s3_endpoint, "us-east-1", "access", "secret"))
    client.create_bucket(Bucket="faces")
    app = make_app(**{f"PROFILES__{name}": value for name, value in settings.items()})
    api = with_profile(person(into=app))
    path = path_of(send(api, plain("PNG")).json["avatar"])
    assert Api(app).get(path).response.mimetype == "image/jpeg"
    [item] = client.list_objects_v2(Bucket="faces")["Contents"]
    assert item["Key"] == "avatars/" + path.rpartition("/")[2]
    api.delete("/profiles")
    assert client.list_objects_v2(Bucket="faces")["KeyCount"] == 0
    client.delete_bucket(Bucket="faces")
    assert stored(folder) == []


def test_bucket_name_is_required(make_app: MakeApp) -> None:
    with pytest.raises(SettingsError, match="AVATAR_S3_BUCKET"):
        make_app(PROFILES__AVATAR_STORAGE="s3")


def test_default_folder_is_in_the_instance_folder(make_app: MakeApp) -> None:
    app = make_app(PROFILES__AVATAR_FOLDER="avatars")
    with app.app_context():
        store = service(Avatars).files
    assert isinstance(store, LocalFileStore)
    assert not isinstance(store, S3FileStore)
    assert store.folder == Path(app.instance_path) / "avatars"

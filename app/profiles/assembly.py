from functools import partial
from pathlib import Path

from sqlalchemy.orm import InstrumentedAttribute

from ..accounts.actions import DELETED
from ..accounts.models import AccountLike, Viewer
from ..accounts.search import NameSource
from ..core.config.environment import SettingsError
from ..core.config.settings import reveal
from ..core.context import Context, DoctorChecks, Pruner, current_frontdesk, service
from ..core.data_export import DataExporter
from ..core.db.search_indexes import SearchedNames
from ..core.extras import missing_extra
from ..core.types import SignalOptions
from ..storage.files import LargeFileStore
from ..storage.local import LocalFileStore
from ..storage.s3 import S3Bucket, S3FileStore
from ..workspaces.service import LogoDeleter, Workspaces
from .avatars import Avatars
from .logos import WorkspaceLogos, export_logos
from .models import Profile
from .service import Profiles, Visibility, export_profile
from .settings import ProfilesSettings

_NAMES: tuple[InstrumentedAttribute[str | None], ...] = (Profile.first_name, Profile.last_name)


def assemble(context: Context) -> None:
    settings = context.settings.of(ProfilesSettings)
    files = context.parts["file_store"] or open_file_store(
        settings, Path(context.app.instance_path)
    )
    public = settings.PUBLIC_FIELDS
    visibility = Visibility(settings.VISIBILITY, None if public is None else frozenset(public))
    profiles = Profiles(context.session, files, context.clock, visibility)
    avatars = Avatars(context.session, profiles, files, context.clock)
    context.add(profiles)
    context.add(avatars)
    context.provide(WorkspaceLogos, lambda known: WorkspaceLogos(known.get(Workspaces), avatars))
    context.contribute(
        DataExporter(partial(export_profile, files)),
        DoctorChecks(f"{__package__}.doctor"),
        LogoDeleter(files.delete),
        DataExporter(partial(export_logos, files)),
        NameSource(partial(searched_names, context, visibility)),
        NameSource(partial(own_hidden_names, context, visibility)),
        Pruner("avatars", avatars.clean),
    )
    context.actions.on(DELETED.name, delete_picture)


def searched_names(
    context: Context, visibility: Visibility, viewer: Viewer | None
) -> SearchedNames | None:
    """Return the names of others that the viewer may see, for the search; None without such
    names, or if the table of profiles may be missing."""
    if not _has_table(context):
        return None
    if viewer is None:
        return SearchedNames(Profile.account_id, _NAMES)
    visible = visibility.visible_names(viewer)
    names = tuple(name for name in _NAMES if visible is None or name.key in visible)
    return SearchedNames(Profile.account_id, names, visibility.condition(viewer)) if names else None


def own_hidden_names(
    context: Context, visibility: Visibility, viewer: Viewer | None
) -> SearchedNames | None:
    """Return the viewer's own names if the settings hide a name from other accounts, so that users
    find themselves."""
    visible = None if viewer is None else visibility.visible_names(viewer)
    if viewer is None or visible is None or visible.issuperset(name.key for name in _NAMES):
        return None
    if not _has_table(context):
        return None
    return SearchedNames(Profile.account_id, _NAMES, Profile.account_id == viewer.id)


def _has_table(context: Context) -> bool:
    return not context.mounted.names.isdisjoint(("profiles", "console"))


def delete_picture(account: AccountLike, options: SignalOptions) -> None:
    """Delete the avatar of a deleted account. The table of profiles exists only if the blueprint is
    mounted."""
    if "profiles" in current_frontdesk.mounted.names:
        service(Profiles).delete_avatar_file(account.id)


def open_file_store(
    settings: ProfilesSettings, instance_folder: Path, folder: str | None = None
) -> LargeFileStore:
    """Return the file store of the avatars, or the same kind of store with another folder. A
    relative folder is below `instance/`."""
    if settings.AVATAR_STORAGE == "local":
        return LocalFileStore(instance_folder / (folder or settings.AVATAR_FOLDER))
    if not settings.AVATAR_S3_BUCKET:
        raise SettingsError("Invalid settings: PROFILES__AVATAR_S3_BUCKET: must be set with s3")
    if line := missing_extra("s3"):
        raise SettingsError(f"PROFILES__AVATAR_STORAGE is s3 and needs an extra: {line}")
    return S3FileStore(
        S3Bucket(
            settings.AVATAR_S3_BUCKET,
            settings.AVATAR_S3_ENDPOINT_URL or None,
            settings.AVATAR_S3_REGION or None,
            reveal(settings.AVATAR_S3_ACCESS_KEY) or None,
            reveal(settings.AVATAR_S3_SECRET_KEY) or None,
            f"{folder}/" if folder else settings.AVATAR_S3_PREFIX,
        )
    )

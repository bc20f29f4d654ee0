"""Avatars: decoded and stored for a profile, read by everyone. Logos of workspaces are stored with
them."""

import logging
import secrets
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from threading import BoundedSemaphore
from typing import IO

from sqlalchemy import select

from ..core.clock import Clock
from ..core.db.transaction import AnySession, release, transaction
from ..core.types import AccountKey, Values
from ..storage import FileMissing, FileStore
from ..workspaces.models import Workspace
from .decoding import check_decoder, decode
from .errors import PictureNotFound, TooManyPictures
from .links import PICTURE_NAME
from .models import Profile
from .picture import Picture
from .service import Profiles

log = logging.getLogger(__name__)

# Pictures that are decoded at the same time; each takes up to 180 MiB.
MAX_DECODINGS = 1
WAIT_SECONDS = 4.0
# Younger files may belong to a running upload.
ORPHAN_AGE = timedelta(hours=1)


@dataclass(eq=False)
class Avatars:
    session: AnySession
    profiles: Profiles
    files: FileStore
    clock: Clock
    _decodings: BoundedSemaphore = field(
        default_factory=lambda: BoundedSemaphore(MAX_DECODINGS), init=False
    )

    def set(self, account_id: AccountKey, sent: IO[bytes], blank: Values | None = None) -> Profile:
        """Set the avatar of an account's profile, which is created from `blank` if it is missing.

        The file is stored under a new name before the transaction, which must not wait for a slow
        store. If the transaction fails, the file is deleted.
        """
        check_decoder()
        if blank is None:
            self.profiles.get(account_id)
        release(self.session)
        picture = self.decode(sent)
        with self.stored(picture) as name, transaction(self.session):
            return self.profiles.set_avatar_file(account_id, name, blank)

    def read(self, name: str) -> Picture:
        if not PICTURE_NAME.fullmatch(name):
            raise PictureNotFound
        try:
            data = self.files.read(name)
        except FileMissing:
            raise PictureNotFound from None
        return Picture(data, name.rpartition(".")[2])

    def clean(self) -> int:
        """Delete the files that no profile or workspace has, which a killed process can leave, and
        return their number."""
        oldest = self.clock.now() - ORPHAN_AGE
        old = (file.name for file in self.files.files() if file.stored_at < oldest)
        deleted = 0
        while names := list(islice(old, 500)):
            for name in self._without_owner(names):
                self.files.delete(name)
                deleted += 1
        return deleted

    def _without_owner(self, names: Sequence[str]) -> AbstractSet[str]:
        columns = (Profile.avatar_file, Workspace.logo_file)
        found = (self.session.scalars(select(each).where(each.in_(names))) for each in columns)
        return frozenset(names).difference(*found)

    def decode(self, sent: IO[bytes]) -> Picture:
        if not self._decodings.acquire(timeout=WAIT_SECONDS):
            raise TooManyPictures
        try:
            return decode(sent)
        finally:
            self._decodings.release()

    @contextmanager
    def stored(self, picture: Picture) -> Iterator[str]:
        """Store a picture under a new name, and delete it if the block raises."""
        name = f"{secrets.token_hex(16)}.{picture.extension}"
        self.files.put(name, picture.data, picture.content_type)
        try:
            yield name
        except BaseException:
            self._delete_unused(name)
            raise

    def _delete_unused(self, name: str) -> None:
        try:
            self.files.delete(name)
        except Exception:
            log.warning("The unused picture %s could not be deleted; `prune` will delete it", name)

"""Pictures on their way from a client to the store, and from the store to everybody."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import islice
from threading import BoundedSemaphore

from sqlalchemy import select

from ..core.clock import Clock
from ..core.transaction import AnySession, release, transaction
from ..storage import FileMissing, FileStore
from .errors import PictureNotFound, TooManyPictures
from .links import PICTURE_NAME
from .models import Profile
from .picture import Picture, avatar_picture
from .service import Profiles

log = logging.getLogger(__name__)

# A picture of 40 megapixels takes half a gigabyte while it is decoded: one at a time.
AT_ONCE = 1
WAIT_SECONDS = 4.0
# A file this old that no profile shows is not about to be shown.
ORPHAN_AGE = timedelta(hours=1)
CONTENT_TYPES = {"jpg": "image/jpeg", "png": "image/png"}


class Avatars:
    def __init__(
        self, session: AnySession, profiles: Profiles, files: FileStore, clock: Clock
    ) -> None:
        self.session = session
        self.profiles = profiles
        self.files = files
        self.clock = clock
        self._decoding = BoundedSemaphore(AT_ONCE)

    def set(self, account_id: int, sent: bytes) -> Profile:
        """Give an account's profile a picture.

        The file is stored under a new name before the transaction, which must not wait for a slow
        store, and is taken back when that fails.
        """
        self.profiles.get(account_id)
        release(self.session)
        picture = self._decode(sent)
        with self._stored(picture) as name, transaction(self.session):
            return self.profiles.show_picture(account_id, name)

    def read(self, name: str) -> Picture:
        if not PICTURE_NAME.fullmatch(name):
            raise PictureNotFound
        try:
            data = self.files.read(name)
        except FileMissing:
            raise PictureNotFound from None
        extension = name.rpartition(".")[2]
        return Picture(data, CONTENT_TYPES[extension], extension)

    def clean(self) -> int:
        """Delete the files that no profile shows; a process that died may have left some."""
        oldest = self.clock.now() - ORPHAN_AGE
        old = (file.name for file in self.files.files() if file.stored_at < oldest)
        deleted = 0
        while names := list(islice(old, 500)):
            shown = set(
                self.session.scalars(
                    select(Profile.avatar_file).where(Profile.avatar_file.in_(names))
                )
            )
            for name in set(names) - shown:
                self.files.delete(name)
                deleted += 1
        return deleted

    def _decode(self, sent: bytes) -> Picture:
        if not self._decoding.acquire(timeout=WAIT_SECONDS):
            raise TooManyPictures
        try:
            return avatar_picture(sent)
        finally:
            self._decoding.release()

    @contextmanager
    def _stored(self, picture: Picture) -> Iterator[str]:
        name = f"{secrets.token_hex(16)}.{picture.extension}"
        self.files.put(name, picture.data, picture.content_type)
        try:
            yield name
        except BaseException:
            self._take_back(name)
            raise

    def _take_back(self, name: str) -> None:
        try:
            self.files.delete(name)
        except Exception:
            log.warning("The picture %s was not taken back; cleaning will find it", name)

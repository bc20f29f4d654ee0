"""Pictures on their way from a client to the store, and from the store to everybody."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
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
from .decoding import check_decoder, decode
from .errors import PictureNotFound, TooManyPictures
from .links import PICTURE_NAME
from .models import Profile
from .picture import Picture
from .service import Profiles

log = logging.getLogger(__name__)

# Each takes up to 180 MiB while it is decoded.
AT_ONCE = 1
WAIT_SECONDS = 4.0
# A file this old that no profile shows is not about to be shown.
ORPHAN_AGE = timedelta(hours=1)


@dataclass(eq=False)
class Avatars:
    session: AnySession
    profiles: Profiles
    files: FileStore
    clock: Clock
    _turns: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(AT_ONCE), init=False)

    def set(self, account_id: AccountKey, sent: IO[bytes], blank: Values | None = None) -> Profile:
        """Give an account's profile a picture; where it has none yet, `blank` makes one.

        The file is stored under a new name before the transaction, which must not wait for a slow
        store, and is taken back when that fails.
        """
        check_decoder()
        if blank is None:
            self.profiles.get(account_id)
        release(self.session)
        picture = self._decode(sent)
        with self._stored(picture) as name, transaction(self.session):
            return self.profiles.show_picture(account_id, name, blank)

    def read(self, name: str) -> Picture:
        if not PICTURE_NAME.fullmatch(name):
            raise PictureNotFound
        try:
            data = self.files.read(name)
        except FileMissing:
            raise PictureNotFound from None
        return Picture(data, name.rpartition(".")[2])

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

    def _decode(self, sent: IO[bytes]) -> Picture:
        if not self._turns.acquire(timeout=WAIT_SECONDS):
            raise TooManyPictures
        try:
            return decode(sent)
        finally:
            self._turns.release()

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

"""Changes of the file with the signing keys, for `flask auth keys …`."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp

from ...core.config.environment import SettingsError
from ...core.process.folders import make_private_folder
from ...core.types import JsonObject
from .signing_keys import SigningKeys, generate_key, read_keys


class KeyFile:
    """Changes one key: the others keep all their members, also unknown ones. The file is replaced
    as a whole, so that no worker reads half of it."""

    def __init__(self, keys: SigningKeys) -> None:
        if keys.path is None:
            raise SettingsError(
                "AUTH.SIGNING_KEYS has the keys themselves: write them to a file, and set its path."
            )
        self._keys = keys
        # A symbolic link stays, and its target is replaced.
        self.path = keys.path.resolve()

    def add(self, algorithm: str, *, first: bool) -> str:
        """Add a new key as the first or the last one, and return its name."""
        with self._change() as keys:
            key = generate_key(algorithm)
            keys.insert(0 if first else len(keys), key)
        return str(key["kid"])

    def put_first(self, kid: str) -> None:
        with self._change() as keys:
            keys.insert(0, keys.pop(self._index(kid)))

    def remove(self, kid: str) -> None:
        with self._change() as keys:
            index = self._index(kid)
            if index == 0:
                raise SettingsError(
                    f"The key {kid} signs: put another key first with `flask auth keys first`."
                )
            del keys[index]

    def _index(self, kid: str) -> int:
        kids = [key.kid for key in self._keys.read()]
        if kid not in kids:
            raise SettingsError(f"{self.path} has no key {kid}: `flask auth keys list` lists them.")
        return kids.index(kid)

    @contextmanager
    def _change(self) -> Iterator[list[JsonObject]]:
        """Yield the keys, and write them afterwards. Two commands at once wait for each other."""
        try:
            make_private_folder(self.path.parent)
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                # The file itself cannot be locked, because it is replaced.
                fcntl.flock(folder, fcntl.LOCK_EX)
                document: JsonObject = {"keys": []}
                if self.path.exists():
                    self._keys.read()
                    document = json.loads(self.path.read_text("utf-8"))
                yield document["keys"]
                self._write(json.dumps(document, indent=2))
            finally:
                os.close(folder)
        except OSError as error:
            raise SettingsError(f"{self.path} cannot be changed: {error.strerror}.") from None

    def _write(self, text: str) -> None:
        read_keys(text)
        # The file stays the service's, also if the administrator of the machine changes it.
        is_new = not self.path.exists()
        owner = (self.path.parent if is_new else self.path).stat().st_uid
        # The temporary file has mode 0600.
        number, name = mkstemp(dir=self.path.parent)
        try:
            with os.fdopen(number, "w") as file:
                file.write(f"{text}\n")
                file.flush()
                os.fsync(number)
            if not is_new or os.geteuid() == 0:
                os.chown(name, owner, -1)
            Path(name).replace(self.path)
        finally:
            Path(name).unlink(missing_ok=True)

"""OpenDKIM: signs the emails of a relay, and verifies signatures without a name server."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .backends import missing, reserved_port, wait_for_port

DOMAIN, SELECTOR = "example.com", "mail"
# As the documentation says: the list of OpenDKIM has the first header only.
SIGNED_HEADERS = "*,+List-Unsubscribe-Post"

_SIGN = """\
Syslog no
UserID root
Mode s
Socket inet:{port}@127.0.0.1
InternalHosts 127.0.0.1
Domain {domain}
Selector {selector}
KeyFile {folder}/{selector}.private
RequireSafeKeys no
SignHeaders {headers}
"""
# Emails of this machine would not be verified.
_VERIFY = """\
Syslog no
UserID root
Mode v
Socket inet:{port}@127.0.0.1
InternalHosts 192.0.2.1
TestPublicKeys {folder}/keys
"""


@dataclass
class OpenDkim:
    port: int
    folder: Path

    def verify(self, message: bytes) -> bool:
        """Return whether the signature of a message is valid."""
        file = self.folder / "message.eml"
        file.write_bytes(message)
        config = str(self.folder / "verify.conf")
        command = ["/usr/sbin/opendkim", "-x", config, "-v", "-t", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
        return "key) succeeded" in done.stdout + done.stderr


@contextmanager
def opendkim(folder: Path, headers: str = SIGNED_HEADERS) -> Iterator[OpenDkim]:
    for program in ("opendkim", "opendkim-genkey"):
        if shutil.which(program, path="/usr/bin:/usr/sbin") is None:
            missing(f"{program} is not installed")
    made = OpenDkim(reserved_port(), folder)
    options = ["-b", "2048", "-d", DOMAIN, "-s", SELECTOR, "-D", str(folder)]
    subprocess.run(["opendkim-genkey", *options], check=True, timeout=60)
    parts = re.findall(r'"([^"]*)"', (folder / f"{SELECTOR}.txt").read_text())
    (folder / "keys").write_text(f"{SELECTOR}._domainkey.{DOMAIN} {''.join(parts)}\n")
    names = {"folder": folder, "domain": DOMAIN, "selector": SELECTOR, "port": made.port}
    (folder / "sign.conf").write_text(_SIGN.format(**names, headers=headers))
    (folder / "verify.conf").write_text(_VERIFY.format(**names))
    process = subprocess.Popen(["/usr/sbin/opendkim", "-f", "-x", str(folder / "sign.conf")])
    try:
        wait_for_port(made.port)
        yield made
    finally:
        process.terminate()
        process.wait(10)

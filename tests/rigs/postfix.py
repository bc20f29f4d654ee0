"""A Postfix server, configured as a typical relay: it requires a full host name and authentication,
and forwards each email it accepts."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from .backends import missing, reserved_port, wait_for_port
from .certificates import Authority
from .smtp import Sink, smtp_sink

PROGRAMS = Path("/usr/lib/postfix/sbin")
NAME = "mail.relay.example"
USER, PASSWORD = "desk", "the right password"

_MAIN = """\
compatibility_level = 3.6
queue_directory = {folder}/queue
data_directory = {folder}/data
command_directory = /usr/sbin
daemon_directory = {programs}
maillog_file = {folder}/log
maillog_file_prefixes = {folder}
mail_owner = postfix
setgid_group = postdrop
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = {name}
# Clients on this machine are not trusted either.
mynetworks = 192.0.2.0/24
mydestination =
alias_maps =
relay_domains = example.com
relay_recipient_maps = inline:{{ {{ada@example.com = ok}} {{bob@example.com = ok}} }}
relay_transport = relay:[127.0.0.1]:{sink}
default_transport = relay:[127.0.0.1]:{sink}
smtp_host_lookup = native
smtpd_helo_required = yes
smtpd_helo_restrictions = reject_non_fqdn_helo_hostname
smtpd_sender_restrictions = reject_non_fqdn_sender
smtpd_relay_restrictions = permit_sasl_authenticated, reject_unauth_destination
smtpd_sasl_auth_enable = yes
smtpd_sasl_local_domain = {name}
smtpd_tls_auth_only = yes
smtpd_tls_security_level = may
smtpd_tls_chain_files = {folder}/server.pem
# A queue of three mails is not worth a wait.
in_flow_delay = 0
"""

_MASTER = """\
{port} inet n - n - - smtpd
{tls_port} inet n - n - - smtpd -o smtpd_tls_wrappermode=yes
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
"""

_SASL = """\
pwcheck_method: auxprop
auxprop_plugin: sasldb
sasldb_path: {folder}/sasldb2
mech_list: PLAIN LOGIN
"""


@dataclass
class Postfix:
    port: int
    # Port for implicit TLS.
    tls_port: int
    # Receives the forwarded emails.
    sink: Sink
    # File with the certificate of the certificate authority.
    authority: Path


@pytest.fixture(scope="session")
def relay() -> Iterator[Postfix]:
    with postfix() as made:
        yield made


@contextmanager
def postfix(milter: int | None = None) -> Iterator[Postfix]:
    """Run a relay. `milter` is the port of a filter that changes each email, such as OpenDKIM."""
    for program in ("postfix", "saslpasswd2"):
        if shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin") is None:
            missing(f"{program} is not installed")
    if not any(Path("/usr/lib").glob("*/sasl2/libplain.so")):
        missing("libsasl2-modules is not installed")
    if os.geteuid() != 0:
        missing("Postfix can be started only by root")
    with ExitStack() as stack:
        # Not in pytest's folder, which Postfix's user cannot enter.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="postfix-")))
        folder.chmod(0o755)
        sink = stack.enter_context(smtp_sink())
        made = Postfix(reserved_port(), reserved_port(), sink, folder / "authority.pem")
        _configure(folder, made)
        if milter is not None:
            with (folder / "config" / "main.cf").open("a") as file:
                file.write(
                    f"smtpd_milters = inet:127.0.0.1:{milter}\nmilter_default_action = reject\n"
                )
        command = ["/usr/sbin/postfix", "-c", str(folder / "config")]
        _run(*command, "start")
        stack.callback(_run, *command, "stop")
        wait_for_port(made.port)
        wait_for_port(made.tls_port)
        yield made


def _configure(folder: Path, made: Postfix) -> None:
    for name in ("config/sasl", "queue", "data"):
        (folder / name).mkdir(parents=True)
    shutil.chown(folder / "data", "postfix")
    values = {
        "folder": folder,
        "programs": PROGRAMS,
        "name": NAME,
        "sink": made.sink.port,
        "port": f"127.0.0.1:{made.port}",
        "tls_port": f"127.0.0.1:{made.tls_port}",
    }
    (folder / "config" / "main.cf").write_text(_MAIN.format(**values))
    (folder / "config" / "master.cf").write_text(_MASTER.format(**values))
    (folder / "config" / "sasl" / "smtpd.conf").write_text(_SASL.format(**values))
    authority = Authority()
    made.authority.write_bytes(authority.certificate)
    (folder / "server.pem").write_bytes(authority.issue("localhost"))
    _run(
        *("saslpasswd2", "-p", "-c", "-f", str(folder / "sasldb2"), "-u", NAME, USER),
        given=PASSWORD,
    )
    shutil.chown(folder / "sasldb2", "postfix")


def _run(*command: str, given: str | None = None) -> None:
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")

"""Check of the relying party of passkeys."""

from collections.abc import Iterator

from ...core.context import service
from ...core.doctor import Check, Finding
from ..webauthn.relying_party import RelyingParty


def check_passkeys() -> Iterator[Finding]:
    for text in service(RelyingParty).misconfigurations():
        hint = "Check AUTH__WEBAUTHN_RP_ID and AUTH__WEBAUTHN_ORIGINS."
        yield Finding("passkeys", "fault", f"Browsers reject passkeys: {text}. {hint}")


CHECKS = (Check(check_passkeys),)

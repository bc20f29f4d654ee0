"""Chromium's virtual authenticator, controlled by the DevTools protocol."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import CDPSession, Page


class Device:
    """The virtual authenticator of a page."""

    def __init__(self, page: Page) -> None:
        self.cdp: CDPSession = page.context.new_cdp_session(page)
        self.cdp.send("WebAuthn.enable")
        self.id = ""
        self.plug_in()

    def plug_in(self, **options: Any) -> None:
        given = {
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": True,
            "hasUserVerification": True,
            "isUserVerified": True,
            "automaticPresenceSimulation": True,
            **options,
        }
        made = self.cdp.send("WebAuthn.addVirtualAuthenticator", {"options": given})
        self.id = made["authenticatorId"]

    def replace(self, **options: Any) -> None:
        self.cdp.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": self.id})
        self.plug_in(**options)

    def verifies(self, is_verified: bool) -> None:
        given = {"authenticatorId": self.id, "isUserVerified": is_verified}
        self.cdp.send("WebAuthn.setUserVerified", given)

    def touches(self, does: bool) -> None:
        """Set whether the device confirms each request without a user."""
        given = {"authenticatorId": self.id, "enabled": does}
        self.cdp.send("WebAuthn.setAutomaticPresenceSimulation", given)

    @property
    def credentials(self) -> list[dict[str, Any]]:
        found = self.cdp.send("WebAuthn.getCredentials", {"authenticatorId": self.id})
        credentials: list[dict[str, Any]] = found["credentials"]
        return credentials

    def forget(self, credential_id: str) -> None:
        given = {"authenticatorId": self.id, "credentialId": credential_id}
        self.cdp.send("WebAuthn.removeCredential", given)

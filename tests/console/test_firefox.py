"""Journeys of the console in Firefox: tests that also run in Chromium, here in one variant."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from ..conftest import only_on
from ..rigs.backends import free_port
from ..rigs.console.cells import WIDE, Cell
from ..rigs.console.site import Site, Visitors
from ..rigs.firefox import add_authenticator, launch_firefox
from . import (
    test_admin_in_chromium,
    test_broadcasts_in_chromium,
    test_owner_in_chromium,
    test_palette,
    test_visitor_in_chromium,
)
from .test_visitor_in_chromium import is_headed

pytestmark = only_on("sqlite")

admin = test_palette.admin

test_broadcast_to_a_list = test_broadcasts_in_chromium.test_list_is_checked_kept_as_a_draft_and_sent
test_chart = test_admin_in_chromium.test_numbers_of_a_chart_are_shown_by_pointer_and_keyboard
test_events = test_admin_in_chromium.test_events_are_filtered
test_inbox = test_owner_in_chromium.test_user_reads_marks_deletes_and_restores_messages
test_palette_by_keyboard = test_palette.test_palette_opens_pages_and_accounts_by_keyboard
test_password_reset = test_visitor_in_chromium.test_visitor_resets_the_password
test_picture = test_owner_in_chromium.test_picture_is_cropped_and_shown
test_registration = test_visitor_in_chromium.test_visitor_registers_and_signs_in
test_suspension = test_admin_in_chromium.test_suspended_user_sees_the_suspension_on_the_next_request


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    marionette = free_port()
    with launch_firefox(WIDE, marionette) as browser:
        connection = add_authenticator(marionette)
        yield browser
    connection.close()


@pytest.fixture
def cell() -> Cell:
    return WIDE


def test_passkey_is_created_and_used(site: Site, visitors: Visitors) -> None:
    her = visitors(site.person("ada"))
    page = her.page
    her.open("/security/passkeys/new")
    page.get_by_label("Name").fill("Laptop")
    page.get_by_role("button", name="Create passkey").click()
    is_headed(page, "Your recovery codes")
    her.picture("passkey-created")
    her.context.clear_cookies()
    her.open("/sign-in")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url("**/dashboard")

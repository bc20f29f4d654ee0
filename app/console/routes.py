"""All pages and forms of the console, and the view of each."""

from __future__ import annotations

PAGE, FORM = "GET", "POST"

ROUTES: tuple[tuple[str, str, str], ...] = (
    (PAGE, "/assets/<digest>/<path:name>", "assets.static_asset"),
    (PAGE, "/assets/brand.css", "assets.brand_css"),
    (PAGE, "/design", "design.design"),
    # For whoever is not signed in.
    (PAGE, "/", "visitor.home.home"),
    (PAGE, "/sign-in", "visitor.sign_in.sign_in_page"),
    (FORM, "/sign-in", "visitor.sign_in.sign_in"),
    (FORM, "/sign-out", "visitor.sign_in.sign_out"),
    # Of who has just started it.
    (PAGE, "/first-root", "first_run.pages.first_root_page"),
    (FORM, "/first-root", "first_run.pages.make_first_root"),
    (PAGE, "/outbox", "first_run.mails.mails_page"),
    (PAGE, "/outbox/<name>", "first_run.mails.mail_page"),
    (PAGE, "/outbox/<name>/html", "first_run.mails.mail_html"),
    # For the account's owner.
    (PAGE, "/dashboard", "owner.inbox.dashboard"),
)

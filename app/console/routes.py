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
    # For admins: what they send, and how mails look.
    (PAGE, "/admin/broadcasts", "admin.broadcasts.broadcasts_page"),
    (FORM, "/admin/broadcasts", "admin.composing.send_broadcast"),
    (PAGE, "/admin/broadcasts/new", "admin.composing.compose_page"),
    (FORM, "/admin/broadcasts/new", "admin.composing.compose"),
    (FORM, "/admin/broadcasts/reach", "admin.composing.count_reach"),
    (FORM, "/admin/broadcasts/mail", "admin.composing.show_mail"),
    (FORM, "/admin/broadcasts/test", "admin.composing.send_test"),
    (PAGE, "/admin/broadcasts/<row_id:notification_id>", "admin.broadcasts.broadcast_page"),
    (
        PAGE,
        "/admin/broadcasts/<row_id:notification_id>/progress",
        "admin.broadcasts.broadcast_progress",
    ),
    (FORM, "/admin/broadcasts/<row_id:notification_id>/retry", "admin.broadcasts.retry_broadcast"),
    (
        FORM,
        "/admin/broadcasts/<row_id:notification_id>/delete",
        "admin.broadcasts.delete_broadcast",
    ),
    (PAGE, "/admin/mails", "admin.mails.mail_templates_page"),
    (PAGE, "/admin/mails/<name>", "admin.mails.mail_template_page"),
    (PAGE, "/admin/mails/<name>/html", "admin.mails.mail_template_html"),
    (FORM, "/admin/mails/<name>/test", "admin.mails.send_sample"),
)

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
    # For admins.
    (PAGE, "/admin", "admin.home.admin_home_page"),
    (PAGE, "/admin/accounts", "admin.accounts.managed_accounts_page"),
    (PAGE, "/admin/accounts/new", "admin.accounts.new_managed_account_page"),
    (FORM, "/admin/accounts/new", "admin.accounts.make_managed_account"),
    *(
        (method, f"/admin/accounts/<account_id:account_id>{rule}", f"admin.{view}")
        for method, rule, view in (
            (PAGE, "", "account.managed_account_page"),
            (FORM, "/change", "account.change_managed_account"),
            (PAGE, "/suspend", "suspension.suspend_managed_account_page"),
            (FORM, "/suspend", "suspension.suspend_managed_account"),
            (FORM, "/recovery", "account.mail_managed_account_password"),
            (FORM, "/sign-out", "account.sign_out_managed_account"),
            (FORM, "/unlock", "account.unlock_managed_account"),
            (FORM, "/verify", "account.verify_managed_account"),
            (FORM, "/factors", "account.reset_managed_account_factors"),
            (PAGE, "/delete", "account.delete_managed_account_page"),
            (FORM, "/delete", "account.delete_managed_account"),
        )
    ),
    (PAGE, "/admin/events", "admin.events.admin_events_page"),
    (PAGE, "/admin/events.jsonl", "admin.events.admin_events_file"),
    (PAGE, "/admin/settings", "admin.settings.settings_page"),
)

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
    (PAGE, "/dashboard/older", "owner.inbox.older_items"),
    (PAGE, "/dashboard/new", "owner.inbox.new_items"),
    (PAGE, "/dashboard/<row_id:item_id>", "owner.inbox.item_page"),
    (FORM, "/dashboard/<row_id:notification_id>/open", "owner.inbox_actions.open_item"),
    (FORM, "/dashboard/<row_id:notification_id>/mark", "owner.inbox_actions.mark_item"),
    (FORM, "/dashboard/<row_id:notification_id>/delete", "owner.inbox_actions.delete_item"),
    (FORM, "/dashboard/mark-all", "owner.inbox_actions.mark_all_items"),
    (FORM, "/dashboard/restore", "owner.inbox_actions.restore_item"),
    (PAGE, "/account", "owner.account.account_page"),
    (FORM, "/account", "owner.account.change_details"),
    (FORM, "/appearance", "owner.account.set_appearance"),
    (PAGE, "/account/activity", "owner.activity.activity_page"),
    (FORM, "/account/exports", "owner.exports.ask_export"),
    (PAGE, "/account/exports/newest", "owner.exports.export_state"),
    (PAGE, "/account/exports/<row_id:export_id>/file", "owner.exports.fetch_export"),
    (PAGE, "/account/delete", "owner.deletion.deletion_page"),
    (FORM, "/account/delete", "owner.deletion.delete_account"),
    (PAGE, "/profile", "owner.profile.profile_page"),
    (FORM, "/profile/make", "owner.profile.make_profile"),
    (FORM, "/profile", "owner.profile.change_profile"),
    (FORM, "/profile/delete", "owner.profile.delete_profile"),
    (FORM, "/profile/picture", "owner.profile.set_avatar"),
    (FORM, "/profile/picture/remove", "owner.profile.remove_avatar"),
)

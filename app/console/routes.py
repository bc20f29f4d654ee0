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
    (PAGE, "/sign-in/second-step", "visitor.second_step.second_step_page"),
    (FORM, "/sign-in/second-step", "visitor.second_step.finish_by_app"),
    (FORM, "/sign-in/second-step/recovery-code", "visitor.second_step.finish_by_recovery_code"),
    (FORM, "/sign-in/second-step/passkey", "visitor.second_step.finish_by_passkey"),
    (PAGE, "/sign-in/set-up", "visitor.enrolling.enrolment_page"),
    (FORM, "/sign-in/set-up", "visitor.enrolling.begin_app_at_sign_in"),
    (
        FORM,
        "/sign-in/set-up/<row_id:authenticator_id>",
        "visitor.enrolling.confirm_app_at_sign_in",
    ),
    (FORM, "/sign-in/set-up/passkey", "visitor.enrolling.add_passkey_at_sign_in"),
    (FORM, "/sign-in/passkey", "visitor.passkeys.sign_in_by_passkey"),
    (PAGE, "/sign-in/code", "visitor.mailed_code.mailed_code_page"),
    (FORM, "/sign-in/code", "visitor.mailed_code.ask_for_sign_in_code"),
    (FORM, "/sign-in/code/typed", "visitor.mailed_code.sign_in_by_code"),
    (PAGE, "/sign-in/provider", "visitor.provider.provider_sign_in"),
    (PAGE, "/sign-in/provider/callback", "visitor.provider.provider_callback"),
    (FORM, "/sign-in/provider/callback", "visitor.provider.finish_provider_sign_in"),
    (PAGE, "/register", "visitor.register.register_page"),
    (FORM, "/register", "visitor.register.register_account"),
    (PAGE, "/verify", "visitor.register.verify_page"),
    (FORM, "/verify", "visitor.register.verify_address"),
    (FORM, "/verify/mail", "visitor.register.mail_verification_again"),
    (PAGE, "/forgot", "visitor.recovery.forgot_page"),
    (FORM, "/forgot", "visitor.recovery.ask_for_reset"),
    (FORM, "/reset/code", "visitor.recovery.check_reset_code"),
    (PAGE, "/reset", "visitor.recovery.reset_page"),
    (FORM, "/reset", "visitor.recovery.choose_new_password"),
    (PAGE, "/confirm-email", "visitor.mailed_links.confirm_email_page"),
    (FORM, "/confirm-email", "visitor.mailed_links.confirm_new_email"),
    (PAGE, "/undo-email", "visitor.mailed_links.undo_email_page"),
    (FORM, "/undo-email", "visitor.mailed_links.undo_new_email"),
    (PAGE, "/keep-account", "visitor.mailed_links.keep_account_page"),
    (FORM, "/keep-account", "visitor.mailed_links.keep_account"),
    (PAGE, "/confirm", "visitor.confirm.confirm_page"),
    (FORM, "/confirm", "visitor.confirm.confirm_identity"),
    (FORM, "/confirm/passkey", "visitor.confirm.confirm_by_passkey"),
    # Of who has just started it.
    (PAGE, "/first-root", "first_run.pages.first_root_page"),
    (FORM, "/first-root", "first_run.pages.make_first_root"),
    (PAGE, "/outbox", "first_run.mails.mails_page"),
    (PAGE, "/outbox/<name>", "first_run.mails.mail_page"),
    (PAGE, "/outbox/<name>/html", "first_run.mails.mail_html"),
    # For the account's owner.
    (PAGE, "/dashboard", "owner.inbox.dashboard"),
)

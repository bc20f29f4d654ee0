"""The expected outcome of each sign-in method, by MFA policy and account state.
Each block's first cell names the MFA setting and what the user has (`device`: an authenticator app
and a trusted device). The other columns are account states; the rows are sign-in methods.

Sessions that started before MFA became required stay valid. A change of password or of email
address revokes trusted devices. Verifying an unverified email address returns the account to the
address's owner, so it also removes the account's authenticators."""

# What each cell means: the response's status, and its error code if the request is rejected.
OUTCOMES = {
    "in": (200, None),
    "joined": (201, None),
    "mfa": (403, "mfa_required"),
    "enroll": (403, "mfa_enrolment_required"),
    "wrong": (400, "incorrect_credentials"),
    "unproven": (400, "email_not_verified"),
    "inactive": (400, "inactive_account"),
    "deleting": (400, "account_deleting"),
    "dead": (400, "invalid_token"),
    "no-grant": (400, "invalid_grant"),
    "taken": (409, "email_taken"),
    "out": (401, "account_inactive"),
    "ended": (401, "invalid_credentials"),
    "step-up": (401, "reauthentication_required"),
}

TABLE = """
off, none         | verified   unverified pending    suspended  over       inactive   deleting
password          | in         in         unproven   inactive   in         inactive   deleting
password+otp      | in         in         unproven   inactive   in         inactive   deleting
second step       | in         in         unproven   inactive   in         inactive   deleting
mailed code       | in         in         in         inactive   in         inactive   deleting
passkey           | in         in         unproven   inactive   in         inactive   deleting
provider          | in         in         unproven   inactive   in         inactive   deleting
provider, new     | in         in         in         inactive   in         inactive   deleting
registration      | wrong      wrong      in         wrong      wrong      wrong      wrong
invitation        | taken      joined     joined     taken      taken      taken      taken
reset             | in         in         in         inactive   in         inactive   inactive
new address       | in         in         in         inactive   in         inactive   dead
refresh           | in         in         no-grant   no-grant   in         no-grant   no-grant
old token         | in         in         out        out        in         out        ended
cookie            | in         in         unproven   inactive   in         inactive   deleting
old cookie        | in         in         out        out        in         out        ended

off, enrolled     | verified   unverified pending    suspended  over       inactive   deleting
password          | in         in         unproven   inactive   in         inactive   deleting
password+otp      | in         in         unproven   inactive   in         inactive   deleting
second step       | in         in         unproven   inactive   in         inactive   deleting
mailed code       | in         in         in         inactive   in         inactive   deleting
passkey           | in         in         unproven   inactive   in         inactive   deleting
provider          | in         in         unproven   inactive   in         inactive   deleting
provider, new     | in         in         in         inactive   in         inactive   deleting
registration      | wrong      wrong      in         wrong      wrong      wrong      wrong
invitation        | taken      joined     joined     taken      taken      taken      taken
reset             | in         in         in         inactive   in         inactive   inactive
new address       | in         in         in         inactive   in         inactive   dead
refresh           | in         in         no-grant   no-grant   in         no-grant   no-grant
old token         | in         in         out        out        in         out        ended
cookie            | in         in         unproven   inactive   in         inactive   deleting
old cookie        | in         in         out        out        in         out        ended

optional, none    | verified   unverified pending    suspended  over       inactive   deleting
password          | in         in         unproven   inactive   in         inactive   deleting
password+otp      | in         in         unproven   inactive   in         inactive   deleting
second step       | in         in         unproven   inactive   in         inactive   deleting
mailed code       | in         in         in         inactive   in         inactive   deleting
passkey           | in         in         unproven   inactive   in         inactive   deleting
provider          | in         in         unproven   inactive   in         inactive   deleting
provider, new     | in         in         in         inactive   in         inactive   deleting
registration      | wrong      wrong      in         wrong      wrong      wrong      wrong
invitation        | taken      joined     joined     taken      taken      taken      taken
reset             | in         in         in         inactive   in         inactive   inactive
new address       | in         in         in         inactive   in         inactive   dead
refresh           | in         in         no-grant   no-grant   in         no-grant   no-grant
old token         | in         in         out        out        in         out        ended
cookie            | in         in         unproven   inactive   in         inactive   deleting
old cookie        | in         in         out        out        in         out        ended

optional, enrolled| verified   unverified pending    suspended  over       inactive   deleting
password          | mfa        mfa        unproven   inactive   mfa        inactive   deleting
password+otp      | in         in         unproven   inactive   in         inactive   deleting
second step       | in         in         unproven   inactive   in         inactive   deleting
mailed code       | mfa        in         in         inactive   mfa        inactive   deleting
passkey           | in         in         unproven   inactive   in         inactive   deleting
provider          | mfa        mfa        unproven   inactive   mfa        inactive   deleting
provider, new     | mfa        in         in         inactive   mfa        inactive   deleting
registration      | wrong      wrong      mfa        wrong      wrong      wrong      wrong
invitation        | taken      joined     joined     taken      taken      taken      taken
reset             | mfa        mfa        mfa        inactive   mfa        inactive   inactive
new address       | step-up    step-up    step-up    step-up    step-up    step-up    dead
refresh           | in         in         no-grant   no-grant   in         no-grant   no-grant
old token         | in         in         out        out        in         out        ended
cookie            | mfa        mfa        unproven   inactive   mfa        inactive   deleting
old cookie        | in         in         out        out        in         out        ended

optional, device  | verified   unverified pending    suspended  over       inactive   deleting
password          | in         in         unproven   inactive   in         inactive   deleting
password+otp      | in         in         unproven   inactive   in         inactive   deleting
second step       | in         in         unproven   inactive   in         inactive   deleting
mailed code       | in         in         in         inactive   in         inactive   deleting
passkey           | in         in         unproven   inactive   in         inactive   deleting
provider          | in         in         unproven   inactive   in         inactive   deleting
provider, new     | in         in         in         inactive   in         inactive   deleting
registration      | wrong      wrong      mfa        wrong      wrong      wrong      wrong
invitation        | taken      joined     joined     taken      taken      taken      taken
reset             | mfa        mfa        mfa        inactive   mfa        inactive   inactive
new address       | step-up    step-up    step-up    step-up    step-up    step-up    dead
refresh           | in         in         no-grant   no-grant   in         no-grant   no-grant
old token         | in         in         out        out        in         out        ended
cookie            | in         in         unproven   inactive   in         inactive   deleting
old cookie        | in         in         out        out        in         out        ended

required, none    | verified   unverified pending    suspended  over       inactive   deleting
password          | enroll      enroll      unproven   inactive   enroll      inactive   deleting
password+otp      | enroll      enroll      unproven   inactive   enroll      inactive   deleting
second step       | enroll      enroll      unproven   inactive   enroll      inactive   deleting
mailed code       | enroll      enroll      enroll      inactive   enroll      inactive   deleting
passkey           | in         in         unproven   inactive   in         inactive   deleting
provider          | enroll      enroll      unproven   inactive   enroll      inactive   deleting
provider, new     | enroll      enroll      enroll      inactive   enroll      inactive   deleting
registration      | wrong      wrong      enroll      wrong      wrong      wrong      wrong
invitation        | taken      enroll      enroll      taken      taken      taken      taken
reset             | enroll      enroll      enroll      inactive   enroll      inactive   inactive
new address       | enroll      enroll      enroll      inactive   enroll      inactive   dead
refresh           | in         in         no-grant   no-grant   in         no-grant   no-grant
old token         | in         in         out        out        in         out        ended
cookie            | enroll      enroll      unproven   inactive   enroll      inactive   deleting
old cookie        | in         in         out        out        in         out        ended

required, enrolled| verified   unverified pending    suspended  over       inactive   deleting
password          | mfa        mfa        unproven   inactive   mfa        inactive   deleting
password+otp      | in         in         unproven   inactive   in         inactive   deleting
second step       | in         in         unproven   inactive   in         inactive   deleting
mailed code       | mfa        enroll      enroll      inactive   mfa        inactive   deleting
passkey           | in         in         unproven   inactive   in         inactive   deleting
provider          | mfa        mfa        unproven   inactive   mfa        inactive   deleting
provider, new     | mfa        enroll      enroll      inactive   mfa        inactive   deleting
registration      | wrong      wrong      mfa        wrong      wrong      wrong      wrong
invitation        | taken      enroll      enroll      taken      taken      taken      taken
reset             | mfa        mfa        mfa        inactive   mfa        inactive   inactive
new address       | step-up    step-up    step-up    step-up    step-up    step-up    dead
refresh           | in         in         no-grant   no-grant   in         no-grant   no-grant
old token         | in         in         out        out        in         out        ended
cookie            | mfa        mfa        unproven   inactive   mfa        inactive   deleting
old cookie        | in         in         out        out        in         out        ended
"""

"""Who comes in by which way: of second factors as the service has them and as the account has them
(`device`: one that is trusted), the account's state above, the way beside.

A session goes on that was begun before a second factor was required. A trusted device is forgotten
with the password and with the address. An address that is proven here, and was not before, takes
the account back from whoever began with it: its factors go, too.
"""

# What the cells say: the status of the answer, and its code where it is a refusal.
WORDS = {
    "in": (200, None),
    "joined": (201, None),
    "mfa": (403, "mfa_required"),
    "enrol": (403, "mfa_enrolment_required"),
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
provider, new     | in         in         in         inactive   in         inactive   inactive
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
provider, new     | in         in         in         inactive   in         inactive   inactive
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
provider, new     | in         in         in         inactive   in         inactive   inactive
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
provider, new     | mfa        in         in         inactive   mfa        inactive   inactive
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
provider, new     | in         in         in         inactive   in         inactive   inactive
registration      | wrong      wrong      mfa        wrong      wrong      wrong      wrong
invitation        | taken      joined     joined     taken      taken      taken      taken
reset             | mfa        mfa        mfa        inactive   mfa        inactive   inactive
new address       | step-up    step-up    step-up    step-up    step-up    step-up    dead
refresh           | in         in         no-grant   no-grant   in         no-grant   no-grant
old token         | in         in         out        out        in         out        ended
cookie            | in         in         unproven   inactive   in         inactive   deleting
old cookie        | in         in         out        out        in         out        ended

required, none    | verified   unverified pending    suspended  over       inactive   deleting
password          | enrol      enrol      unproven   inactive   enrol      inactive   deleting
password+otp      | enrol      enrol      unproven   inactive   enrol      inactive   deleting
second step       | enrol      enrol      unproven   inactive   enrol      inactive   deleting
mailed code       | enrol      enrol      enrol      inactive   enrol      inactive   deleting
passkey           | in         in         unproven   inactive   in         inactive   deleting
provider          | enrol      enrol      unproven   inactive   enrol      inactive   deleting
provider, new     | enrol      enrol      enrol      inactive   enrol      inactive   inactive
registration      | wrong      wrong      enrol      wrong      wrong      wrong      wrong
invitation        | taken      enrol      enrol      taken      taken      taken      taken
reset             | enrol      enrol      enrol      inactive   enrol      inactive   inactive
new address       | enrol      enrol      enrol      inactive   enrol      inactive   dead
refresh           | in         in         no-grant   no-grant   in         no-grant   no-grant
old token         | in         in         out        out        in         out        ended
cookie            | enrol      enrol      unproven   inactive   enrol      inactive   deleting
old cookie        | in         in         out        out        in         out        ended

required, enrolled| verified   unverified pending    suspended  over       inactive   deleting
password          | mfa        mfa        unproven   inactive   mfa        inactive   deleting
password+otp      | in         in         unproven   inactive   in         inactive   deleting
second step       | in         in         unproven   inactive   in         inactive   deleting
mailed code       | mfa        enrol      enrol      inactive   mfa        inactive   deleting
passkey           | in         in         unproven   inactive   in         inactive   deleting
provider          | mfa        mfa        unproven   inactive   mfa        inactive   deleting
provider, new     | mfa        enrol      enrol      inactive   mfa        inactive   inactive
registration      | wrong      wrong      mfa        wrong      wrong      wrong      wrong
invitation        | taken      enrol      enrol      taken      taken      taken      taken
reset             | mfa        mfa        mfa        inactive   mfa        inactive   inactive
new address       | step-up    step-up    step-up    step-up    step-up    step-up    dead
refresh           | in         in         no-grant   no-grant   in         no-grant   no-grant
old token         | in         in         out        out        in         out        ended
cookie            | mfa        mfa        unproven   inactive   mfa        inactive   deleting
old cookie        | in         in         out        out        in         out        ended
"""

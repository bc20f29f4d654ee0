"""The examples of these routes in the OpenAPI document."""

EMAIL = "ada@example.com"
CODE = "04711337"
ACCOUNT = {
    "id": 1,
    "email": EMAIL,
    "status": "active",
    "role": "user",
    "phone": None,
    "last_login_date": "2030-01-01T12:00:00+00:00",
    "current_workspace_id": None,
    "created_at": "2029-12-01T09:30:00+00:00",
    "email_verified": True,
    "locale": "en-GB",
    "time_zone": "Europe/London",
}
SIGNED_IN = {
    "access_token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2ln",
    "expires": "2030-01-01T12:30:00+00:00",
    "token_type": "bearer",
    "account": ACCOUNT,
    "user": None,
}
CALLBACK = {
    "code": "SplxlOBeZQQYbYS6WxSbIA",
    "redirect_uri": "http://localhost:3000/signed-in",
    "auth_data": {},
}
REDIRECT_URI = {"redirect_uri": CALLBACK["redirect_uri"]}
PROVIDERS = [{"name": "github", "kind": "github", "title": "GitHub"}]
PROVIDER_RETURN = {"code": "SplxlOBeZQQYbYS6WxSbIA", "state": "af0ifjsldkj"}
PROVIDER_CALLBACK = {**PROVIDER_RETURN, "redirect_uri": "http://localhost:3000/signed-in"}
EMAIL_CODE = {"login_id": "kX0o2c3v9yJb1dQe7uWf4aHs6tZr8mPn", "code": CODE}
LINK_CONFIRMATION = {"link_token": "WyI3IiwiZ29vZ2xlIl0.aXQgaXM.c2lnbmVk"}
IDENTITY = {
    "id": 7,
    "provider": "google",
    "issuer": "https://accounts.google.com",
    "email": EMAIL,
    "linked_at": "2030-01-01T12:00:00+00:00",
    "last_used_at": "2030-01-01T12:00:00+00:00",
}
LINK_BEGUN = {
    "provider_url": "https://github.com/login/oauth/authorize?client_id=…&state=af0ifjsldkj"
}
LOGOUT_TOKEN = {"logout_token": "eyJhbGciOiJSUzI1NiIsInR5cCI6ImxvZ291dCtqd3QifQ…"}
LOGIN = {"username": EMAIL, "password": "correct horse"}
LOGGED_OUT = {"message": "Logged out"}
RECOVERY = {"email": EMAIL}
RECOVERY_SENT = {"message": "Password recovery email sent"}
TOKEN = {"token": CODE, "email": EMAIL}
TOKEN_VALID = {"message": "The token is valid"}
NEW_PASSWORD = {**TOKEN, "new_password": "battery staple"}
PASSWORD_CHANGE = {"current_password": "correct horse", "new_password": "battery staple"}
REAUTHENTICATION = {"password": "correct horse"}
PASSWORD_UPDATED = {"message": "Password updated"}
ACCOUNT_UPDATE = {"locale": "en-GB", "time_zone": "Europe/London"}
EMAIL_CHANGE = {"email": "ada.lovelace@example.com", "password": "correct horse"}
EMAIL_CHANGE_SENT = {"message": "Check your new email address to confirm the change"}
MAILED_TOKEN = {"token": "WzEsIjRmNTMiXQ.aXQgaXM.c2lnbmVk"}
EMAIL_UNDONE = {
    "message": "Your email address was restored. Check your inbox to choose a new password"
}

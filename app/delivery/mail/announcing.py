"""Flask-Mail's listeners hear of our mails too: a host's tests record them, its logs count them."""

from __future__ import annotations

import logging
import sys
import time
from dataclasses import dataclass

from flask import Flask

from .mime import MimeMessage
from .settings import MailSettings

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Announcer:
    app: Flask
    mail: MailSettings

    def __call__(self, letter: MimeMessage) -> None:
        """Emit the signal with a `flask_mail.Message`, which is built only if a listener exists."""
        # A listener has imported flask_mail.
        flask_mail = sys.modules.get("flask_mail")
        if letter.email is None or flask_mail is None or not flask_mail.email_dispatched.receivers:
            return
        email = letter.email
        try:
            with self.app.app_context():
                message = flask_mail.Message(
                    email.subject,
                    recipients=[email.to],
                    body=email.text,
                    html=email.html or None,
                    sender=self.mail.default_sender,
                    reply_to=self.mail.reply_to,
                    date=time.time(),
                )
                message.msgId = letter.message_id
                flask_mail.email_dispatched.send(self.app, message=message)
        except Exception:
            # It has left all the same.
            log.exception("A listener to Flask-Mail's email_dispatched failed")

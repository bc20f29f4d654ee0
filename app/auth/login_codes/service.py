"""Signing in by a code that is mailed.

Whoever asks is answered alike and after the same work, whether or not there is an account; the mail
tells the truth to who reads it. The right code proves the address, and makes an account of it where
registration is open to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...accounts.addresses import folds_to_ascii, read_email
from ...accounts.errors import EmailTaken, InvalidEmail
from ...accounts.models import AccountLike
from ...accounts.service import Accounts
from ...core.db.transaction import AnySession, after_commit, release, transaction
from ...core.errors import Invalid, Problem
from ...core.records.recorder import record
from ...delivery.mail.one_off import OneOffMail
from ..admission import CODE_DOOR, Admission
from ..errors import InvalidProof
from ..limits import Failures
from ..sign_in.gate import Challenge, Gate, Opened
from ..sign_in.proof import MAILED_CODE
from .codes import LoginCodes
from .limits import LoginCodeRequests
from .mails import LoginCodeMails


@dataclass(eq=False)
class LoginByCode:
    session: AnySession
    accounts: Accounts
    codes: LoginCodes
    requests: LoginCodeRequests
    failures: Failures
    admission: Admission
    gate: Gate
    mails: LoginCodeMails
    one_off_mail: OneOffMail
    # Whether an e-mail is all that an account is made of: a host may ask for more at registration.
    signs_up: Callable[[], bool]

    def ask(self, email: str, address: str) -> str:
        """Mail a code, and return what it counts with."""
        email = _readable(email)
        self.requests.count(email, address)
        # Asked for whoever comes: a host's answer may take its time.
        is_welcome = self._is_welcome(email)
        # As a plain row: to make an object of it would take longer than to find none.
        account = self.accounts.rows.read(email)
        asked = self.codes.issue(email, account, is_welcome)
        with transaction(self.session):
            whose = None if account is None else account.id
            record(self.session, "login.code_requested", account_id=whose)
        release(self.session)
        made = account is not None or is_welcome
        self.one_off_mail.send_soon(
            self.mails.code(email, asked.code) if made else self.mails.no_account(email)
        )
        return asked.login_id

    def sign_in(self, login_id: str, code: str, address: str) -> Opened | Challenge:
        try:
            email, account = self.codes.use(login_id, code)
        except InvalidProof:
            raise InvalidProof(note={"event": "sign_in"}) from None
        with transaction(self.session):
            account = account or self._sign_up(email)
            if not self.accounts.has_proven_address(account):
                # Whoever chose its password may be somebody else, who never read its mail.
                self.accounts.reclaim(account)
            outcome = self.gate.admit(account, (MAILED_CODE,))
            if isinstance(outcome, Opened):
                after_commit(self.session, lambda: self.failures.let_through(email, address))
            return outcome

    def _is_welcome(self, email: str) -> bool:
        """To an account, where there is none. A host's problem is for a newcomer alone, and the
        answer must not tell who is one."""
        if folds_to_ascii(email) or not self.signs_up():
            return False
        try:
            return self.admission.admits(email, CODE_DOOR)
        except Problem:
            return False

    def _sign_up(self, email: str) -> AccountLike:
        """Whether it is welcome was asked before its code was made."""
        try:
            return self.accounts.create(email, None, status=self.accounts.active_status)
        except EmailTaken:
            # Registered in this moment; the code proves that the address is theirs.
            found = self.accounts.find(email)
            if found is None:
                raise
            return found


def _readable(email: str) -> str:
    """One that no mail could reach is refused, whoever has it."""
    try:
        return read_email(email)
    except InvalidEmail:
        raise Invalid.about("email", InvalidEmail.detail) from None

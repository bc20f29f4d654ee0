"""Sign-in with a link from an operator, for users whose other sign-in methods are unavailable."""

import hashlib
from dataclasses import dataclass
from datetime import timedelta

from ...accounts.models import AccountLike
from ...core.context import BasicService, report_action
from ...core.db.transaction import transaction
from ..actions import SIGN_IN_LINK_CREATED
from ..errors import InvalidProof
from ..proof_names import SIGN_IN_LINK
from ..proofs import AccountProofs, Purpose
from .options import SignInOptions
from .policy import Challenge, SignInPolicy, SignInResult

MINUTES = 10
LINK = Purpose("sign-in-link", token_life=timedelta(minutes=MINUTES))


@dataclass(eq=False)
class SignInLinks(BasicService):
    proofs: AccountProofs
    policy: SignInPolicy

    def issue(self, account: AccountLike) -> str:
        """Return the token of a new link."""
        with transaction(self.session) as session:
            report_action(session, SIGN_IN_LINK_CREATED, account_id=account.id)
            return self.proofs.token(account)

    def sign_in(self, token: str, options: SignInOptions) -> SignInResult | Challenge:
        """Sign in the account of a link. Of simultaneous uses, one succeeds."""
        with transaction(self.session):
            account = self.proofs.find(token, None)
            # Without the signature, whose last character can be written in several ways.
            signed = hashlib.sha256(token.rpartition(".")[0].encode()).hexdigest()
            if not self.basics.keystore.add(f"{LINK.name}:{signed}", "used", MINUTES * 60):
                raise InvalidProof(note={"event": "sign_in"})
            return self.policy.admit(account, (SIGN_IN_LINK,), options)

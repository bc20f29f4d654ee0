"""The caller's account with tokens of a signing key, compared with HS256: each worker verifies a
token once."""

import json
import time

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from jwt.algorithms import ECAlgorithm, OKPAlgorithm

from bench.client import Client
from bench.database import Data
from bench.figures import Table
from bench.options import Options
from bench.places import PASSWORD
from bench.requests import email, service_credentials
from bench.servers import Server
from bench.variants import CALLERS, Variant, compare

KEYS = {
    "ES256": ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP256R1()), as_dict=True),
    "EdDSA": OKPAlgorithm.to_jwk(ed25519.Ed25519PrivateKey.generate(), as_dict=True),
}


def measure(options: Options) -> list[Table]:
    variants = [
        Variant("HS256", "HS256", {}, lambda server, _: service_credentials(server, CALLERS)),
        *(
            Variant(name, name, {"AUTH__SIGNING_KEYS": json.dumps({"keys": [key]})}, _credentials)
            for name, key in KEYS.items()
        ),
    ]
    return compare("Account read with signing keys", variants, options)


def _credentials(server: Server, _: Data) -> list[str]:
    """Sign in one account, and sign the tokens of the others with the same claims."""
    token = Client(server.port).login(email(1), PASSWORD)
    header = jwt.get_unverified_header(token)
    claims = jwt.decode(token, options={"verify_signature": False})
    claims["exp"] = time.time() + 86_400
    key = jwt.PyJWK(KEYS[header["alg"]]).key
    tokens = (
        jwt.encode(claims | {"sub": email(number)}, key, header["alg"], {"kid": header["kid"]})
        for number in range(1, CALLERS + 1)
    )
    return [f"Authorization: Bearer {token}" for token in tokens]

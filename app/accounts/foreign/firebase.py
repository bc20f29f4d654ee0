"""Firebase's variant of scrypt, with the project's parameters in each hash, as GoTrue writes them:
`$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=…$salt$hash`."""

from hmac import compare_digest
from typing import NamedTuple

from ...core.extras import missing_extra
from .algorithms import HashAlgorithm, UnusableHash, check_scrypt, derive_scrypt
from .formats import base64, number

PREFIXES = ("$fbscrypt$",)


class FirebaseScrypt(NamedTuple):
    """The hash is the project's signer key, encrypted with the key that scrypt derives."""

    n: int
    r: int
    p: int
    salt: bytes
    signer_key: bytes
    expected: bytes

    def check(self) -> None:
        if not self.signer_key or len(self.signer_key) != len(self.expected):
            raise UnusableHash.unknown()
        check_scrypt(self.n, self.r, self.p)
        if install := missing_extra("firebase"):
            raise UnusableHash.lacks("Firebase", install)

    def matches(self, password: bytes) -> bool:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        key = derive_scrypt(password, self.salt, self.n, self.r, self.p, 32)
        encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
        made = encryptor.update(self.signer_key) + encryptor.finalize()
        return compare_digest(made, self.expected)


def read_firebase(text: str) -> HashAlgorithm:
    options, salt, expected = text.removeprefix(PREFIXES[0]).split("$")
    said = dict(option.split("=", 1) for option in options.split(","))
    missing = {"v", "n", "r", "p", "ss", "sk"} - said.keys()
    if missing or said["v"] != "1" or not 1 <= number(said["n"]) <= 32:
        raise ValueError("another version")
    return FirebaseScrypt(
        2 ** number(said["n"]),
        number(said["r"]),
        number(said["p"]),
        base64(salt) + base64(said["ss"]),
        base64(said["sk"]),
        base64(expected),
    )

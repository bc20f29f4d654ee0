"""The caller's account: token, revocation, one row."""

from bench.figures import Table
from bench.options import Options
from bench.works import reads


def measure(options: Options) -> list[Table]:
    return reads.measure(options, "account", "Authenticated account read", 1.35, 1.1)

"""The first page of the caller's inbox: 50 of 100 rows, in a table with a million."""

from bench.figures import Table
from bench.options import Options
from bench.works import reads


def measure(options: Options) -> list[Table]:
    return reads.measure(options, "inbox", "Inbox page of 50", 1.9, 1.05)

"""Prints the credentials of the first accounts: the same as the limit's."""

from bench.peers.limit import seed

if __name__ == "__main__":
    seed.main()

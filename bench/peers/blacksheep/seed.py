"""Prints the credentials of the first accounts, which are those of `limit`."""

from bench.peers.limit import seed

if __name__ == "__main__":
    seed.main()

"""The options of the command line."""

from dataclasses import dataclass

from bench.servers import CONTENDERS, Contender


@dataclass(frozen=True)
class Options:
    seconds: float
    rounds: int
    minutes: float
    quick: bool
    ten_million: bool
    peers: tuple[str, ...]

    def contenders(self, *names: str) -> list[Contender]:
        """Return the contenders with these names (default: all) that exist and are selected, in
        their order."""
        return [
            contender
            for name, contender in CONTENDERS.items()
            if (not names or name in names)
            and (not self.peers or name in self.peers)
            and contender.present()
        ]

"""What the command line may change."""

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
        """Those of the names (all, if none) that are here and asked for, in the order of turns."""
        return [
            contender
            for name, contender in CONTENDERS.items()
            if (not names or name in names)
            and (not self.peers or name in self.peers)
            and contender.present()
        ]

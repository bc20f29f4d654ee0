"""Results of several rounds, as ratios to one contender of the same round, with their spread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median


@dataclass(frozen=True)
class Column:
    key: str
    heading: str
    pattern: str = "{:.0f}"
    # The result of all rounds.
    of_rounds: Callable[[Sequence[float]], float] = median


@dataclass(frozen=True)
class Goal:
    """`who` reaches at least, or at most, `bound` times the result of the best in `others`."""

    key: str
    bound: float
    others: tuple[str, ...]
    at_least: bool
    who: str = "frontdesk"


@dataclass
class Table:
    title: str
    # Without a reference, the table has no ratios.
    reference: str
    columns: tuple[Column, ...]
    goals: tuple[Goal, ...] = ()
    remarks: list[str] = field(default_factory=list)
    titles: dict[str, str] = field(default_factory=dict)
    rounds: dict[str, list[dict[str, float]]] = field(default_factory=dict)

    def add(self, name: str, figures: dict[str, float], title: str = "") -> None:
        self.titles.setdefault(name, title or name)
        self.rounds.setdefault(name, []).append(figures)

    def lines(self) -> list[str]:
        """Return the table in Markdown."""
        heads = [""]
        for column in self.columns:
            heads += [column.heading, "ratio"] if self.reference else [column.heading]
        out = [f"### {self.title}", "", _row(heads), _row(["---"] * len(heads))]
        for name, rounds in self.rounds.items():
            cells = [self.titles[name]]
            for column in self.columns:
                values = [figures[column.key] for figures in rounds]
                cells.append(column.pattern.format(column.of_rounds(values)))
                if self.reference:
                    cells.append(_spread(self.ratios(name, self.reference, column.key)))
            out.append(_row(cells))
        out += ["", *self.remarks, *self._verdicts(), ""]
        return out

    def ratios(self, name: str, reference: str, key: str) -> list[float]:
        """Return the ratios by round, so that a slow minute of the machine affects both sides."""
        pairs = zip(self.rounds[name], self.rounds.get(reference, []), strict=False)
        return [own[key] / other[key] for own, other in pairs if other[key]]

    def _verdicts(self) -> list[str]:
        lines = []
        for goal in self.goals:
            ratios = [
                median(self.ratios(goal.who, name, goal.key))
                for name in goal.others
                if goal.who in self.rounds and name in self.rounds
            ]
            if not ratios:
                continue
            ratio = min(ratios) if goal.at_least else max(ratios)
            reached = ratio >= goal.bound if goal.at_least else ratio <= goal.bound
            heading = next(column.heading for column in self.columns if column.key == goal.key)
            rival = "the best peer" if len(goal.others) > 1 else self.titles[goal.others[0]]
            bound = f"at {'least' if goal.at_least else 'most'} {goal.bound:g}"
            verdict = "reached" if reached else "MISSED"
            result = f"{heading} of {self.titles[goal.who]}"
            lines.append(f"- {verdict}: {result} {ratio:.2f} times {rival} ({bound})")
        return lines


def _spread(ratios: list[float]) -> str:
    if not ratios:
        return "-"
    if len(ratios) == 1:
        return f"{ratios[0]:.2f}"
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"

"""In which order the kernels of a program run, so that L2 still holds what one reads that another has touched.

A kernel that reads a buffer finds it in L2 if little else has been touched since: the *reuse distance*, in bytes of
distinct memory, is below what stays in L2 (Mattson and others, Evaluation techniques for storage hierarchies, 1970).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property

EVALUATED = 2000
"""Continuations of orders that are looked at. The first order is finished in any case."""


@dataclass(frozen=True)
class Access:
    """What a launch touches, by the numbers of buffers."""

    read: frozenset[int]
    written: frozenset[int]

    @cached_property
    def touched(self) -> frozenset[int]:
        """What it reads or writes."""
        return self.read | self.written


@dataclass(frozen=True, order=True)
class Reuse:
    """Of what is read again, and is in L2 in some order: bytes that have left L2, and the sum of their distances."""

    missed: int = 0
    distances: int = 0

    def __add__(self, other: Reuse) -> Reuse:
        return Reuse(self.missed + other.missed, self.distances + other.distances)


@dataclass(frozen=True)
class Order:
    """Launches in an order that is allowed.

    Args:
        launches: what each touches.
        before: for each, the launches that must have run.
        sizes: bytes of each buffer.
        room: bytes that stay in L2.
        workspace: the buffers in memory that the program reserves, and that those share which are never in use at the
            same time.
    """

    launches: Sequence[Access]
    before: Sequence[frozenset[int]]
    sizes: Mapping[int, int]
    room: float
    workspace: frozenset[int] = frozenset()

    def changed(self, places: Sequence[int]) -> Order:
        """The launches of these places, in this order."""
        now = {old: new for new, old in enumerate(places)}
        before = [frozenset(now[each] for each in self.before[old]) for old in places]
        return replace(self, launches=[self.launches[old] for old in places], before=before)

    def reuse(self) -> Reuse:
        """How far apart the order has what is read again."""
        numbers = range(len(self.launches))
        return sum((self.added(numbers[:place], place) for place in numbers), Reuse())

    def distances(self, done: Sequence[int], launch: int) -> dict[int, float]:
        """Reuse distances of what a launch reads after others have touched it, in bytes; infinite where they are beyond
        the room."""
        found: dict[int, float] = {}
        wanted, between = set(self.launches[launch].read), set[int]()
        for other in reversed(done):
            touched = self.launches[other].touched
            for buffer in wanted & touched:
                found[buffer] = self._distance(buffer, other, launch, between)
            wanted -= touched
            between |= touched
            if not wanted or self._bytes(between) > self.room:
                break
        later = {buffer for other in done for buffer in self.launches[other].touched} & wanted
        return found | dict.fromkeys(later, float("inf"))

    def added(self, done: Sequence[int], launch: int) -> Reuse:
        """What a launch adds after others."""
        return self.cost(self.distances(done, launch), launch)

    def cost(self, distances: Mapping[int, float], launch: int) -> Reuse:
        """What a launch adds whose reads have these distances."""
        counted = {each: far for each, far in distances.items() if each in self._reusable[launch]}
        missed = sum(self.sizes[each] for each, far in counted.items() if far > self.room)
        return Reuse(missed, int(sum(min(far, self.room) for far in counted.values())))

    def _distance(self, buffer: int, other: int, launch: int, between: Set[int]) -> float:
        """The distance of a buffer that one launch has touched and another reads. Half of what else either touches
        counts: a part of a buffer is touched when about half of a launch is done."""
        both = self.launches[other].touched | self.launches[launch].touched
        return self.sizes[buffer] + self._bytes(between) + self._bytes(both - between - {buffer}) / 2

    @cached_property
    def _reusable(self) -> list[frozenset[int]]:
        """For each launch, what it reads and finds in L2 right after one that touches it."""
        found: list[frozenset[int]] = []
        for number, launch in enumerate(self.launches):
            near = [buffer for buffer in launch.read if any(
                self._distance(buffer, other, number, frozenset()) <= self.room
                for other in self.users[buffer] - {number}
            )]  # fmt: skip
            found.append(frozenset(near))
        return found

    @cached_property
    def users(self) -> dict[int, frozenset[int]]:
        """The launches that touch each buffer."""
        found = dict[int, set[int]]()
        for number, launch in enumerate(self.launches):
            for buffer in launch.touched:
                found.setdefault(buffer, set()).add(number)
        return {buffer: frozenset(numbers) for buffer, numbers in found.items()}

    def kept(self, done: Sequence[int]) -> set[int]:
        """What is in use of the workspace after some launches."""
        gone = frozenset(done)
        touched = {each for other in done for each in self.launches[other].touched} & self.workspace
        return {each for each in touched if not self.users[each] <= gone}

    def in_use(self, kept: Set[int], launch: int) -> int:
        """Bytes of the workspace that are in use while a launch runs."""
        return self._bytes(kept | self.launches[launch].touched & self.workspace)

    def most_in_use(self) -> int:
        """The same for the launch for which it is most."""
        numbers = range(len(self.launches))
        return max((self.in_use(self.kept(numbers[:place]), place) for place in numbers), default=0)

    def _bytes(self, buffers: Set[int]) -> int:
        return sum(self.sizes[each] for each in buffers)


def best_order(known: Order, evaluated: int = EVALUATED) -> tuple[int, ...]:
    """The places of launches in the order in which the fewest bytes that are read again have left L2, of those the one
    with the least sum of distances; the known order where none has fewer bytes.

    None needs more of the workspace than the known one does. Looked for depth first, what finds most in L2 first, and
    not further where an order is no better than the best so far: the first one found is that of a greedy search, the
    last one the best of all, unless there are too many to look at.
    """
    places = tuple(range(len(known.launches)))
    cost = known.reuse()
    while cost.missed:
        found = _Search(known, cost, evaluated).run()
        better = known.changed(found) if found else known
        if better.reuse().missed >= cost.missed:
            break
        known, cost = better, better.reuse()
        places = tuple(places[each] for each in found)  # once more from there, so that a second run changes nothing
    return places


@dataclass
class _Search:
    known: Order
    best: Reuse
    left: int
    order: list[int] = field(default_factory=list[int])
    costs: list[Reuse] = field(default_factory=lambda: [Reuse()])

    def run(self) -> tuple[int, ...]:
        """The best order that is better than the known one; nothing where none is."""
        found: tuple[int, ...] = ()
        most, first = self.known.most_in_use(), True
        stack = [self._next(most)]
        while stack and (first or self.left > 0):
            if not stack[-1]:
                stack.pop()
                first = False
                if self.order:
                    self.order.pop()
                    self.costs.pop()
                continue
            cost, launch = stack[-1].pop()
            if cost >= self.best:
                continue
            self.order.append(launch)
            self.costs.append(cost)
            if len(self.order) == len(self.known.launches):
                found, self.best = tuple(self.order), cost
            stack.append(self._next(most))
        return found

    def _next(self, most: int) -> list[tuple[Reuse, int]]:
        """What may run next, with the cost of the order up to there, the most promising last."""
        known, done, kept = self.known, frozenset(self.order), self.known.kept(self.order)
        rated: list[tuple[int, int, int, Reuse]] = []
        for launch, before in enumerate(known.before):
            if launch in done or not before <= done or known.in_use(kept, launch) > most:
                continue
            distances = known.distances(self.order, launch)
            found = sum(known.sizes[each] for each, far in distances.items() if far <= known.room)
            added = known.cost(distances, launch)
            rated.append((-added.missed, found, -launch, self.costs[-1] + added))
        self.left -= len(rated)
        rated.sort(key=lambda each: each[:3])
        return [(cost, -launch) for _, _, launch, cost in rated]

"""The loops of a kernel as numbers: how far each access moves in memory with each loop.

The operations of a kernel run over the same elements, but may see them in different shapes ([6, 5] and [2, 3, 5]).
What they share is memory: where one reads what another wrote, the addresses tell which loop is which. A `Space` holds
loops fine enough for all of them; loops of size 1 are left out. Loops whose elements follow one another evenly in every
access can be merged again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from mlir_gemm.dialect.windows import Image, Parts

Strides = dict[int, int]
"""How far an access moves with each loop; loops that it does not move with are left out."""


@dataclass
class Access:
    """A place in memory, for each point of a space."""

    strides: Strides
    offset: int = 0
    windows: Image | None = None
    """Of what it reads by windows: loops may be joined that it does not step through evenly."""
    parts: dict[int, Parts] = field(default_factory=dict[int, Parts])
    """What a joined loop counts through."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Access) and (self.strides, self.offset) == (other.strides, other.offset)

    def __hash__(self) -> int:
        return hash((frozenset(self.strides.items()), self.offset))


@dataclass
class Space:
    """Loops, by numbers that mean nothing, and the accesses made in them."""

    sizes: dict[int, int] = field(default_factory=dict[int, int])
    accesses: list[Access] = field(default_factory=list[Access])
    parents: dict[int, int] = field(default_factory=dict[int, int])
    """The loop that another was split off."""
    _next: int = 0

    def copy(self) -> Space:
        """A space that can be changed without changing this one."""
        accesses = [Access(dict(each.strides), each.offset, each.windows, dict(each.parts)) for each in self.accesses]
        return Space(dict(self.sizes), accesses, dict(self.parents), self._next)

    def new_loop(self, size: int) -> int:
        """One more loop."""
        self.sizes[self._next] = size
        self._next += 1
        return self._next - 1

    def access(self, offset: int, strides: Sequence[int], loops: Sequence[Sequence[tuple[int, int]]]) -> Access:
        """Adds an access with these strides along something whose `loops` are given as (loop, step) each."""
        total: Strides = {}
        for stride, parts in zip(strides, loops, strict=True):
            for loop, step in parts:
                if stride:
                    total[loop] = total.get(loop, 0) + stride * step
        self.accesses.append(Access(total, offset))
        return self.accesses[-1]

    def split(self, loop: int, inner: int) -> int:
        """Makes of a loop one of size `inner` (it keeps the number) and one around it, which is returned."""
        outer = self.new_loop(self.sizes[loop] // inner)
        self.sizes[loop] = inner
        self.parents[outer] = loop
        for access in self.accesses:
            if loop in access.strides:
                access.strides[outer] = access.strides[loop] * inner
        return outer

    def match(self, known: Access, sizes: Sequence[int], strides: Sequence[int]) -> list[list[tuple[int, int]]] | None:
        """How loops of `sizes` that move by `strides` through the same memory as `known` are made of this space's.

        Gives (loop, step) for the parts of each, so that its index is the sum of loop times step; splits loops of this
        space where that needs it. None, with the space in any state, where the two do not cover the same elements in
        corresponding steps.
        """
        parts: list[list[tuple[int, int]]] = [[] for _ in sizes]
        left = [(stride, self.sizes[loop], loop) for loop, stride in known.strides.items()]
        right = [(stride, size, number, 1) for number, (size, stride) in enumerate(zip(sizes, strides, strict=True))]
        right = [each for each in right if each[1] != 1]
        while left and right:
            left.sort(reverse=True)
            right.sort(reverse=True)
            stride, size, loop = left.pop()
            other_stride, other_size, number, step = right.pop()
            if stride != other_stride or (left and left[-1][0] == stride) or (right and right[-1][0] == stride):
                return None
            parts[number].append((loop, step))
            if size > other_size and size % other_size == 0:
                left.append((stride * other_size, size // other_size, self.split(loop, other_size)))
            elif other_size % size == 0:
                if other_size > size:
                    right.append((stride * size, other_size // size, number, step * size))
            else:
                return None
        return None if left or right else parts

    def merge(self, kinds: dict[int, str], accesses: Iterable[Access], joined: Sequence[Access] = ()) -> None:
        """Merges loops of the same kind that every one of `accesses` steps through evenly; those that are `joined` keep
        what the merged loop counts through.

        All must be among this space's; of accesses that are neither judged nor joined the strides become meaningless.
        """
        judged = list(accesses)
        while True:
            pair = self._mergeable(kinds, judged)
            if pair is None:
                return
            outer, inner = pair
            for access in joined:
                self._join(access, outer, inner)
            self.sizes[inner] *= self.sizes.pop(outer)
            kinds.pop(outer)
            for access in self.accesses:
                access.strides.pop(outer, None)

    def _join(self, access: Access, outer: int, inner: int) -> None:
        """Lets an access move with `inner` as it did with both, `outer` around it."""
        moved = [access.parts.get(loop, ((self.sizes[loop], access.strides.get(loop, 0)),)) for loop in (outer, inner)]
        access.parts[inner] = (*moved[0], *moved[1])
        access.strides.setdefault(inner, 0)

    def _mergeable(self, kinds: dict[int, str], accesses: list[Access]) -> tuple[int, int] | None:
        loops = sorted(self.sizes)
        for outer in loops:
            for inner in loops:
                if outer == inner or kinds[outer] != kinds[inner]:
                    continue
                size = self.sizes[inner]
                if all(a.strides.get(outer, 0) == a.strides.get(inner, 0) * size for a in accesses):
                    return outer, inner
        return None

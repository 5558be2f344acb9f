"""The algebra of tiles of T. Faingnaert's thesis ("Flexible performant GEMM kernels on GPUs", chapter 4): a tile is a
part of a space of named dimensions, and is projected to some of them, translated, divided into smaller tiles that run
in parallel or in turn, and linearised to a place in memory.

Where a tile lies may be numbers, or sums of loops times numbers (`Place`), so that one tile stands for all of a loop.
`tracing/tile_kernels.py` writes kernels with these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from mlir_gemm.errors import InputError


@dataclass(frozen=True)
class Place:
    """A position in elements: a number, and loops times numbers."""

    number: int = 0
    loops: Mapping[str, int] = field(default_factory=dict[str, int])

    def __add__(self, other: Place | int) -> Place:
        other = Place(other) if isinstance(other, int) else other
        names = {*self.loops, *other.loops}
        summed = {name: self.loops.get(name, 0) + other.loops.get(name, 0) for name in names}
        return Place(self.number + other.number, {name: times for name, times in summed.items() if times})

    def __mul__(self, times: int) -> Place:
        return Place(self.number * times, {name: each * times for name, each in self.loops.items() if each * times})

    def at(self, **loops: int) -> int:
        """The number that it is where the loops stand at these numbers."""
        return self.number + sum(times * loops[name] for name, times in self.loops.items())

    def __str__(self) -> str:
        parts = [f"{name} * {times}" for name, times in sorted(self.loops.items())]
        return " + ".join([*parts, *([str(self.number)] if self.number or not parts else [])])


class Tile:
    """A part of a space of named dimensions: `Tile(m=128, n=64)` has these sizes, and begins at 0."""

    def __init__(self, **sizes: int) -> None:
        for name, size in sizes.items():
            if len(name) != 1 or size < 1:
                raise InputError(f"a tile of {name}={size}; expected dimensions of one letter, and sizes from 1 on")
        self.sizes: Mapping[str, int] = dict(sizes)
        self.base: Mapping[str, Place] = dict.fromkeys(sizes, Place())

    def _with(self, sizes: Mapping[str, int], base: Mapping[str, Place]) -> Tile:
        made = Tile(**sizes)
        made.base = dict(base)
        return made

    def __str__(self) -> str:
        return ", ".join(f"{name}: {size} from {self.base[name]}" for name, size in self.sizes.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tile) and (self.sizes, self.base) == (other.sizes, other.base)

    def __hash__(self) -> int:
        return hash(str(self))

    def _known(self, names: str) -> None:
        for name in names:
            if name not in self.sizes:
                raise InputError(f"dimension '{name}' of a tile of {', '.join(self.sizes)}; expected one of these")

    def project(self, dimensions: str) -> Tile:
        """The tile along some dimensions, in this order: `block.project("mk")` of A, `"kn"` of B."""
        self._known(dimensions)
        sizes = {name: self.sizes[name] for name in dimensions}
        return self._with(sizes, {name: self.base[name] for name in dimensions})

    def translate(self, **distances: Place | int) -> Tile:
        """The tile moved by so many elements."""
        self._known("".join(distances))
        return self._with(self.sizes, {name: place + distances.get(name, 0) for name, place in self.base.items()})

    def join(self, other: Tile) -> Tile:
        """The tile that lies along the dimensions of both, which have none in common."""
        for name in other.sizes:
            if name in self.sizes:
                raise InputError(f"two tiles along '{name}'; expected dimensions that only one of them has")
        return self._with({**self.sizes, **other.sizes}, {**self.base, **other.base})

    def counts(self, by: Tile) -> dict[str, int]:
        """How many tiles of the sizes of `by` there are along each of its dimensions; the last may hang over."""
        self._known("".join(by.sizes))
        return {name: -(-self.sizes[name] // size) for name, size in by.sizes.items()}

    def part(self, by: Tile, loops: Mapping[str, str]) -> Tile:
        """The tile of the sizes of `by` at the numbers of loops, by the dimensions that these walk."""
        starts = {name: self.base[name] + Place(0, {loops[name]: size}) for name, size in by.sizes.items()}
        return self._with(by.sizes, starts)

    def parallelise(self, by: Tile, worker: int = 0, workers: int = 1) -> Iterator[Tile]:
        """The tiles of the sizes of `by`, the last dimension fastest, that one of so many workers takes: in turn."""
        counts = self.counts(by)
        for number, places in enumerate(product(*map(range, counts.values()))):
            if number % workers == worker:
                yield self._with(by.sizes, {
                    name: self.base[name] + place * by.sizes[name] for name, place in zip(counts, places, strict=True)
                })  # fmt: skip

    def linearise(self, order: str, shape: Mapping[str, int]) -> Place:
        """Where the tile begins in dense memory of a shape, whose dimensions lie in this order: the last closest."""
        self._known(order)
        place = Place()
        for name in order:
            place = place * shape[name] + self.base[name]
        return place

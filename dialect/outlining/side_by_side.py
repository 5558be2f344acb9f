"""Kernels of a program that may run side by side, in one launch: which do not wait for one another, and where their
launch may stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.outlining import programs
from mlir_gemm.dialect.walk import body
from mlir_gemm.spec.attributes import LAUNCH_WITH, ROLE


@dataclass(frozen=True)
class Uses:
    """What memory a launch reads and writes."""

    read: frozenset[Any]
    written: frozenset[Any]

    @staticmethod
    def of(run: Any, modules: dict[str, Any]) -> Uses:
        """What a tile.run reads and writes, by the roles of its kernel's arguments."""
        roles = argument_attributes(programs.function_of(modules[programs.kernel_of(run)]))
        read, written = set[Any](), set[Any]()
        for buffer, marks in zip(programs.buffers_of(run), roles, strict=True):
            role = ir.StringAttr(marks[ROLE]).value if ROLE in marks else "inout"
            (read if role == "in" else written).add(buffer)
        return Uses(frozenset(read), frozenset(written))

    def together(self, other: Uses) -> Uses:
        """Those of both."""
        return Uses(self.read | other.read, self.written | other.written)

    def waits(self, other: Uses) -> bool:
        """Whether one of two writes what the other reads or writes."""
        return bool(self.written & (other.read | other.written) or other.written & self.read)


def fits(run: Any, functions: dict[str, Any]) -> bool:
    """Whether a tile.run runs a kernel of the program, on as many buffers as that takes."""
    function = functions.get(programs.kernel_of(run))
    return function is not None and len(body(function).arguments) == len(programs.buffers_of(run))


def place_of(uses: Sequence[Uses], first: int, last: int) -> int | None:
    """Where one launch may stand in the place of two, at the later or the earlier of them; None where what runs between
    them, or the other one, does not allow it."""
    if not any(uses[first].waits(each) for each in uses[first + 1 : last + 1]):
        return last
    if not any(uses[last].waits(each) for each in uses[first:last]):
        return first
    return None


@dataclass
class Launch:
    """Kernels that are launched at once."""

    kernels: list[str]
    uses: Uses


@dataclass
class Launches:
    """The launches of a program, in order."""

    all: list[Launch]

    @staticmethod
    def of(runs: Sequence[Any], modules: dict[str, Any]) -> Launches:
        """A launch for each tile.run; and for kernels that are marked, one in place of theirs."""
        made = Launches([Launch([programs.kernel_of(run)], Uses.of(run, modules)) for run in runs])
        for name in [launch.kernels[0] for launch in made.all]:
            anchor = anchor_of(programs.function_of(modules[name]))
            if anchor not in ("", name) and anchor in modules:
                made.join(made.number_of(name), made.number_of(anchor))
        return made

    def number_of(self, name: str) -> int:
        """The number of the launch of a kernel."""
        return next(number for number, launch in enumerate(self.all) if name in launch.kernels)

    def join(self, number: int, other: int) -> bool:
        """Whether the launch `number` has joined the `other` one."""
        first, last = sorted((number, other))
        place = place_of([launch.uses for launch in self.all], first, last)
        if place is None:
            return False
        one, joined = self.all[other], self.all[number]
        self.all[place] = Launch([*one.kernels, *joined.kernels], one.uses.together(joined.uses))
        del self.all[first if place == last else last]
        return True

    def with_one_of(self, names: Sequence[str]) -> Launches | None:
        """The same with one launch of some kernels, which have one each; None where some wait for others."""
        trial = Launches([*self.all])
        joined = all(trial.join(trial.number_of(name), trial.number_of(names[0])) for name in names[1:])
        return trial if joined else None


def mark(function: Any, kernel: str, threads: int) -> None:
    """Says on a kernel's function with which kernel it is launched, its own name for the first, by how many threads."""
    attributes = {"kernel": ir.StringAttr.get(kernel), "threads": constants.integer(threads)}
    function.attributes[LAUNCH_WITH] = ir.DictAttr.get(attributes)


def anchor_of(function: Any) -> str:
    """The kernel with which a kernel is launched; empty for none."""
    return ir.StringAttr(_mark(function)["kernel"]).value if LAUNCH_WITH in function.attributes else ""


def threads_of(function: Any) -> int:
    """The threads of the blocks of such a launch; 0 where there is none."""
    return ir.IntegerAttr(_mark(function)["threads"]).value if LAUNCH_WITH in function.attributes else 0


def _mark(function: Any) -> Any:
    return ir.DictAttr(function.attributes[LAUNCH_WITH])

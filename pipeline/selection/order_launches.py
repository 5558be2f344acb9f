"""order-launches: kernels that do not wait for one another run in the order in which L2 still has what they read.

Expects a program after its schedules have been chosen and `share-launches` has run. Counts the bytes that kernels read
again after they have left the chip's L2 (`tile_model/reuse.py`): a buffer of which a kernel has read or written all,
and that would still be there if the reader came soon after. Where an order that is allowed has fewer of them, the
launches are put into that order, and `tile.note` on the module says which kernels gain by it; otherwise nothing is
changed, nor where the program would need more memory. A kernel never passes one that writes what it reads or writes, or
that reads what it writes, so nothing is computed otherwise. Kernels that are to be launched together stay together, and
none passes a kernel that checks something.

Left alone are programs in which sizes are known at run time only. A second run changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.outlining import kernel_modules, programs, side_by_side
from mlir_gemm.dialect.walk import body, in_block, operations
from mlir_gemm.parts.traffic import STAYING
from mlir_gemm.passes.base import Pass
from mlir_gemm.pipeline import annotations
from mlir_gemm.pipeline.program import RUN, buffer_of, is_argument
from mlir_gemm.spec.attributes import CHIP, ROLE
from mlir_gemm.spec.element_types import ITEM_BYTES
from mlir_gemm.tile_model.chips import target as target_of
from mlir_gemm.tile_model.reuse import Access, Order, best_order

NAMED = 3
"""Kernels that the note names."""
_AROUND = (RUN, "func.return", "memref.alloc", "memref.get_global", "arith.constant")
"""Operations of a program, beside those that make addresses and views."""


@dataclass(frozen=True)
class OrderLaunches(Pass):
    """Run kernels while L2 has what they read."""

    name: ClassVar[str] = "order-launches"

    def run(self, module: Any) -> None:
        modules = programs.kernel_modules(module)
        chip = annotations.module_string(module, CHIP)
        main = programs.function_of(module) if modules and chip else None
        runs = programs.runs_of(main) if main is not None else []
        functions = {name: programs.function_of(each) for name, each in modules.items()}
        if len(runs) < 3 or not all(side_by_side.fits(run, functions) for run in runs) or not _is_plain(main):
            return
        buffers = list(dict.fromkeys(buffer_of(each) for run in runs for each in run.operation.operands))
        sizes = [_bytes_of(each) for each in buffers]
        known = [each for each in sizes if each is not None]
        room = STAYING * target_of(chip).l2_bytes
        if len(known) < len(sizes) or sum(known) <= room:
            return
        launches = _together(runs, functions, buffers)
        workspace = frozenset(number for number, each in enumerate(buffers) if _is_reserved(each))
        order = _order(launches, dict(enumerate(known)), room, workspace)
        if order is not None:
            _change(module, main, order)


@dataclass(frozen=True)
class _Run:
    """A tile.run, by its place in the program."""

    op: Any
    place: int
    access: Access
    checks: bool

    def is_before(self, other: _Run) -> bool:
        """Whether it must have run before another."""
        one, two = self.access, other.access
        waits = bool(one.written & two.touched or two.written & one.touched)
        return self.place < other.place and (waits or self.checks or other.checks)


_Launch = tuple[_Run, ...]
"""What is launched at once."""


@dataclass(frozen=True)
class _Better:
    """Launches in the order in which they are to run, and how many bytes each of them finds in L2 by that."""

    launches: Sequence[_Launch]
    gained: Sequence[int]


def _is_plain(main: Any) -> bool:
    """Whether nothing in a program's function has to stay where it is."""
    return all(
        op.operation.name in _AROUND or (len(op.operation.operands) == 1 and len(op.operation.results) == 1)
        for op in in_block(body(main))
    )


def _is_reserved(buffer: Any) -> bool:
    """Whether a buffer lies in the workspace."""
    return not is_argument(buffer) and buffer.owner.name == "memref.alloc"


def _bytes_of(buffer: Any) -> int | None:
    """Bytes of a buffer; None where they are not known."""
    type_ = buffer.type
    item = ITEM_BYTES.get(str(type_.element_type))
    return item * math.prod(type_.shape) if item is not None and type_.has_static_shape else None


def _together(runs: Sequence[Any], functions: dict[str, Any], buffers: Sequence[Any]) -> list[_Launch]:
    """What is launched at once: kernels of one `tile.launch_with` in the place of the first."""
    names = [programs.kernel_of(run) for run in runs]
    single = len(set(names)) == len(names)
    found: dict[Any, list[_Run]] = {}
    for place, (name, run) in enumerate(zip(names, runs, strict=True)):
        anchor = side_by_side.anchor_of(functions[name]) if single else ""
        found.setdefault(anchor or place, []).append(_run(run, place, functions[name], buffers))
    return [tuple(each) for each in found.values()]


def _run(op: Any, place: int, function: Any, buffers: Sequence[Any]) -> _Run:
    read, written = set[int](), set[int]()
    for operand, marks in zip(op.operation.operands, argument_attributes(function), strict=True):
        number = buffers.index(buffer_of(operand))
        role = ir.StringAttr(marks[ROLE]).value if ROLE in marks else "inout"
        if role in ("in", "inout"):
            read.add(number)
        if role != "in":
            written.add(number)
    checks = any(each.operation.name == "cf.assert" for each in operations(function))
    return _Run(op, place, Access(frozenset(read), frozenset(written)), checks)


def _order(
    launches: Sequence[_Launch], sizes: dict[int, int], room: float, workspace: frozenset[int]
) -> _Better | None:
    """A better order of launches; None where there is none."""
    numbers = range(len(launches))
    before = [
        frozenset(n for n in numbers if n != number and any(a.is_before(b) for a in launches[n] for b in launch))
        for number, launch in enumerate(launches)
    ]
    allowed = _allowed(before)
    if len(allowed) < len(launches):
        return None  # some cannot be launched together
    known = Order([_access(each) for each in launches], before, sizes, room, workspace).changed(allowed)
    places = best_order(known)
    better = known.changed(places)
    if better.reuse().missed >= known.reuse().missed:
        return None
    missed = [known.added(numbers[:each], each).missed for each in numbers]
    gained = [missed[old] - better.added(numbers[:new], new).missed for new, old in enumerate(places)]
    return _Better([launches[allowed[each]] for each in places], gained)


def _allowed(before: Sequence[frozenset[int]]) -> list[int]:
    """The first order that is allowed; not of all where there is none."""
    allowed: list[int] = []
    while ready := [n for n, waits in enumerate(before) if n not in allowed and waits <= set(allowed)]:
        allowed.append(ready[0])
    return allowed


def _access(launch: _Launch) -> Access:
    """What all of a launch touches."""
    read, written = [run.access.read for run in launch], [run.access.written for run in launch]
    return Access(frozenset[int]().union(*read), frozenset[int]().union(*written))


def _change(module: Any, main: Any, better: _Better) -> None:
    """Puts the launches into their order, and says why."""
    end = in_block(body(main))[-1].operation
    for launch in better.launches:
        for run in launch:
            run.op.operation.move_before(end)
    names = [programs.kernel_of(launch[0].op) for launch in better.launches]
    gains = [
        f"{name} after {before} ({_shown(gained / 2**20)} MB)"
        for (before, name), gained in zip(pairwise(names), better.gained[1:], strict=True)
        if gained > 0
    ]
    more = [f"{len(gains) - NAMED} more"] if len(gains) > NAMED else []
    text = ", ".join([*gains[:NAMED], *more])
    found = f": {text}" if text else ""
    kernel_modules.add_note(module, f"kernels are in another order, so that L2 has what they read{found}")


def _shown(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"

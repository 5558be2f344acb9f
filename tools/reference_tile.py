"""What a function should compute in one tile of what it writes, by NumPy in float64: like `reference`, but only from
the parts of the arguments that the tile depends on. For large problems, of which only some blocks are simulated.

Goes from the tile back through the operations, each of which says by its indexing maps which window of an operand a
window of its result depends on. Then the operations run on arrays of these windows. Nothing is rounded in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import Error
from mlir_gemm.pipeline.program import outer_function
from mlir_gemm.simulator.expected import Array
from mlir_gemm.simulator.stages import FUNCTIONS, STEPS
from mlir_gemm.simulator.tile_numbers import dtype_of, in_float64
from mlir_gemm.simulator.tile_program import Decoder, Frame, State, Step, run_steps

Window = tuple[slice, ...]
ALL = slice(None)
_RETURN, _COPY = "func.return", "memref.copy"
_MAKES = ("tensor.empty", "memref.alloc", "arith.constant")
_IDLE = (*_MAKES, "memref.dealloc", _RETURN)


def reference_tile(source: str, arguments: Sequence[Array], number: int, tile: Window) -> Array:
    """A region of one of the function's arguments as it is after the function has run, or of one of its results, which
    are numbered after the arguments.

    `arguments` are as for `reference`. Raises Error where a value is needed in two windows, as the matrix of A A is,
    and for operations of which it does not know what a part depends on: views, programs, gathers.
    """
    module = parse_module(source, "-", new_context())
    with module.context, ir.Location.unknown(), in_float64(rounded=False):
        function = outer_function(module)
        inside = in_block(body(function))
        own = list(body(function).arguments)
        wanted = [*own, *inside[-1].operation.operands][number]
        windows = _Windows(wanted, tile)
        needed = windows.back_through(inside)
        decoder = Decoder(module.operation, State(None), FUNCTIONS, STEPS)
        given = [
            (decoder.slot(value), array[windows.of(value)].astype(dtype_of(value.type)))
            for value, array in zip(own, arguments, strict=False)
            if value in windows
        ]
        steps = [_step(decoder, operation, windows) for operation in needed]
        frame: list[Any] = [None] * decoder.size
        for slot, array in given:
            frame[slot] = array
        with np.errstate(all="ignore"):
            run_steps(steps, frame)
        return np.asarray(frame[decoder.slot(wanted)])


class _Windows:
    """The window of each matrix that a tile depends on."""

    def __init__(self, wanted: Any, tile: Window) -> None:
        self._found: dict[Any, Window] = {}
        self._need(wanted, tile)

    def __contains__(self, value: Any) -> bool:
        return value in self._found

    def of(self, value: Any) -> Window:
        """The window of a value that is needed."""
        return self._found[value]

    def back_through(self, inside: Sequence[Any]) -> list[Any]:
        """The operations that the tile depends on, in order."""
        needed: list[Any] = []
        for operation in reversed(inside):
            op = operation.operation
            if op.name in _MAKES:
                shaped = isinstance(op.results[0].type, ir.ShapedType)
                if shaped and len(op.operands):
                    raise Error(f"'{op.name}' of unknown size; a tile of the results cannot be checked alone")
                if not shaped or op.results[0] in self:
                    needed.append(operation)
            elif op.name == _COPY:
                if op.operands[1] in self:
                    self._need(op.operands[0], self.of(op.operands[1]))
                    needed.append(operation)
            elif op.name.startswith("linalg."):
                if self._through_linalg(op):
                    needed.append(operation)
            elif op.name not in _IDLE:
                raise Error(f"'{op.name}' is not a plain product; a tile of the results cannot be checked alone")
        return needed[::-1]

    def _need(self, value: Any, window: Window) -> None:
        if not isinstance(value.type, ir.ShapedType):
            return
        type_ = ir.ShapedType(value.type)
        whole = tuple(
            part if type_.is_dynamic_dim(axis) else slice(*part.indices(size))
            for axis, (part, size) in enumerate(zip(window, type_.shape, strict=True))
        )
        if self._found.setdefault(value, whole) != whole:
            raise Error("a matrix is needed in two places; a tile of the results cannot be checked alone")

    def _through_linalg(self, op: Any) -> bool:
        """Notes what an operation needs for the windows of its outputs; whether one is needed at all."""
        attributes = dialect("linalg").get_indexing_maps(op)
        if attributes is None or not len(op.regions) or not len(op.regions[0].blocks):
            raise Error(f"'{op.name}' is not a plain product; a tile of the results cannot be checked alone")
        maps = [ir.AffineMapAttr(attribute).value for attribute in attributes]
        operands = list(op.operands)
        count = len(in_block(body(op))[-1].operation.operands)
        outputs = operands[-count:]
        made = [*zip(outputs, maps[-count:], strict=True), *zip(op.results, maps[-count:], strict=False)]
        known = [(self.of(value), map_) for value, map_ in made if value in self]
        if not known:
            return False
        loops: dict[int, slice] = {}
        for window, map_ in known:
            loops.update(_loops_of(window, map_))
        if any(part != ALL for part in loops.values()) and named(op, "linalg.index"):
            raise Error(f"'{op.name}' computes with places; a tile of the results cannot be checked alone")
        for value, map_ in [*zip(operands, maps, strict=True), *made]:
            self._need(value, _window_of(map_, loops))
        return True


def _loops_of(window: Window, map_: Any) -> dict[int, slice]:
    """The part of each loop that writes a window."""
    if not all(isinstance(expression, ir.AffineDimExpr) for expression in map_.results):
        raise Error("an output that is not a permutation of loops; a tile of the results cannot be checked alone")
    return {expression.position: part for expression, part in zip(map_.results, window, strict=True)}


def _window_of(map_: Any, loops: dict[int, slice]) -> Window:
    """The window of an operand for a part of the loops."""
    window: list[slice] = []
    for expression in map_.results:
        if not isinstance(expression, ir.AffineDimExpr | ir.AffineConstantExpr):
            raise Error("an operand that is not a projection of loops; a tile of the results cannot be checked alone")
        window.append(loops.get(expression.position, ALL) if isinstance(expression, ir.AffineDimExpr) else ALL)
    return tuple(window)


def _step(decoder: Decoder, operation: Any, windows: _Windows) -> Step:
    """The step of an operation on windows: what makes a matrix makes the window of it."""
    op = operation.operation
    made = op.results[0] if op.name in _MAKES else None
    if made is None or made not in windows:
        step = decoder.step(operation)
        assert step is not None  # it computes something
        return step
    window, slot = windows.of(made), decoder.slot(made)
    if op.name == "arith.constant":
        whole = decoder.step(operation)
        assert whole is not None

        def cut(frame: Frame) -> None:
            whole(frame)
            frame[slot] = frame[slot][window]

        return cut
    shape, dtype = [part.stop - part.start for part in window], dtype_of(made.type)
    filler = np.nan if np.issubdtype(dtype, np.floating) else 0

    def make(frame: Frame) -> None:
        frame[slot] = np.full(shape, filler, dtype)

    return make

"""amdgpu: the matrix instructions of a wave. MFMA is of 64 lanes, which are two warps here: it is computed when both
are there. WMMA is of one warp.

Which lane holds what: AMD's "Instinct MI200" and "MI300" instruction set manuals, "Matrix Arithmetic Instructions", and
the "RDNA 3" manual, "Wave Matrix Multiply Accumulate".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.decode import Blocking, Decoder, Step, handles
from mlir_gemm.simulator.elements import LANES, Element
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.ops_gpu import check_collective
from mlir_gemm.simulator.warps import Run, Wait, Warp

WAVE_WARPS = 2
"""Warps of a wave of 64 lanes."""
_MFMA: dict[tuple[int, int, int], tuple[str, ...]] = {
    (16, 16, 4): ("f32", "f64"),
    (32, 32, 2): ("f32",),
    (16, 16, 16): ("f16", "bf16", "i8"),
    (32, 32, 8): ("f16", "bf16", "i8"),
    (16, 16, 32): ("i8",),
    (32, 32, 16): ("i8",),
}
"""The shapes of one block, with the types of A and B that each takes."""
_WMMA = {(16, 16, 16): ("f16", "bf16", "i8")}
_SUMS = {"f64": "f64", "i8": "i32"}
"""The accumulator's type where it is not f32."""


@dataclass(frozen=True)
class _Form:
    shape: tuple[int, int, int]
    operand: Element
    result: Element
    unsigned: tuple[bool, bool] = (False, False)

    def multiplied(self, a: Any, b: Any, c: Any) -> Any:
        """A (m, k), B (k, n) and C (m, n): exact products, sums in the accumulator's type."""
        if not self.operand.is_float:
            a, b = (
                (side.astype(np.int8).view(np.uint8) if unsigned else side).astype(np.int32)
                for side, unsigned in zip((a, b), self.unsigned, strict=True)
            )
            return (a @ b + c).astype(self.result.value)
        wide = np.float64 if self.operand.name == "f64" else np.float32
        return (a.astype(wide) @ b.astype(wide) + c).astype(self.result.value)


def mfma_sides(left: Any, right: Any, shape: tuple[int, int, int]) -> tuple[Any, Any]:
    """A (m, k) and B (k, n) from what 64 lanes have of them, (64, each): lane l of A has row l % m, and `each` of k
    from l // m * each on; of B the column l % n."""
    m, n, k = shape
    a = left.reshape(-1, m, left.shape[1]).transpose(1, 0, 2).reshape(m, k)
    b = right.reshape(-1, n, right.shape[1]).transpose(0, 2, 1).reshape(k, n)
    return a, b


def mfma_result(lanes: Any, shape: tuple[int, int, int], double: bool) -> Any:
    """C or D (m, n) from what 64 lanes have of it, (64, count): lane l has column l % n, and of every 4 * 64 / n rows
    four neighbours; with f64 every fourth row, from l // n on."""
    m, n, _ = shape
    far, count = len(lanes) // n, lanes.shape[1]
    if double:
        return lanes.reshape(far, n, count).transpose(2, 0, 1).reshape(m, n)
    return lanes.reshape(far, n, count // 4, 4).transpose(2, 0, 3, 1).reshape(m, n)


def mfma_lanes(matrix: Any, lanes: int, double: bool) -> Any:
    """The inverse of `mfma_result`."""
    m, n = matrix.shape
    far = lanes // n
    count = m // far
    if double:
        return matrix.reshape(count, far, n).transpose(1, 2, 0).reshape(lanes, count)
    return matrix.reshape(count // 4, far, 4, n).transpose(1, 3, 0, 2).reshape(lanes, count)


def wmma_result(lanes: Any) -> Any:
    """C or D (16, 16) from what 32 lanes have of it, (32, 8): lane l has column l % 16, and of that every other row,
    from l // 16 on."""
    return lanes.reshape(2, 16, 8).transpose(2, 0, 1).reshape(16, 16)


def wmma_lanes(matrix: Any) -> Any:
    """The inverse of `wmma_result`."""
    return matrix.reshape(8, 2, 16).transpose(1, 2, 0).reshape(LANES, 8)


@dataclass
class _Meeting:
    """The warps of a wave that are at one product, and what they bring."""

    operation: Any
    warps: list[Warp] = field(default_factory=list[Warp])
    values: list[list[Any]] = field(default_factory=list[list[Any]])
    done: bool = False


def _number(operation: Any, name: str) -> int:
    return ir.IntegerAttr(operation.operation.attributes[name]).value


def _form(decoder: Decoder, operation: Any, shapes: dict[tuple[int, int, int], tuple[str, ...]]) -> _Form:
    attributes = operation.operation.attributes
    left, right = list(operation.operation.operands)[:2]
    shape = _number(operation, "m"), _number(operation, "n"), _number(operation, "k")
    operand, other = decoder.element(operation, left.type), decoder.element(operation, right.type)
    result = decoder.element(operation, operation.operation.results[0].type)
    right_types = operand == other and result.name == _SUMS.get(operand.name, "f32")
    if operand.name not in shapes.get(shape, ()) or not right_types:
        form = f"{'x'.join(map(str, shape))} of {operand.name} into {result.name}"
        raise unsupported(operation, f"{form} is not simulated")
    plain = {"cbsz": "0 : i32", "abid": "0 : i32", "blocks": "1 : i32", "blgp": "#amdgpu<mfma_perm_b none>"}
    for name, usual in plain.items():
        if name in attributes and str(attributes[name]) != usual:
            raise unsupported(operation, f"with {name} = {attributes[name]} is not simulated")
    if any(name in attributes for name in ("negateA", "negateB", "negateC", "reducePrecision", "clamp")):
        raise unsupported(operation, "with a modifier is not simulated")
    return _Form(shape, operand, result, ("unsignedA" in attributes, "unsignedB" in attributes))


def _of_lanes(value: Any) -> Any:
    """What each lane of a warp has, (32, count)."""
    array = np.asarray(value)
    if array.ndim < 2:  # a number, of all lanes or of each
        return np.broadcast_to(array, LANES).reshape(LANES, 1)
    return np.broadcast_to(array, (LANES, *array.shape[1:]))


@handles("amdgpu.mfma")
def _mfma(decoder: Decoder, operation: Any) -> Blocking:
    form = _form(decoder, operation, _MFMA)
    slots = decoder.all_slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])
    info = decoder.info(operation, collective=True)
    counters = decoder.report.counters
    op, double = operation.operation, form.operand.name == "f64"
    work = 2 * form.shape[0] * form.shape[1] * form.shape[2]

    def multiply(meeting: _Meeting) -> None:
        order = sorted(range(WAVE_WARPS), key=lambda place: meeting.warps[place].number)
        left, right, sums = (np.concatenate([meeting.values[place][side] for place in order]) for side in range(3))
        a, b = mfma_sides(left, right, form.shape)
        result = form.multiplied(a, b, mfma_result(sums, form.shape, double))
        lanes = mfma_lanes(result, len(left), double)
        for half, place in enumerate(order):
            meeting.warps[place].slots[out] = lanes[half * LANES : (half + 1) * LANES]
        counters.tensor_operations += 1
        counters.flops += work

    def run(warp: Warp) -> Run:
        check_collective(info, warp)
        wave = warp.number // WAVE_WARPS
        meetings = warp.block.products
        if warp.block.warp_count % WAVE_WARPS:
            info.find("divergent-collective", warp, -1, "", "the block is not of whole waves of 64 threads")
        meeting = meetings.setdefault(wave, _Meeting(op))
        if meeting.operation != op:
            info.find("divergent-collective", warp, -1, "", "the lanes of the wave are at different products")
        meeting.warps.append(warp)
        meeting.values.append([_of_lanes(warp.slots[slot]) for slot in slots])
        if len(meeting.warps) == WAVE_WARPS:
            del meetings[wave]
            multiply(meeting)
            meeting.done = True
        else:
            yield Wait(info, lambda: meeting.done, lambda: f"the other lanes of wave {wave}")

    return Blocking(run)


@handles("amdgpu.wmma")
def _wmma(decoder: Decoder, operation: Any) -> Step:
    form = _form(decoder, operation, _WMMA)
    slots = decoder.all_slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])
    info = decoder.info(operation, collective=True)
    counters = decoder.report.counters

    def step(warp: Warp) -> None:
        check_collective(info, warp)
        left, right, sums = (_of_lanes(warp.slots[slot]) for slot in slots)
        for name, side in (("A", left), ("B", right)):
            if not np.array_equal(side[:16], side[16:], equal_nan=form.operand.is_float):
                message = f"lanes 16 to 31 do not have of {name} what lanes 0 to 15 have"
                info.find("undefined", warp, 16, "", message)
        warp.slots[out] = wmma_lanes(form.multiplied(left[:16], right[:16].T, wmma_result(sums)))
        counters.tensor_operations += 1
        counters.flops += 2 * 16**3

    return step

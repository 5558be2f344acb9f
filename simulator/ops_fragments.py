"""gpu.subgroup_mma_*: fragments (mma_matrix) as one matrix of the warp.

Cooperative matrices of subgroups that are a part of a warp (`subgroup`) are a stack of them, one for each. Which lane
holds which element is nowhere known.

Products of f16 and of bf16 operands are exact in f32; a product of fragments sums them in f32, in an order that NumPy
chooses, and adds the accumulator. A tensor core rounds each sum once, towards zero, in an order of its own. Both stay
within (K + K / 16) * 2**-23 * (|A| |B| + |C|) of the exact result, elementwise. Products of bytes are exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.access import Access, addresses
from mlir_gemm.simulator.decode import Decoder, Step, handles
from mlir_gemm.simulator.elements import ELEMENTS, LANES, Element, is_array
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.memory import View, count
from mlir_gemm.simulator.ops_gpu import check_collective, uniform
from mlir_gemm.simulator.shadow import ANY_LANE
from mlir_gemm.simulator.warps import Warp

_TYPE = re.compile(r'!gpu\.mma_matrix<(\d+)x(\d+)x(\w+), "(\w)Op">')
ALIGNMENT = 16
"""Bytes: where a fragment's rows may start (PTX: wmma.load, alignment of the address and of the stride); shorter rows
at multiples of their size (SPV_KHR_cooperative_matrix)."""
SUBGROUP = "subgroup"
"""On an operation: lanes of a subgroup that has a fragment of its own, where these are fewer than a warp's."""
_PLACES = (1 << 31) - 128


@dataclass(frozen=True)
class _Fragment:
    rows: int
    columns: int
    element: Element
    role: str
    unsigned: bool = False


def _fragment(operation: Any, type_: Any) -> _Fragment:
    found = _TYPE.fullmatch(str(type_))
    name = "" if found is None else {"si8": "i8", "ui8": "i8"}.get(found[3], found[3])
    if found is None or name not in ELEMENTS:
        raise unsupported(operation, f"fragments of type {type_} are not simulated")
    return _Fragment(int(found[1]), int(found[2]), ELEMENTS[name], found[4], found[3] == "ui8")


def _working(fragment: _Fragment, rows: Any) -> Any:
    """Rows as they are kept: f16 operands as the f32 that equals them, bytes as the i32."""
    if fragment.role != "C" and fragment.element.name == "i8":
        return rows.view(np.uint8 if fragment.unsigned else np.int8).astype(np.int32)
    return rows.astype(np.float32) if fragment.role != "C" and fragment.element.name == "f16" else rows


class _Memory:
    """Where a fragment lies in memory, and the way there."""

    def __init__(self, decoder: Decoder, operation: Any, fragment: _Fragment, memory: Any, indices: list[Any]):
        attributes = operation.operation.attributes
        self.lead = ir.IntegerAttr(attributes["leadDimension"]).value
        self.transposed = "transpose" in attributes
        self.number, self.length = fragment.rows, fragment.columns
        if self.transposed:
            self.number, self.length = self.length, self.number
        self.info = decoder.info(operation, collective=True)
        self.is_accumulator = fragment.role == "C"
        self.element = fragment.element
        if decoder.element(operation, memory.type) != fragment.element:
            raise unsupported(operation, f"a fragment of {fragment.element.name} in {memory.type} is not simulated")
        aligned = min(ALIGNMENT, self.length * fragment.element.bytes)
        self.access = Access(decoder, self.info, fragment.element, self.length, aligned)
        self.address = addresses(decoder, operation, memory, indices, (1,), self.info)
        self.checks = decoder.options.checks
        self.steps = count(self.number) * (self.lead * fragment.element.bytes)
        self.subgroup = ir.IntegerAttr(attributes[SUBGROUP]).value if SUBGROUP in attributes else LANES

    def rows(self, warp: Warp) -> list[tuple[View, Any, int]]:
        """The view, the addresses of the rows, and the code of who accesses them; of each subgroup."""
        if self.checks:
            check_collective(self.info, warp)
        view, base = self.address(warp)
        found: list[tuple[View, Any, int]] = []
        for first in self._starts(warp, base):
            if self.checks:
                self._check_span(warp, view, first)
            code = warp.code + ANY_LANE
            if self.is_accumulator:
                code = warp.code + 64 + (first * 31 + self.lead * 7 + self.transposed) % _PLACES
            found.append((view, first + self.steps, code))
        return found

    def _starts(self, warp: Warp, base: Any) -> list[int]:
        """The address of each subgroup's first element; of all where it is the same."""
        if type(base) is int:
            return [base]
        lanes = np.asarray(base)
        if self.subgroup == LANES or lanes.shape != (LANES,):
            return [uniform(self.info, warp, base, "the address")]
        parts = lanes.reshape(-1, self.subgroup)
        if (parts != parts[:, :1]).any():
            self.info.find("divergent-collective", warp, -1, "", "the address differs between lanes of a subgroup")
        return [int(part[0]) for part in parts]

    def _check_span(self, warp: Warp, view: View, first: int) -> None:
        """Reports a fragment that reaches over the sizes of its memref."""
        indices, rest = list[int](), (first - int(np.min(view.base))) // view.element.bytes
        for stride in view.strides:
            indices.append(rest // stride if stride else 0)
            rest -= indices[-1] * stride
        if len(view.strides) >= 2 and view.strides[-2] == self.lead:
            over = indices[-1] + self.length > view.sizes[-1] or indices[-2] + self.number > view.sizes[-2]
        else:
            reach = sum((size - 1) * stride for size, stride in zip(view.sizes, view.strides, strict=True))
            start = (first - int(np.min(view.base))) // view.element.bytes
            over = start + (self.number - 1) * self.lead + self.length - 1 > reach
        if over:
            shape = "x".join(map(str, view.sizes))
            message = f"{self.number} rows of {self.length} elements {self.lead} apart reach over {shape}"
            self.info.find("out-of-bounds", warp, -1, view.describe(first), message)


@handles("gpu.subgroup_mma_load_matrix")
def _load(decoder: Decoder, operation: Any) -> Step:
    memory, *indices = operation.operation.operands
    result = operation.operation.results[0]
    fragment = _fragment(operation, result.type)
    place = _Memory(decoder, operation, fragment, memory, indices)
    out = decoder.slot(result)

    def step(warp: Warp) -> None:
        parts = [
            _working(fragment, place.access.read(warp, view, starts, None, code))
            for view, starts, code in place.rows(warp)
        ]
        rows = parts[0] if len(parts) == 1 else np.stack(parts)
        warp.slots[out] = rows.swapaxes(-1, -2) if place.transposed else rows

    return step


@handles("gpu.subgroup_mma_store_matrix")
def _store(decoder: Decoder, operation: Any) -> Step:
    value, memory, *indices = operation.operation.operands
    fragment = _fragment(operation, value.type)
    place = _Memory(decoder, operation, fragment, memory, indices)
    source = decoder.slot(value)

    def step(warp: Warp) -> None:
        rows = warp.slots[source]
        rows = rows.swapaxes(-1, -2) if place.transposed else rows
        for number, (view, starts, code) in enumerate(place.rows(warp)):
            part = rows if rows.ndim == 2 else rows[number]
            place.access.write(warp, view, starts, None, code, part)

    return step


@handles("gpu.subgroup_mma_constant_matrix")
def _constant(decoder: Decoder, operation: Any) -> Step:
    source, result = decoder.slot(operation.operation.operands[0]), operation.operation.results[0]
    fragment = _fragment(operation, result.type)
    out = decoder.slot(result)
    info = decoder.info(operation, collective=True)

    def step(warp: Warp) -> None:
        check_collective(info, warp)
        number = warp.slots[source]
        number = number.flat[0] if is_array(number) else number
        filled = np.full((fragment.rows, fragment.columns), number, fragment.element.value)
        warp.slots[out] = _working(fragment, filled)

    return step


def _wrong_layout(operation: Any) -> str:
    """`a_transpose` and `b_transpose` say how an operand was loaded, which PTX must know; they move nothing. What is
    wrong where they say something else, else nothing."""
    attributes = operation.operation.attributes
    for place, name in enumerate(("a_transpose", "b_transpose")):
        owner = operation.operation.operands[place].owner
        if getattr(owner, "name", "") != "gpu.subgroup_mma_load_matrix":
            continue
        if ("transpose" in owner.attributes) != (name in attributes):
            return f"{name} differs from how operand {place} was loaded"
    return ""


@handles("gpu.subgroup_mma_compute")
def _compute(decoder: Decoder, operation: Any) -> Step:
    left, right, accumulator = decoder.all_slots(operation.operation.operands)
    fragments = [_fragment(operation, value.type) for value in operation.operation.operands]
    wrong = _wrong_layout(operation)
    out = decoder.slot(operation.operation.results[0])
    element = fragments[2].element
    info = decoder.info(operation, collective=True)
    counters = decoder.report.counters
    work = 2 * fragments[0].rows * fragments[0].columns * fragments[1].columns
    floats = element.is_float and fragments[0].element.is_float and fragments[0].element.bits <= 32
    if not floats and (fragments[0].element.name, element.name) != ("i8", "i32"):
        raise unsupported(operation, f"of {fragments[0].element.name} into {element.name} is not simulated")
    rounds = element.name not in ("f32", "i32")

    def step(warp: Warp) -> None:
        if warp.mask is not None:
            check_collective(info, warp)
        if wrong:
            info.find("undefined", warp, -1, "", wrong)
        values = warp.slots
        result = values[left] @ values[right] + values[accumulator]
        values[out] = element.cast(result) if rounds else result
        counters.tensor_operations += 1
        counters.flops += work

    return step


_ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "addf": np.add, "mulf": np.multiply, "subf": np.subtract, "divf": np.divide, "maxf": np.maximum,
    "addi": np.add, "subi": np.subtract, "muli": np.multiply,
    "minf": np.minimum, "negatef": np.negative, "extf": np.positive, "truncf": np.positive,
}  # fmt: skip


@handles("gpu.subgroup_mma_elementwise")
def _elementwise(decoder: Decoder, operation: Any) -> Step:
    text = str(operation.operation.attributes["opType"])
    name = text.rstrip(">").split()[-1].lower()
    if name not in _ELEMENTWISE:
        raise unsupported(operation, f"{name} on fragments is not simulated")
    function = _ELEMENTWISE[name]
    slots, result = decoder.all_slots(operation.operation.operands), operation.operation.results[0]
    fragment = _fragment(operation, result.type)
    out = decoder.slot(result)
    info = decoder.info(operation, collective=True)

    def step(warp: Warp) -> None:
        check_collective(info, warp)
        rows = function(*(warp.slots[slot] for slot in slots))
        warp.slots[out] = _working(fragment, fragment.element.cast(rows) if fragment.element.is_float else rows)

    return step
